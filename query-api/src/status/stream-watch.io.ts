import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '@pm/kit/log';
import { readInstance, type StreamInstance, silentInstance } from './stream-instances.ts';

export interface StreamWatchOptions {
  /** Base URLs of the ops listeners of the instances. */
  readonly urls: readonly string[];
  readonly log: Log;
  /** How old the facts may be, milliseconds, default 1 s. */
  readonly askEveryMs?: number;
}

const askEveryDefaultMs = 1_000;
const answerTimeoutMs = 1_000;
/** Bytes of an answer; a longer one is none. */
const answerMaxBytes = 1024 * 1024;

/** Reads in rounds how far the instances of the stream service are, so that a request pays nothing for it. */
export class StreamWatch {
  readonly #parts: StreamWatchOptions;
  readonly #closing = new AbortController();
  #instances: readonly StreamInstance[];
  #running: Promise<void> = Promise.resolve();

  constructor(parts: StreamWatchOptions) {
    this.#parts = parts;
    this.#instances = parts.urls.map(() => silentInstance);
  }

  start(): void {
    if (this.#parts.urls.length > 0) this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** State of each stream instance at its last read, in the order of the URLs. */
  instances(): readonly StreamInstance[] {
    return this.#instances;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const { urls, askEveryMs = askEveryDefaultMs } = this.#parts;
    while (!signal.aborted) {
      this.#instances = await Promise.all(urls.map((url) => this.#ask(url)));
      await wait(askEveryMs, undefined, { signal }).catch(() => {});
    }
  }

  async #ask(url: string): Promise<StreamInstance> {
    try {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(answerTimeoutMs)]);
      const response = await fetch(`${url}/status`, { signal });
      if (Number(response.headers.get('content-length') ?? 0) > answerMaxBytes)
        return silentInstance;
      return readInstance(await response.json());
    } catch (error) {
      this.#parts.log.debug({ err: error, url }, 'an instance of streams does not answer');
      return silentInstance;
    }
  }
}

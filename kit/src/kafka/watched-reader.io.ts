import { Fault } from '../fault/index.ts';
import type { LogClient } from './log-client.io.ts';
import { isStall, type LogReader, type ReaderOptions } from './reader.io.ts';
import { type ReaderSilence, reopenAfterMs } from './reader-silence.ts';
import { Wakeup } from './waiting.io.ts';

/** Pause before a reader that could not be opened again is tried once more, milliseconds. */
const retryMs = 1_000;

export interface WatchedReaderParts {
  readonly client: Pick<LogClient, 'reader'>;
  monotonicMs(): number;
  /** Called with the reader once it is closed. */
  onClosed(reader: WatchedReader): void;
}

/** A reader that can be closed and opened again where it is, without its follower noticing. */
export class WatchedReader implements LogReader {
  readonly #parts: WatchedReaderParts;
  readonly #options: ReaderOptions;
  /** Ends the pause between two tries. */
  readonly #rest = new Wakeup();
  #isClosed = false;
  #inner: LogReader;
  /** When it was opened last. */
  #openedMs: number;
  /** By partition the newest answered fetch, whichever reader it was of; the opening before the first. */
  readonly #answeredMs: Map<number, number>;
  /** A fault has ended it, which its follower knows. */
  #isStopped = false;
  #isShared = false;
  #reopening: Promise<void> | null = null;

  private constructor(parts: WatchedReaderParts, options: ReaderOptions, inner: LogReader) {
    this.#parts = parts;
    this.#options = options;
    this.#inner = inner;
    this.#openedMs = parts.monotonicMs();
    this.#answeredMs = new Map(
      [...options.positions.keys()].map((partition) => [partition, this.#openedMs]),
    );
  }

  /** Rejects with the faults of `LogClient.reader`. */
  static async open(parts: WatchedReaderParts, options: ReaderOptions): Promise<WatchedReader> {
    let opened: WatchedReader | null = null;
    let isStopped = false;
    const onFault = (fault: Fault) => {
      if (opened !== null) return opened.#onFault(fault);
      isStopped ||= !isStall(fault);
      options.onFault(fault);
    };
    const inner = await parts.client.reader({ ...options, onFault });
    opened = new WatchedReader(parts, options, inner);
    opened.#isStopped = isStopped;
    return opened;
  }

  /**
   * By partition how long no fetch of it was answered, whatever was opened again meanwhile; none of a reader that a
   * fault has ended.
   */
  silences(nowMs: number): readonly ReaderSilence[] {
    if (this.#isStopped) return [];
    this.#hear();
    const { topic } = this.#options;
    return [...this.#answeredMs].map(([partition, answeredMs]) => {
      return { topic, partition, silentMs: Math.max(0, nowMs - answeredMs) };
    });
  }

  /**
   * Closes its connections and reads on from its positions; a broker that is away is waited for. False when it is
   * stopped, closed, or being opened, and for `reopenAfterMs` after it was.
   */
  reopen(): boolean {
    const isFresh = this.#parts.monotonicMs() - this.#openedMs <= reopenAfterMs;
    if (this.#isStopped || this.#isClosed || this.#reopening !== null || isFresh) return false;
    this.#reopening = this.#reopen().finally(() => {
      this.#reopening = null;
    });
    return true;
  }

  position(partition: number): number {
    return this.#inner.position(partition);
  }

  lagRecords(partition: number): number {
    return this.#inner.lagRecords(partition);
  }

  answeredMs(partition: number): number {
    return this.#inner.answeredMs(partition);
  }

  atEndMs(partition: number): number {
    return this.#inner.atEndMs(partition);
  }

  async share(): Promise<void> {
    this.#isShared = true;
    await this.#inner.share();
  }

  hurry(): void {
    this.#inner.hurry();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#rest.wake();
    this.#parts.onClosed(this);
    await Promise.all([this.#inner.close(), this.#reopening]);
    // One that was opened meanwhile.
    await this.#inner.close();
  }

  async #reopen(): Promise<void> {
    this.#hear();
    await this.#inner.close();
    const positions = new Map(
      [...this.#options.positions.keys()].map((one) => [one, this.#inner.position(one)]),
    );
    while (!this.#isClosed && !this.#isStopped) {
      try {
        const onFault = (fault: Fault) => this.#onFault(fault);
        this.#inner = await this.#parts.client.reader({ ...this.#options, positions, onFault });
        break;
      } catch (error) {
        if (!(error instanceof Fault) || error.reaction === 'stop') this.#fail(error);
        else await this.#rest.wait(retryMs);
      }
    }
    this.#openedMs = this.#parts.monotonicMs();
    if (this.#isShared && !this.#isClosed && !this.#isStopped) await this.#inner.share();
  }

  /** Notes the newest answers: a reader that is opened again knows nothing of earlier ones. */
  #hear(): void {
    for (const [partition, sinceMs] of this.#answeredMs)
      this.#answeredMs.set(partition, Math.max(sinceMs, this.#inner.answeredMs(partition)));
  }

  #fail(cause: unknown): void {
    const fault = cause instanceof Fault ? cause : new Fault('reader_failed', 'stop', { cause });
    this.#onFault(fault);
  }

  #onFault(fault: Fault): void {
    this.#isStopped ||= !isStall(fault);
    this.#options.onFault(fault);
  }
}

import { followTable } from '@pm/kit/compacted';
import type { Fault } from '@pm/kit/fault';
import type { LogClient, LogReader } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordReader } from '@pm/kit/registry';
import type { ServiceKeyEntry } from '@pm/schemas';
import type { ServiceKeys } from './service-keys.ts';

export interface KeyFollowerOptions {
  /** A client that leaves out what the root key has not sealed. */
  readonly client: LogClient;
  readonly keys: ServiceKeys;
  /** The topic `service-keys` as the broker calls it. */
  readonly topic: string;
  readonly codec: RecordReader<ServiceKeyEntry>;
  readonly log: Log;
  onFault(fault: Fault): void;
}

/** Time between two looks for keys that a reader does not know, milliseconds: seals of no key cost no more. */
const lookEveryMs = 1_000;
const checkMs = 20;
/** Longest wait for the records of new keys; after it the keys of a record are those that are known. */
const lookMaxMs = 10_000;

/** Follows the topic `service-keys`. */
export class KeyFollower {
  readonly #options: KeyFollowerOptions;
  readonly #reader: LogReader;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  private constructor(options: KeyFollowerOptions, reader: LogReader) {
    this.#options = options;
    this.#reader = reader;
  }

  /** Resolves when all keys that are listed at the call are known. */
  static async open(options: KeyFollowerOptions): Promise<KeyFollower> {
    const { client, keys, topic, codec, log, onFault } = options;
    const reader = await followTable(client, {
      topic,
      codec,
      log,
      unreadable: 'stop',
      take: (entry) => keys.apply(entry),
      onFault,
    });
    return new KeyFollower(options, reader);
  }

  /**
   * Resolves when every key that was listed before the call is known: the record of a key and the first records that it
   * seals are read by different readers.
   */
  catchUp(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { client, topic } = this.#options;
    const restMs = this.#lookedMs + lookEveryMs - performance.now();
    if (restMs > 0) await pause(restMs);
    this.#lookedMs = performance.now();
    const admin = await client.admin();
    const bounds = await admin.bounds(topic).finally(() => admin.close());
    const end = bounds.get(0)?.high ?? 0;
    while (this.#reader.position(0) < end && performance.now() < this.#lookedMs + lookMaxMs)
      await pause(checkMs);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

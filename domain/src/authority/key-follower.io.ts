import { followTable } from '@pm/kit/compacted';
import { Fault } from '@pm/kit/fault';
import type { LogClient, LogReader } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { type RecordReader, type Schemas, topicName } from '@pm/kit/registry';
import type { ServiceKeyEntry } from '@pm/schemas/log/service-keys';
import { topics } from '@pm/schemas/log/topics';
import { ownListing } from './own-listing.io.ts';
import type { ServiceKeys } from './service-keys.ts';

export interface KeyFollowerOptions {
  /** A client that leaves out what the root key has not sealed. */
  readonly client: LogClient;
  readonly keys: ServiceKeys;
  /** Learns what is listed. */
  readonly schemas: Schemas;
  readonly topicPrefix: string;
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
  readonly #topic: string;
  readonly #reader: LogReader;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  private constructor(options: KeyFollowerOptions, reader: LogReader) {
    this.#options = options;
    this.#topic = topicOf(options);
    this.#reader = reader;
  }

  /** Resolves when all keys and schemas that are listed at the call are known. */
  static async open(options: KeyFollowerOptions): Promise<KeyFollower> {
    const { client, keys, schemas, log, onFault } = options;
    // A look would wait for the reader that asks for it.
    schemas.onUnknown(async () => {});
    const reader = await followTable(client, {
      topic: topicOf(options),
      codec: selfListed(schemas),
      log,
      unreadable: 'stop',
      take: (entry) => {
        if (entry.kind === 'SchemaListed') schemas.learn(entry);
        else keys.apply(entry);
      },
      onFault,
    });
    const follower = new KeyFollower(options, reader);
    schemas.onUnknown(() => follower.#readAll());
    return follower;
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
    const restMs = this.#lookedMs + lookEveryMs - performance.now();
    if (restMs > 0) await pause(restMs);
    this.#lookedMs = performance.now();
    await this.#reachEnd();
  }

  /** An id that is not listed by then is of no schema. Rejects with `service_keys_unread` (retry). */
  async #readAll(): Promise<void> {
    if (!(await this.#reachEnd()))
      throw new Fault('service_keys_unread', 'retry', { facts: { topic: this.#topic } });
  }

  /** Whether everything was read in time that is listed at the call. */
  async #reachEnd(): Promise<boolean> {
    const untilMs = performance.now() + lookMaxMs;
    const admin = await this.#options.client.admin();
    const bounds = await admin.bounds(this.#topic).finally(() => admin.close());
    const end = bounds.get(0)?.high;
    if (end === undefined) return false;
    while (this.#reader.position(0) < end && performance.now() < untilMs) await pause(checkMs);
    return this.#reader.position(0) >= end;
  }
}

function topicOf({ topicPrefix }: Pick<KeyFollowerOptions, 'topicPrefix'>): string {
  return topicName(topics.serviceKeys, topicPrefix);
}

/** Learns the schema of each id of the topic from the first record under it, and from nothing else. */
function selfListed(schemas: Schemas): RecordReader<ServiceKeyEntry> {
  const reader = schemas.listedReader(topics.serviceKeys);
  return {
    ...reader,
    async prepare(value) {
      const listing = ownListing(value);
      if (listing !== null) schemas.learn(listing);
      await reader.prepare(value);
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

import type { Kafka } from 'kafkajs';
import type { Log } from '../log/index.ts';
import { Fetcher, type FetcherOptions } from './fetcher.io.ts';
import type { LogClientLimits } from './limits.ts';

/** Waits of a reader: those with the same share a fetcher. */
export type FetchWaits = Pick<FetcherOptions, 'maxWaitMs' | 'restMs'>;

/**
 * The fetchers of readers that share. A reader of its own costs the broker and the process several fetches a second
 * even when nothing happens, and a process follows a dozen quiet topics. A fetcher is opened by its first reader and
 * closed with the last one.
 */
export class SharedFetchers {
  readonly #open: (waits: FetchWaits) => SharedFetcher;
  readonly #fetchers = new Map<string, SharedFetcher>();

  constructor(kafka: Kafka, limits: LogClientLimits, log: Log) {
    this.#open = (waits) => new SharedFetcher(() => new Fetcher(kafka, limits, { ...waits, log }));
  }

  of(waits: FetchWaits): SharedFetcher {
    const name = `${waits.maxWaitMs}/${waits.restMs}`;
    const fetcher = this.#fetchers.get(name) ?? this.#open(waits);
    this.#fetchers.set(name, fetcher);
    return fetcher;
  }
}

/** One of them. */
export class SharedFetcher {
  readonly #make: () => Fetcher;
  #opening: Promise<Fetcher> | null = null;
  #users = 0;

  constructor(make: () => Fetcher) {
    this.#make = make;
  }

  /** Connected; each call needs one `leave`, also when it rejects. */
  async join(): Promise<Fetcher> {
    this.#users += 1;
    const opening = this.#opening ?? this.#connect();
    this.#opening = opening;
    try {
      return await opening;
    } catch (error) {
      if (this.#opening === opening) this.#opening = null;
      throw error;
    }
  }

  async leave(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    const opening = this.#opening;
    this.#opening = null;
    await opening?.then((fetcher) => fetcher.close()).catch(() => {});
  }

  async #connect(): Promise<Fetcher> {
    const fetcher = this.#make();
    try {
      await fetcher.connect();
    } catch (error) {
      await fetcher.close();
      throw error;
    }
    return fetcher;
  }
}

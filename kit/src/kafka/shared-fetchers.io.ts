import type { Kafka } from 'kafkajs';
import type { Log } from '../log/index.ts';
import { Fetcher, type FetcherOptions } from './fetcher.io.ts';
import type { LogClientLimits } from './limits.ts';
import { Shared } from './shared.io.ts';

/** Waits of a reader: those with the same share a fetcher. */
export type FetchWaits = Pick<FetcherOptions, 'maxWaitMs' | 'restMs'>;

export type SharedFetcher = Shared<Fetcher>;

/** Waits of readers that catch up: short, because a partition that is added waits for the fetch that is running. */
const catchUpWaits: FetchWaits = { maxWaitMs: 20, restMs: 0 };
/** A restore reads several ranges, one after the other: how long their connections wait for the next, milliseconds. */
const lingerMs = 2_000;

/**
 * The fetchers of readers that share. A reader of its own costs the broker and the process several fetches a second
 * even when nothing happens, and a process follows a dozen quiet topics. A fetcher is opened by its first reader and
 * closed with the last one.
 */
export class SharedFetchers {
  readonly #open: (waits: FetchWaits) => SharedFetcher;
  readonly #fetchers = new Map<string, SharedFetcher>();

  constructor(kafka: Kafka, limits: LogClientLimits, log: Log) {
    this.#open = (waits) =>
      new Shared({
        open: () => connected(new Fetcher(kafka, limits, { ...waits, log })),
        close: (fetcher) => fetcher.close(),
        lingerMs,
      });
  }

  of(waits: FetchWaits): SharedFetcher {
    const name = `${waits.maxWaitMs}/${waits.restMs}`;
    const fetcher = this.#fetchers.get(name) ?? this.#open(waits);
    this.#fetchers.set(name, fetcher);
    return fetcher;
  }

  /** Closes the fetchers without a reader; the readers of the others close them. */
  async close(): Promise<void> {
    await Promise.all([...this.#fetchers.values()].map((one) => one.closeUnused()));
  }

  /** That of readers which read what the log has by now: restores, and tables that are loaded. */
  catchingUp(): SharedFetcher {
    return this.of(catchUpWaits);
  }
}

async function connected(fetcher: Fetcher): Promise<Fetcher> {
  try {
    await fetcher.connect();
    return fetcher;
  } catch (error) {
    await fetcher.close();
    throw error;
  }
}

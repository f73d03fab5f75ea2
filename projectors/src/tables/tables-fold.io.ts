import type { ClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import { type LogClient, readRange } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { openRegistry, topicName } from '@pm/kit/registry';
import { topics } from '@pm/schemas';
import { openCatalogSource } from '../log/catalog.io.ts';
import type { ViewDefinition } from '../log/running-view.io.ts';
import { projectorMetrics } from '../metrics.ts';
import { openTablesStore } from './projection-tables.io.ts';
import { reusedEvents, type TablesViewParts, tablesView } from './tables-view.io.ts';

export interface TablesFoldParts {
  readonly client: LogClient;
  readonly registryUrl: string;
  readonly topicPrefix: string;
  /** Opened on the database whose tables are filled; nobody else may write into them. */
  readonly clickhouse: ClickHouse;
  readonly log: Log;
}

/** Folds the log into tables that nobody serves, by the very code that fills the served ones. */
export interface TablesFold {
  /**
   * Goes on from where the tables say they are complete to exactly these offsets of `executions`, by partition; a partition that is
   * there already stays. Checks the hash chain. Rejects with a `Fault`; called again it goes on.
   */
  to(targets: ReadonlyMap<number, number>): Promise<void>;
  close(): Promise<void>;
}

/** Partitions that are folded side by side: each holds the positions of all its wallets in memory. */
const partitionsAtOnce = 2;

const limits = {
  batchRecords: 5_000,
  batchRows: 50_000,
  batchMs: 500,
  restMs: 500,
  retryForMs: 120_000,
};

export async function openTablesFold(parts: TablesFoldParts): Promise<TablesFold> {
  const { client, registryUrl: url, topicPrefix, log } = parts;
  const registry = openRegistry({ url, topicPrefix, log });
  let failed: unknown = null;
  const catalog = await openCatalogSource({
    client,
    codec: await registry.codecFor(topics.catalog),
    topic: topicName(topics.catalog, topicPrefix),
    log,
    fail: (error) => {
      failed = error;
    },
  });
  const viewParts: TablesViewParts = {
    ...{ client, catalog, topicPrefix, limits },
    openCodec: () => registry.codecFor(topics.executions, reusedEvents),
    topic: topicName(topics.executions, topicPrefix),
    checksChain: true,
    store: openTablesStore(parts.clickhouse),
    groupId: '',
    metrics: projectorMetrics(openMetrics('tables-fold')),
  };
  return {
    async to(targets) {
      const waiting = [...targets];
      const fold = async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          if (failed !== null) throw failed;
          await foldPartition(viewParts, { partition: next[0], to: next[1] });
        }
      };
      // All have ended before a fault is told: two folds of one partition must never run side by side.
      const ends = await Promise.allSettled(Array.from({ length: partitionsAtOnce }, fold));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    },
    close: () => catalog.close(),
  };
}

async function foldPartition(
  parts: TablesViewParts,
  { partition, to }: { readonly partition: number; readonly to: number },
): Promise<void> {
  // A look less than what it takes to restore a partition.
  if ((await parts.store.completeTo(partition)) >= to) return;
  const view: ViewDefinition = tablesView(parts);
  const stored = new Stored(to);
  // No group: the tables themselves say where to go on, and batches are sent by one process.
  const projection = await view.assign(partition, {
    commit: async () => {},
    committed: async () => null,
    fail: (error) => stored.fail(error),
    stored: (position) => stored.at(position),
  });
  try {
    const { client, topic } = parts;
    const onBatch = async (batch: Parameters<typeof projection.project>[0]) => {
      await projection.project(batch);
    };
    await readRange(client, { topic, partition, from: projection.from, to, onBatch });
    await stored.promise;
  } finally {
    await projection.close();
  }
}

/** Settles when everything in front of an offset is stored, or nothing will be any more. */
class Stored {
  readonly promise: Promise<void>;
  readonly #to: number;
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(to: number) {
    this.#to = to;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.promise.catch(() => {});
  }

  at(position: number): void {
    if (position >= this.#to) this.#resolve();
  }

  fail(error: unknown): void {
    this.#reject(
      error instanceof Fault ? error : new Fault('fold_failed', 'stop', { cause: error }),
    );
  }
}

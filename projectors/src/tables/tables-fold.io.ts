import type { ClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import { type LogClient, type RecordBatch, readRange } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { type Schemas, topicName } from '@pm/kit/registry';
import { topics } from '@pm/schemas/log/topics';
import { Catalog } from '../log/catalog.io.ts';
import { projectorMetrics } from '../metrics.ts';
import { openProjectionTables } from './projection-tables.io.ts';
import type { TablesViewOptions } from './tables-projection.io.ts';
import { reusedEvents, tablesView } from './tables-view.io.ts';

export interface TablesFoldOptions {
  readonly client: LogClient;
  readonly schemas: Schemas;
  readonly topicPrefix: string;
  /** Opened on the database whose tables are filled; no other process may write into them. */
  readonly clickhouse: ClickHouse;
  readonly log: Log;
}

/** Partitions that are folded side by side: each has the positions of all its wallets in memory. */
const partitionsAtOnce = 2;

const limits = {
  batchRecords: 5_000,
  batchRows: 50_000,
  batchMs: 500,
  restMs: 500,
  pauseMaxMs: 0,
  retryForMs: 120_000,
};

/** Folds the log into tables that are not served, by the same code that fills the served ones. */
export class TablesFold {
  readonly #options: TablesViewOptions;
  readonly #catalog: Catalog;
  readonly #faults: unknown[];

  private constructor(options: TablesViewOptions, catalog: Catalog, faults: unknown[]) {
    this.#options = options;
    this.#catalog = catalog;
    this.#faults = faults;
  }

  static async open(options: TablesFoldOptions): Promise<TablesFold> {
    const { client, schemas, topicPrefix, clickhouse, log } = options;
    const faults: unknown[] = [];
    const catalog = await Catalog.open({
      client,
      codec: await schemas.codecFor(topics.catalog),
      topic: topicName(topics.catalog, topicPrefix),
      log,
      fail: (error) => {
        faults.push(error);
      },
    });
    const view: TablesViewOptions = {
      client,
      catalog,
      topicPrefix,
      limits,
      openCodec: () => schemas.codecFor(topics.executions, reusedEvents),
      topic: topicName(topics.executions, topicPrefix),
      checksChain: true,
      tables: openProjectionTables(clickhouse),
      groupId: '',
      metrics: projectorMetrics(openMetrics('tables-fold')),
    };
    return new TablesFold(view, catalog, faults);
  }

  /**
   * Continues from where the tables are complete to exactly these offsets of `executions`, by partition; a partition
   * that has reached its offset is left as it is. Checks the hash chain. Rejects with a `Fault`; another call
   * continues.
   */
  async to(targets: ReadonlyMap<number, number>): Promise<void> {
    const waiting = [...targets];
    const fold = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [partition, to] = next;
        if (this.#faults.length > 0) throw this.#faults[0];
        await foldPartition(this.#options, { partition, to });
      }
    };
    // All have ended before a fault is thrown: two folds of one partition must never run side by side.
    const ends = await Promise.allSettled(Array.from({ length: partitionsAtOnce }, fold));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  async close(): Promise<void> {
    await this.#catalog.close();
  }
}

async function foldPartition(
  options: TablesViewOptions,
  { partition, to }: { readonly partition: number; readonly to: number },
): Promise<void> {
  // One query is cheaper than restoring a partition that has nothing left to fold.
  if ((await options.tables.completeTo(partition)) >= to) return;
  const stored = new Stored(to);
  // Without a group: the tables themselves say where to continue, and one process sends all batches.
  const projection = await tablesView(options).assign(partition, {
    commit: async () => {},
    committed: async () => null,
    fail: (error) => stored.fail(error),
    stored: (position) => stored.at(position),
  });
  try {
    const { client, topic } = options;
    const onBatch = async (batch: RecordBatch) => {
      await projection.project(batch);
    };
    await readRange(client, { topic, partition, from: projection.from, to, onBatch });
    projection.writeNow();
    await stored.promise;
  } finally {
    await projection.close();
  }
}

/** Settles when everything before an offset is stored, or when it never will be. */
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

import { firstChain, sealExecution } from '@pm/domain/signoff/records';
import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import type { LogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import { columnNames, createTableSql, type Table } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { engineUrl } from '../../../kit/test/engines.ts';
import { TableViews } from '../../src/views/table-views.ts';
import { appendedMs } from '../log.ts';

/** Databases of a test, each with all tables. */
export class RealTables {
  readonly #name: string;
  readonly #databases: ClickHouse[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  /** `more`: tables that the projectors do not fold. */
  async fresh(more: readonly Table[] = []): Promise<ClickHouse> {
    const database = this.#nameOf(this.#databases.length);
    const url = engineUrl('CLICKHOUSE');
    const account = { url, user: 'default', password: '', log: silentLog };
    const system = openClickHouse({ ...account, database: 'default' });
    await system.command(`CREATE DATABASE ${database}`);
    await system.close();
    const clickhouse = openClickHouse({ ...account, database });
    for (const table of [...Object.values(tables), ...more])
      await clickhouse.command(createTableSql(table, database));
    this.#databases.push(clickhouse);
    return clickhouse;
  }

  async close(): Promise<void> {
    for (const [index, database] of this.#databases.entries()) {
      await database.command(`DROP DATABASE IF EXISTS ${this.#nameOf(index)}`);
      await database.close();
    }
  }

  /** Numbers count from 0. */
  #nameOf(index: number): string {
    return `${this.#name}_${index}`;
  }
}

/** Writes the rows that projectors make of these records of partition 0, in one batch. */
export async function project(
  clickhouse: ClickHouse,
  executions: readonly Execution[],
): Promise<void> {
  const views = new TableViews(0, { positions: [], candles: [] });
  for (const execution of executions) views.fold(execution, appendedMs(execution));
  for (const { table, pieces } of views.take())
    await clickhouse.insertTabSeparated(table.name, columnNames(table), pieces);
}

/** One hash of the content of each table, independent of its parts and of repeated rows. */
export async function hashesOf(clickhouse: ClickHouse): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const table of Object.values(tables)) {
    const [row] = await clickhouse.selectRows<{ hash: string; found: string }>(
      `SELECT toString(sum(cityHash64(tuple(*)))) AS hash, toString(count()) AS found FROM ${table.name} FINAL`,
    );
    found[table.name] = `${row?.found} rows ${row?.hash}`;
  }
  return found;
}

/** A topic of executions, partition by partition, chained as a matcher chains them. */
export class RealLog {
  readonly #topic: string;
  readonly #client: LogClient;
  readonly #codec: RecordCodec<Execution>;
  readonly #chains = new Map<number, Buffer>();

  constructor(topic: string, parts: { client: LogClient; codec: RecordCodec<Execution> }) {
    this.#topic = topic;
    this.#client = parts.client;
    this.#codec = parts.codec;
  }

  async open(partitions: number): Promise<void> {
    const admin = await this.#client.admin();
    const { compacted, maxMessageBytes } = topics.executions;
    const shape = { partitions, replicationFactor: 1, minInSyncReplicas: 1, retentionMs: -1 };
    await admin.ensureTopics([{ ...shape, name: this.#topic, compacted, maxMessageBytes }]);
    await admin.close();
  }

  async append(partition: number, executions: readonly Execution[]): Promise<void> {
    const producer = await this.#client.producer();
    for (const execution of executions) {
      const chain = this.#chains.get(partition) ?? firstChain;
      const sealed = sealExecution(this.#codec, chain, execution);
      this.#chains.set(partition, sealed.chain);
      await producer.send([{ topic: this.#topic, partition, key: null, value: sealed.value }]);
    }
    await producer.close();
  }
}

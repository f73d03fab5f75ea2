import { addressesOf } from '@pm/deploy/installation/read-addresses';
import type { RunningStack } from '@pm/deploy/stack/stack';
import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { clickhouseAccount } from '@pm/kit/config';
import { silentLog } from '@pm/kit/log';

/** Counters of ClickHouse since its start, and its present parts. */
export interface TableCounts {
  readonly inserts: number;
  readonly insertedRows: number;
  /** Parts that inserts wrote. */
  readonly insertedParts: number;
  readonly merges: number;
  readonly mergedRows: number;
  readonly activeParts: number;
}

const events = {
  inserts: 'InsertQuery',
  insertedRows: 'InsertedRows',
  insertedParts: 'MergeTreeDataWriterBlocks',
  merges: 'Merge',
  mergedRows: 'MergedRows',
} as const;

export function openTables({ urls, access }: RunningStack): ClickHouse {
  return openClickHouse({ ...clickhouseAccount(addressesOf(urls, access)), log: silentLog });
}

export async function countTables(clickhouse: ClickHouse): Promise<TableCounts> {
  const rows = await clickhouse.selectRows<{ readonly event: string; readonly value: string }>(
    'SELECT event, toString(value) AS value FROM system.events WHERE event IN {names:Array(String)}',
    { names: Object.values(events) },
  );
  const [parts] = await clickhouse.selectRows<{ readonly count: string }>(
    'SELECT toString(count()) AS count FROM system.parts WHERE active AND database = currentDatabase()',
  );
  const values = new Map(rows.map(({ event, value }) => [event, Number(value)]));
  const counts = Object.entries(events).map(([name, event]) => [name, values.get(event) ?? 0]);
  return {
    ...(Object.fromEntries(counts) as Record<keyof typeof events, number>),
    activeParts: Number(parts?.count ?? 0),
  };
}

/** Inserts and merges between two counts; the active parts are those at the end. */
export function workBetween(from: TableCounts, to: TableCounts): TableCounts {
  return {
    inserts: to.inserts - from.inserts,
    insertedRows: to.insertedRows - from.insertedRows,
    insertedParts: to.insertedParts - from.insertedParts,
    merges: to.merges - from.merges,
    mergedRows: to.mergedRows - from.mergedRows,
    activeParts: to.activeParts,
  };
}

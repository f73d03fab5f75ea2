import type { Table } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { appendedMs, TinyExchange } from '../../../projectors/test/log.ts';
import { TradingLog } from '../../../projectors/test/trading-log.ts';
import { BucketRows } from '../../src/audit/bucket-rows.ts';
import { FactRows } from '../../src/audit/fact-rows.ts';
import { type Cells, RowSums } from '../../src/audit/row-sums.ts';

const table: Table = {
  name: 'made_up',
  comment: '',
  columns: ['id', 'value', 'side'].map((name) => ({ name, type: 'UInt64', comment: '' })),
  engine: 'MergeTree',
  orderBy: ['id'],
};

/** None of these rows has a NULL. */
type Numbers = readonly number[];

function sumsOf(rows: readonly Cells[]): readonly number[] {
  const sums = new RowSums(table);
  for (const row of rows) sums.add(0, row);
  return sums.of(0).sums;
}

/** Columns whose sums differ. */
function differing(one: readonly Cells[], other: readonly Cells[]): readonly string[] {
  const [first, second] = [sumsOf(one), sumsOf(other)];
  return table.columns.flatMap(({ name }, index) => (first[index] === second[index] ? [] : [name]));
}

const rows: readonly Numbers[] = Array.from({ length: 64 }, (_, id) => [
  id,
  2 ** 40 + id * 7,
  id % 2,
]);

describe('sums of rows', () => {
  test('are the same in any order, and for each partition by itself', () => {
    expect(sumsOf([...rows].reverse())).toEqual(sumsOf(rows));
    const sums = new RowSums(table);
    for (const row of rows) sums.add(row[2] ?? 0, row);
    expect([sums.of(0).rows, sums.of(1).rows, [...sums.partitions]]).toEqual([32, 32, [0, 1]]);
    expect(sums.of(0).sums).not.toEqual(sums.of(1).sums);
  });

  test('name the column in which one row differs, however little', () => {
    const change = (changed: (row: Numbers) => Cells) =>
      rows.map((row, index) => (index === 5 ? changed(row) : row));
    const value = change(([id = 0, was = 0, side = 0]) => [id, was + 1, side]);
    expect(differing(rows, value)).toEqual(['value']);
    const far = change(([id = 0, was = 0, side = 0]) => [id, was + 2 ** 32, side]);
    expect(differing(rows, far)).toEqual(['value']);
    const side = change(([id = 0, was = 0, before = 0]) => [id, was, 1 - before]);
    expect(differing(rows, side)).toEqual(['side']);
  });

  test('differ for rows that exchanged cells, for swapped sides, and for values moved between rows', () => {
    const [first = [], second = [], ...rest] = rows;
    const swapped = [
      [first[0] ?? 0, ...second.slice(1)],
      [second[0] ?? 0, ...first.slice(1)],
    ];
    expect(differing(rows, [...swapped, ...rest])).toEqual(['value', 'side']);
    const sides = rows.map(([id = 0, value = 0, side = 0]) => [id, value, 1 - side]);
    expect(differing(rows, sides)).toEqual(['side']);
    const moved = rows.map(([id = 0, value = 0, side = 0]) => {
      return [id, id < 2 ? value + (id === 0 ? 1_000 : -1_000) : value, side];
    });
    expect(differing(rows, moved)).toEqual(['value']);
  });
});

test('expected rows have a cell for every column of every table of facts and buckets', () => {
  const [facts, buckets] = [new FactRows(), new BucketRows()];
  const payouts = new Map<number, number>();
  for (const execution of [
    ...new TradingLog(3).records(100),
    ...new TinyExchange(4).records(300),
  ]) {
    for (const event of execution.events)
      if (event.kind === 'MarketResolved') payouts.set(event.market, event.payout0);
    facts.record(0, { execution, appendedAtMs: appendedMs(execution) }, { payouts });
    buckets.record(0, execution);
  }
  for (const one of buckets.all) one.end(new Set());
  const all = [...facts.all, ...buckets.all.map(({ sums }) => sums)];
  const byState = [tables.positions, tables.holders, tables.openOrders, tables.completeness];
  expect(all.map((sums) => sums.table.name).sort()).toEqual(
    Object.values(tables)
      .filter((one) => !byState.some((other) => other === one))
      .map(({ name }) => name)
      .sort(),
  );
  for (const sums of all)
    expect([sums.table.name, sums.of(0).sums.length, sums.of(0).rows > 0]).toEqual([
      sums.table.name,
      sums.table.columns.length,
      true,
    ]);
});

test('a changed row of an open bucket is left out, and counted', () => {
  const buckets = new BucketRows();
  const at = (inOffset: number, timeMs: number) => ({
    chain: Buffer.alloc(32),
    inOffset,
    timeMs,
    keyId: Buffer.alloc(8),
    sequence: 0,
    events: [1, 2].map(
      (market) => ({ kind: 'TopChanged', market, bid: 4_000, ask: 5_000 }) as const,
    ),
  });
  buckets.record(3, at(0, 59_999));
  buckets.record(3, at(1, 60_000));
  expect(buckets.midpoints.lastStartS).toBe(60);
  expect(buckets.midpoints.sums.of(3).rows).toBe(2);
  expect(buckets.midpoints.end(new Set(['1 60']))).toBe(1);
  expect(buckets.midpoints.sums.of(3).rows).toBe(3);
});

import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';
import { openProjectionTables } from '../../src/tables/projection-tables.io.ts';

type Rows = readonly Record<string, unknown>[];

/** ClickHouse as far as reads use it: notes each query and its parameters, and answers by its table. */
function openReads(answer: Readonly<Record<string, Rows>>) {
  const asked: Record<string, unknown>[] = [];
  const selectRows = async (sql: string, params: Record<string, unknown>) => {
    asked.push(params);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return Object.entries(answer).find(([table]) => sql.includes(`FROM ${table} `))?.[1] ?? [];
  };
  const clickhouse = { selectRows } as unknown as ClickHouse;
  return { asked, projected: openProjectionTables(clickhouse) };
}

const partitions = [0, 1, 2, 3, 4, 5, 6, 7];

function positionRow(partition: number, market: number, size = '1'): Record<string, unknown> {
  const amounts = { size, cost: '1', bought: '1', sharesBought: '1', realized: '0', traded: '1' };
  const wallet = `0x${'11'.repeat(20)}`;
  return { partition, market, outcome: 0, wallet, ...amounts, updatedMs: '1', ver: '1' };
}

async function marketsOf(positions: AsyncIterable<{ market: number }>): Promise<number[]> {
  const markets: number[] = [];
  for await (const { market } of positions) markets.push(market);
  return markets;
}

test('ends of several partitions that are read at once are one query, or two', async () => {
  const rows = partitions.map((partition) => ({ partition, to: String(partition * 10) }));
  const { asked, projected } = openReads({ [tables.completeness.name]: rows.slice(1) });
  const ends = await Promise.all(partitions.map((one) => projected.completeTo(one)));
  expect(ends).toEqual(partitions.map((one) => one * 10));
  expect(asked.length).toBeLessThanOrEqual(2);
});

test('positions of several partitions are one query, and each partition gets its own', async () => {
  const rows = partitions.map((partition) => positionRow(partition, partition + 100));
  const { asked, projected } = openReads({ [tables.positions.name]: rows });
  const reading = partitions.map((one) => marketsOf(projected.positions(one)));
  expect(await Promise.all(reading)).toEqual(partitions.map((one) => [one + 100]));
  expect(asked.length).toBeLessThanOrEqual(2);
});

test('a stored position that cannot be read is a fault of its partition alone', async () => {
  const rows = [positionRow(0, 1), positionRow(1, 2, 'much'), positionRow(2, 3)];
  const { projected } = openReads({ [tables.positions.name]: rows });
  const reading = [0, 1, 2].map((one) => marketsOf(projected.positions(one)));
  const ends = await Promise.allSettled(reading);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('candles of several spans are one query, and each caller gets those of its span', async () => {
  const prices = { openText: '0.5', highText: '0.5', lowText: '0.5', closeText: '0.5' };
  const rows = [60, 120, 180].map((seconds) => ({
    ...prices,
    market: seconds,
    outcome: 0,
    seconds: String(seconds),
    traded: '1',
    value: '1',
    trades: 1,
    ver: '1',
  }));
  const { asked, projected } = openReads({ [tables.candles.name]: rows });
  const spans = [
    [60_000, 120_000],
    [120_000, 120_000],
    [180_000, 240_000],
  ] as const;
  const found = await Promise.all(spans.map(([from, to]) => projected.candles(from, to)));
  expect(found.map((some) => some.map(({ market }) => market))).toEqual([[60, 120], [120], [180]]);
  expect(asked.length).toBeLessThanOrEqual(2);
});

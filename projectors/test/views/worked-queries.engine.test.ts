import type { ClickHouse } from '@pm/kit/clickhouse';
import { orderIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type {
  EventOf,
  Execution,
  ExecutionEvent,
  Fill,
  OrderPlaced,
} from '@pm/schemas/log/executions';
import { notionalMicro } from '@pm/schemas/money';
import { columnNames } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { type WorkedQueryName, workedQueries } from '@pm/schemas/tables/worked-queries';
import { bytesOf } from '../../../kit/test/seeded.ts';
import { TableViews } from '../../src/views/table-views.ts';
import { appendedMs, executionOf } from '../log.ts';
import { RealTables } from '../tables/real-tables.ts';
import { TradingLog } from '../trading-log.ts';

const real = new RealTables(`worked_queries_${process.pid}`);
const log = new TradingLog(11);
const half = log.records(150);
const moment = half.at(-1)?.timeMs ?? 0;
/** The offset of the last record before the moment. */
const offset = half.length - 1;
/** The resting orders at the moment, before the log continues. */
const restedThen = log.resting.map((order) => ({ ...order }));
const traded: readonly Execution[] = [...half, ...log.records(150)];
/** At the end market 2 has no bid. */
const noBids = { kind: 'TopChanged', market: 2, bid: 0, ask: 5_000 } as const;
const endedMs = (traded.at(-1)?.timeMs ?? 0) + 60_000;
/** Every tenth order was delayed before it was placed, by an earlier record. */
const delayedOrders = traded
  .slice(1)
  .flatMap(({ events }) => events.flatMap((event) => (event.kind === 'OrderPlaced' ? [event] : [])))
  .filter((_one, index) => index % 10 === 3);
const executions = [
  ...traded.map((execution, at) => ({
    ...execution,
    events: [...execution.events, ...delayedOrders.filter(isIn(traded[at + 1])).map(delayOf)],
  })),
  executionOf(traded.length, [noBids], endedMs),
];
const fills = executions.flatMap(({ timeMs, events }) =>
  events.flatMap((event) => (event.kind === 'Fill' ? [{ timeMs, fill: event }] : [])),
);
const everyEvent = executions.flatMap(({ events }) => events);
const wallet = walletFromBytes(bytesOf(20, 3));
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
let clickhouse: ClickHouse;

beforeAll(async () => {
  clickhouse = await real.fresh();
  const views = new TableViews(0, { positions: [], candles: [] });
  // Every batch twice: repeated rows change no result.
  for (const execution of executions) {
    views.fold(execution, appendedMs(execution));
    if (views.pendingRows < 1_000 && execution !== executions.at(-1)) continue;
    for (const { table, pieces } of views.take())
      for (let repeats = 0; repeats < 2; repeats += 1)
        await clickhouse.insertTabSeparated(table.name, columnNames(table), pieces);
  }
}, 120_000);

afterAll(() => real.close(), 30_000);

function isIn(execution: Execution | undefined) {
  return (order: OrderPlaced) => execution?.events.includes(order) === true;
}

function delayOf(order: OrderPlaced): EventOf<'OrderDelayed'> {
  return { ...order, kind: 'OrderDelayed', releaseAtMs: 0, heldMicro: 0 };
}

type Answer = readonly (readonly (string | number)[])[];

async function ask(
  query: WorkedQueryName,
  params: Record<string, string | number> = {},
): Promise<Answer> {
  const { sql } = workedQueries.find((one) => one.name === query) ?? { sql: '' };
  const rows = await clickhouse.selectRows<Record<string, unknown>>(sql, params);
  return rows.map((row) => Object.values(row).map(plain));
}

/** Numbers in millionths whatever their decimals; everything else as text. */
function plain(cell: unknown): string | number {
  const text = String(cell);
  return /^-?\d+(\.\d+)?$/.test(text) ? Math.round(Number(text) * 1e6) : text;
}

/** Sums by key, as rows sorted by key. */
function sums<Key extends readonly (string | number)[]>(
  entries: Iterable<readonly [Key, readonly number[]]>,
): Answer {
  const found = new Map<string, { key: Key; values: number[] }>();
  for (const [key, values] of entries) {
    const row = found.get(JSON.stringify(key)) ?? { key, values: values.map(() => 0) };
    found.set(JSON.stringify(key), row);
    for (const [index, value] of values.entries())
      row.values[index] = (row.values[index] ?? 0) + value;
  }
  const rows = [...found.values()].map(({ key, values }) => [...key, ...values]);
  return rows.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

const one = 1_000_000;
const notional = ({ takerPrice, sizeMicro }: Fill) => notionalMicro(takerPrice, sizeMicro);
/** Both sides of a fill as their wallets see it. */
const sidesOf = ({ timeMs, fill }: { timeMs: number; fill: Fill }) => [
  {
    timeMs,
    fill,
    role: 'TAKER',
    owner: walletFromBytes(fill.taker),
    side: fill.takerSide,
    builder: fill.takerBuilder,
  },
  {
    timeMs,
    fill,
    role: 'MAKER',
    owner: walletFromBytes(fill.maker),
    side: fill.makerSide,
    builder: fill.makerBuilder,
  },
];
const hex = (bytes: Buffer) => `0x${bytes.toString('hex')}`;

/** The levels of a market at a moment, in 1/10000 USDC and micro-shares. */
function levelsAt(market: number, ms: number): ReadonlyMap<string, number> {
  const levels = new Map<string, number>();
  for (const { timeMs, events } of executions)
    for (const event of events)
      if (timeMs <= ms && event.kind === 'LevelChanged' && event.market === market)
        levels.set(`${event.side} ${event.price}`, event.sizeMicro);
  return new Map([...levels].filter(([, sizeMicro]) => sizeMicro > 0));
}

describe('the worked queries of docs/data/queries.md return what naive code computes:', () => {
  test('volume by day', async () => {
    const expected = sums(
      fills.map(({ timeMs, fill }) => [[dayOf(timeMs)], [one, notional(fill)]]),
    );
    expect(expected.length).toBeGreaterThan(5);
    expect(await ask('volumeByDay')).toEqual(expected);
  });

  test('PnL of a wallet, at the midpoint, at the last trade of a wide book, at a payout', async () => {
    const lastTop = everyEvent.findLast(
      (event) => event.kind === 'TopChanged' && event.market === 1,
    );
    if (lastTop?.kind !== 'TopChanged' || lastTop.bid === 0 || lastTop.ask === 0)
      throw new Error('market 1 has both sides');
    expect(lastTop.ask - lastTop.bid).toBeLessThan(1_000);
    const midpoint = (lastTop.bid + lastTop.ask) / 2;
    const lastTrade = fills.findLast(({ fill }) => fill.market === 2)?.fill.takerPrice ?? 0;
    const row = (market: number, outcome: number, price: number | null) => {
      const held = naivePosition(market, outcome);
      const value = price === null ? null : Math.round((price * held.size) / 10_000);
      const price0 = price === null ? null : (outcome === 0 ? price : 10_000 - price) * 100;
      const profit = value === null ? null : value - held.cost;
      const figures = [held.size, held.cost, held.realized, price0, value, profit];
      return [market * one, outcome * one, ...figures.map((figure) => figure ?? 'null')];
    };
    const ofMarket1 = [row(1, 0, midpoint), row(1, 1, 10_000 - midpoint)];
    // Token 1 was never traded; its price is what is left of one.
    expect(await ask('walletPnl', { wallet })).toEqual([
      ...ofMarket1,
      row(2, 0, lastTrade),
      row(2, 1, 10_000 - lastTrade),
    ]);
    const times = ['2026-06-01 00:00:00.000', '2026-06-01 00:00:00.250'];
    const resolved = [[0, 1, 0, ...times, 2, '0.25', 1]];
    await clickhouse.insertRows('resolutions', columnNames(tables.resolutions), resolved);
    expect(await ask('walletPnl', { wallet })).toEqual([
      ...ofMarket1,
      row(2, 0, 2_500),
      row(2, 1, 7_500),
    ]);
  });

  test('spread over time', async () => {
    const minuteOf = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
    const minutes = new Map<string, readonly number[]>();
    for (const { timeMs, events } of executions)
      for (const event of events)
        if (event.kind === 'TopChanged' && event.market === 1)
          minutes.set(`${minuteOf(timeMs)}:00`, [event.bid * 100, event.ask * 100]);
    const [from, to] = [executions[40]?.timeMs ?? 0, executions[260]?.timeMs ?? 0].map(
      (ms) => Math.floor(ms / 60_000) * 60_000,
    ) as [number, number];
    const expected = [...minutes]
      .filter(([minute]) => minute >= `${minuteOf(from)}:00`)
      .filter(([minute]) => minute < `${minuteOf(to)}:00`)
      .filter(([, [bid = 0, ask = 0]]) => bid > 0 && ask > 0)
      .map(([minute, [bid = 0, ask = 0]]) => [minute, bid, ask, ask - bid]);
    expect(expected.length).toBeGreaterThan(20);
    expect(await ask('spreadOverTime', { market: 1, from, to })).toEqual(expected);
  });

  test('the book of either token at a moment and after a record', async () => {
    for (const outcome of [0, 1]) {
      const expected = [...levelsAt(1, moment)].map(([key, sizeMicro]) => {
        const [side = '', price = ''] = key.split(' ');
        if (outcome === 0) return [side, Number(price) * 100, sizeMicro];
        return [side === 'BUY' ? 'SELL' : 'BUY', (10_000 - Number(price)) * 100, sizeMicro];
      });
      const sorted = [...expected].sort(([a = '', x = 0], [b = '', y = 0]) =>
        a === b ? Number(y) - Number(x) : a < b ? -1 : 1,
      );
      expect(sorted.length).toBeGreaterThan(3);
      expect(await ask('bookAt', { market: 1, outcome, at: moment })).toEqual(sorted);
      expect(await ask('bookAtOffset', { market: 1, outcome, offset })).toEqual(sorted);
    }
    for (const { inOffset, timeMs } of executions.filter((_one, index) => index % 29 === 7)) {
      const levels = [...levelsAt(1, timeMs)].map(([key, size]) => `${key} ${size}`).sort();
      for (const returned of [
        await ask('bookAt', { market: 1, outcome: 0, at: timeMs }),
        await ask('bookAtOffset', { market: 1, outcome: 0, offset: inOffset }),
      ])
        expect(
          returned.map(([side, price, size]) => `${side} ${Number(price) / 100} ${size}`).sort(),
        ).toEqual(levels);
    }
  });

  test('no book before there was one', async () => {
    const early = (executions[0]?.timeMs ?? 0) - 1;
    expect(await ask('bookAt', { market: 1, outcome: 0, at: early })).toEqual([]);
    expect(await ask('bookAtOffset', { market: 3, outcome: 0, offset })).toEqual([]);
    expect(await ask('ordersAt', { market: 1, at: early })).toEqual([]);
  });

  test('the orders of a market at a moment and after a record, in their priority', async () => {
    const expected = restedThen
      .filter(({ market }) => market === 1)
      .map(({ id, wallet: owner, side, price, rest }, came) => ({
        came,
        row: [orderIdFromBytes(id), walletFromBytes(owner), 0, side, price * 100, rest],
      }))
      .sort(
        (a, b) =>
          (a.row[3] === b.row[3] ? 0 : (a.row[3] ?? '') < (b.row[3] ?? '') ? -1 : 1) ||
          Number(a.row[4]) - Number(b.row[4]) ||
          a.came - b.came,
      );
    expect(expected.length).toBeGreaterThan(5);
    for (const returned of [
      await ask('ordersAt', { market: 1, at: moment }),
      await ask('ordersAtOffset', { market: 1, offset }),
    ])
      expect(returned.map((row) => row.slice(0, 6))).toEqual(expected.map(({ row }) => row));
  });

  test('the top holders of a token over time', async () => {
    const held = new Map<string, number>();
    const days = new Map<string, ReadonlyMap<string, number>>();
    for (const { timeMs, events } of executions)
      for (const event of events)
        for (const [owner, sizeMicro] of holdersChangedBy(event, 1)) {
          held.set(owner, (held.get(owner) ?? 0) + sizeMicro);
          days.set(dayOf(timeMs), new Map(held));
        }
    const expected = [...days].flatMap(([day, then]) =>
      [...then]
        .filter(([, shares]) => shares > 0)
        .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
        .slice(0, 2)
        .map(([owner, shares]) => [day, owner, shares]),
    );
    expect(expected.length).toBeGreaterThan(10);
    const returned = await ask('topHoldersOverTime', { market: 1, outcome: 0, top: 2 });
    expect(returned).toEqual(expected);
  });

  test('the share a wallet made and took', async () => {
    const own = fills.flatMap(sidesOf).filter(({ owner }) => owner === wallet);
    expect(await ask('makerTakerShare', { wallet })).toEqual(
      sums(own.map(({ role, fill }) => [[role], [one, notional(fill)]])),
    );
  });

  test('volume by builder and day', async () => {
    const built = fills
      .flatMap(sidesOf)
      .filter(({ builder }) => builder.some((byte) => byte !== 0));
    const expected = sums(
      built.map(({ timeMs, fill, builder }) => [
        [dayOf(timeMs), hex(builder)],
        [one, notional(fill)],
      ]),
    );
    expect(await ask('builderVolume')).toEqual(expected);
  });

  test('fees by market and day', async () => {
    const expected = sums(
      fills.map(({ timeMs, fill }) => [[dayOf(timeMs), fill.market * one], [fill.feeMicro]]),
    );
    expect(await ask('feesByMarket')).toEqual(expected);
  });

  test('from order to first fill, of takers and of orders that rested, none of them delayed', async () => {
    const waits = firstFillWaits();
    // The median is the lower middle value; a quantile is the first value with that share of all before it.
    const expected = (['TAKER', 'MAKER'] as const).map((role) => {
      const sorted = waits.filter(([as]) => as === role).map(([, ms]) => ms * one);
      sorted.sort((a, b) => a - b);
      const [middle, late] = [(sorted.length - 1) / 2, sorted.length * 0.99].map(Math.floor);
      return [role, sorted.length * one, sorted[middle ?? 0], sorted[late ?? 0]];
    });
    expect(await ask('orderToFill', { from: 0 })).toEqual(expected);
    for (const [, filled, middle] of expected) {
      expect(filled).toBeGreaterThan(5 * one);
      expect(middle).toBeGreaterThan(0);
    }
  });
});

/**
 * Role of each order in its first fill, and the wait for that fill, milliseconds: of a taker since it was accepted, of
 * a maker since it was placed. Delayed orders are left out.
 */
function firstFillWaits(): readonly (readonly ['TAKER' | 'MAKER', number])[] {
  const appended = executions.flatMap((execution) =>
    execution.events.map((event) => ({ event, atMs: appendedMs(execution) })),
  );
  const waits = new Map<string, readonly ['TAKER' | 'MAKER', number]>();
  const placed = new Map<string, number>();
  const delayed = new Set(delayedOrders.map(({ orderId }) => hex(orderId)));
  for (const { event, atMs } of appended) {
    if (event.kind !== 'OrderPlaced') continue;
    placed.set(hex(event.orderId), atMs);
    if (event.filledMicro > 0) waits.set(hex(event.orderId), ['TAKER', atMs - event.acceptedAtMs]);
  }
  for (const { event, atMs } of appended) {
    if (event.kind !== 'Fill') continue;
    const id = hex(event.makerOrderId);
    if (!waits.has(id)) waits.set(id, ['MAKER', atMs - (placed.get(id) ?? 0)]);
  }
  return [...waits].flatMap(([id, wait]) => (delayed.has(id) ? [] : [wait]));
}

/** Average cost in plain code, for the wallet of the tests; every fill is of token 0. */
function naivePosition(market: number, outcome: number) {
  const held = { size: 0, cost: 0, realized: 0 };
  const change = (sizeMicro: number, valueMicro: number) => {
    if (sizeMicro > 0) {
      held.size += sizeMicro;
      held.cost += valueMicro;
      return;
    }
    const removed = Number((BigInt(held.cost) * BigInt(-sizeMicro)) / BigInt(held.size));
    held.size += sizeMicro;
    held.cost -= removed;
    held.realized += valueMicro - removed;
  };
  for (const event of everyEvent)
    for (const [sizeMicro, valueMicro] of changesOf(event, market, outcome))
      change(sizeMicro, valueMicro);
  return held;
}

/** Changes of holdings of token 0 by an event; every fill is of that token. */
function holdersChangedBy(
  event: ExecutionEvent,
  market: number,
): readonly (readonly [string, number])[] {
  if (event.kind === 'PositionMoved' && event.market === market)
    return [[walletFromBytes(event.wallet), event.token0Micro]];
  if (event.kind !== 'Fill' || event.market !== market) return [];
  return sidesOf({ timeMs: 0, fill: event }).map(({ owner, side }) => [
    owner,
    side === 'BUY' ? event.sizeMicro : -event.sizeMicro,
  ]);
}

/** Change of the position of the tests' wallet by an event, and its value. */
function changesOf(
  event: ExecutionEvent,
  market: number,
  outcome: number,
): readonly (readonly [number, number])[] {
  if (event.kind === 'PositionMoved' && event.market === market) {
    const isOwn = walletFromBytes(event.wallet) === wallet;
    return isOwn ? [[event.token0Micro, event.token0Micro / 2]] : [];
  }
  if (event.kind !== 'Fill' || event.market !== market || outcome !== 0) return [];
  return sidesOf({ timeMs: 0, fill: event })
    .filter(({ owner }) => owner === wallet)
    .map(({ side }) => [side === 'BUY' ? event.sizeMicro : -event.sizeMicro, notional(event)]);
}

import { walletFromBytes } from '@pm/schemas/ids';
import type { Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import { tables } from '@pm/schemas/tables/tables';
import { bytesOf } from '../../../kit/test/seeded.ts';
import { RowMemory } from '../../src/tables/row-memory.ts';
import { PositionsView } from '../../src/views/positions/positions.ts';
import { appendedMs, executionOf, fillOf, moved, TinyExchange } from '../log.ts';
import { cellsOf, type Row } from '../tables/cells.ts';

/** Newest row of each key: what ReplacingMergeTree(version) FINAL shows. */
function finalRows(takes: readonly (readonly Row[])[]): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const row of takes.flat()) {
    const key = row.slice(0, 3).join(':');
    if (Number(row[11]) >= Number(rows.get(key)?.[11] ?? -1)) rows.set(key, row);
  }
  return rows;
}

function positionsOf(view: PositionsView): readonly Row[] {
  const taken = view.take().find(({ table }) => table === tables.positions);
  return taken === undefined ? [] : cellsOf(taken);
}

function run(records: readonly Execution[], every = 7): Map<string, Row> {
  const view = new PositionsView(0, [], new RowMemory());
  const takes: (readonly Row[])[] = [];
  for (const [index, record] of records.entries()) {
    view.fold(record, appendedMs(record));
    if (index % every === 0 || index === records.length - 1) takes.push(positionsOf(view));
  }
  return finalRows(takes);
}

interface Naive {
  size: bigint;
  cost: bigint;
  bought: bigint;
  shares: bigint;
  realized: bigint;
  volume: bigint;
}

interface NaiveTrade {
  readonly key: string;
  readonly buys: boolean;
  readonly size: bigint;
  readonly price: bigint;
  readonly counts: boolean;
}

/** The average-cost rule in BigInt. */
function naive(records: readonly Execution[]): Map<string, Naive> {
  const all = new Map<string, Naive>();
  const payouts = new Map<number, bigint>();
  for (const event of records.flatMap((record) => record.events)) {
    if (event.kind === 'MarketResolved') payouts.set(event.market, BigInt(event.payout0));
    for (const trade of naiveTrades(event, payouts)) naiveTrade(all, trade);
  }
  return all;
}

function naiveTrades(event: ExecutionEvent, payouts: ReadonlyMap<number, bigint>): NaiveTrade[] {
  if (event.kind === 'Fill') {
    const size = BigInt(event.sizeMicro);
    const taker = `${walletFromBytes(event.taker)}:${event.market}:${event.takerOutcome}`;
    const maker = `${walletFromBytes(event.maker)}:${event.market}:${event.makerOutcome}`;
    const shared = { size, counts: true };
    return [
      { ...shared, key: taker, buys: event.takerSide === 'BUY', price: BigInt(event.takerPrice) },
      { ...shared, key: maker, buys: event.makerSide === 'BUY', price: BigInt(event.makerPrice) },
    ];
  }
  if (event.kind !== 'PositionMoved') return [];
  const payout = event.action === 'REDEEM' ? (payouts.get(event.market) ?? 0n) : 5_000n;
  const key = `${walletFromBytes(event.wallet)}:${event.market}`;
  const shared = { buys: event.action === 'SPLIT', counts: false };
  const [size0, size1] = [event.token0Micro, event.token1Micro].map((size) =>
    BigInt(Math.abs(size)),
  );
  return [
    { ...shared, key: `${key}:0`, size: size0 ?? 0n, price: payout },
    { ...shared, key: `${key}:1`, size: size1 ?? 0n, price: 10_000n - payout },
  ];
}

function naiveTrade(all: Map<string, Naive>, { key, buys, size, price, counts }: NaiveTrade): void {
  if (size === 0n) return;
  const one = all.get(key) ?? {
    size: 0n,
    cost: 0n,
    bought: 0n,
    shares: 0n,
    realized: 0n,
    volume: 0n,
  };
  all.set(key, one);
  const value = (price * size) / 10_000n;
  const removed = buys ? -value : (one.cost * size) / one.size;
  one.volume += counts ? value : 0n;
  one.bought += buys ? value : 0n;
  one.shares += buys ? size : 0n;
  one.size += buys ? size : -size;
  one.cost -= removed;
  one.realized += buys ? 0n : value - removed;
}

const micro = (text: unknown) => BigInt(Math.round(Number(text) * 1e6));

describe('positions', () => {
  test('agree with the rule in BigInt over random logs', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const records = new TinyExchange(seed).records(400);
      const rows = run(records);
      const twin = naive(records);
      expect(rows.size).toBe(twin.size);
      for (const [key, one] of twin) {
        const row = rows.get(key) ?? [];
        expect(row.slice(4, 10).map(micro)).toEqual([
          one.size,
          one.cost,
          one.bought,
          one.shares,
          one.realized,
          one.volume,
        ]);
      }
    }
  });

  test('are the same however the log is cut into batches, and when any prefix is read again', () => {
    const records = new TinyExchange(99).records(200);
    const straight = run(records, 1_000);
    for (const every of [1, 3, 50]) expect(run(records, every)).toEqual(straight);
    const view = new PositionsView(0, [], new RowMemory());
    for (const record of records) view.fold(record, appendedMs(record));
    view.take();
    for (const record of records.slice(0, 150)) view.fold(record, appendedMs(record));
    expect(positionsOf(view)).toEqual([]);
  });

  test('take all fills of one record, also those of one wallet', () => {
    const rows = run([
      executionOf(0, [fillOf({ match: 'MINT' }), fillOf({ match: 'MINT', takerPrice: 7_000 })]),
    ]);
    const taker = rows.get(`${walletFromBytes(bytesOf(20, 1))}:1:0`) ?? [];
    expect([taker[4], taker[5], taker[8]]).toEqual(['2', '1.2', '0']);
  });

  test('stay exact where cost times size leaves 2^53', () => {
    const sizeMicro = 9_999_999_990_000;
    const buy = fillOf({ match: 'MINT', sizeMicro, takerPrice: 3_333 });
    const sell = fillOf({
      match: 'MERGE',
      sizeMicro: 7_777_777_770_000,
      takerSide: 'SELL',
      takerPrice: 3_334,
    });
    const records = [executionOf(0, [buy]), executionOf(1, [sell])];
    const one = naive(records).get(`${walletFromBytes(bytesOf(20, 1))}:1:0`);
    const row = run(records).get(`${walletFromBytes(bytesOf(20, 1))}:1:0`) ?? [];
    expect([micro(row[5]), micro(row[8])]).toEqual([one?.cost, one?.realized]);
  });

  test('need the payout only where it does not follow from the money', () => {
    const view = new PositionsView(0, [], new RowMemory());
    const shape = {
      wallet: 1,
      token0Micro: 2_000_000,
      token1Micro: 2_000_000,
      paidMicro: -2_000_000,
    };
    view.fold(executionOf(0, [moved('SPLIT', shape)]), 0);
    const redeem = executionOf(1, [
      moved('REDEEM', {
        ...shape,
        token0Micro: -2_000_000,
        token1Micro: -2_000_000,
        paidMicro: 2_000_000,
      }),
    ]);
    expect(view.payoutsNeeded(redeem)).toEqual([1]);
    view.knowPayout(1, 10_000);
    expect(view.payoutsNeeded(redeem)).toEqual([]);
    view.fold(redeem, appendedMs(redeem));
    const rows = positionsOf(view);
    expect(rows.map((row) => [row[4], row[8]])).toEqual([
      ['0', '1'],
      ['0', '-1'],
    ]);
  });

  test('stop at a wallet that sells more than it has', () => {
    const view = new PositionsView(0, [], new RowMemory());
    expect(() => view.fold(executionOf(0, [fillOf({ takerSide: 'SELL' })]), 0)).toThrow(
      'more than it holds',
    );
  });
});

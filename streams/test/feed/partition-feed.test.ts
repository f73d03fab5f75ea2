import { walletFromBytes } from '@pm/schemas/ids';
import { runLength } from '../../../kit/test/long-runs.ts';
import { tightLimits } from '../../../matcher/test/core/random-log.ts';
import { LogAudit } from '../../../operate/src/audit/log-audit.ts';
import { PartitionFeed } from '../../src/feed/partition-feed.ts';
import type { SnapshotList } from '../../src/feed/snapshot-list.ts';
import { allOf, changeText } from './change-text.ts';
import { engineLog, logPartition, storedOffset } from './engine-log.ts';
import { type NaiveChange, NaiveFeed } from './naive-feed.ts';

const records = runLength({ test: 400, deep: 20_000 });

/** Per key in order: changes of different keys may come in any order. */
function byKey(changes: readonly NaiveChange[]): Record<string, readonly string[]> {
  const found: Record<string, string[]> = {};
  for (const { key, text } of changes) {
    found[key] ??= [];
    found[key].push(text);
  }
  return found;
}

function textOf(changes: readonly NaiveChange[]): string {
  return JSON.stringify(
    Object.entries(byKey(changes)).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

function levelsOf(feed: PartitionFeed, market: number): readonly string[] {
  const book = feed.snapshot('book', market);
  if (book?.channel !== 'book') return [];
  return book.levels.map(({ side, price, sizeMicro }) => `${side} ${price} ${sizeMicro}`).sort();
}

function compareStates(feed: PartitionFeed, naive: NaiveFeed): void {
  for (const market of naive.rules.keys()) {
    expect(levelsOf(feed, market)).toEqual(naive.levels(market));
    const orders = feed.snapshot('orders', market);
    const resting = [...naive.orders].filter(([, { placed }]) => placed.market === market);
    expect(
      orders?.channel === 'orders' &&
        allOf(orders.orders).map(({ orderId }) => orderId.toString('hex')),
    ).toEqual(resting.map(([id]) => id));
    for (const channel of ['book', 'best', 'trades', 'orders', 'markets', 'activity'] as const)
      expect(feed.snapshot(channel, market)?.seq).toBe(naive.seqs.get(`${channel} ${market}`) ?? 0);
  }
  for (const [wallet, freeMicro] of naive.free) compareWallet(feed, naive, { wallet, freeMicro });
}

function compareWallet(
  feed: PartitionFeed,
  naive: NaiveFeed,
  { wallet, freeMicro }: { wallet: string; freeMicro: number },
): void {
  const own = feed.ownSnapshot(walletFromBytes(Buffer.from(wallet, 'hex')));
  expect(own.seq).toBe(naive.seqs.get(`own ${wallet}`) ?? 0);
  expect(own.balance).toEqual({ freeMicro, heldMicro: naive.held.get(wallet) });
  const resting = [...naive.orders].filter(
    ([, { placed }]) => placed.maker.toString('hex') === wallet,
  );
  const delayed = [...naive.delayed].filter(([, maker]) => maker === wallet);
  expect(
    allOf(own.orders).map(({ orderId, restingMicro }) => [orderId.toString('hex'), restingMicro]),
  ).toEqual([...resting.map(([id, { rest }]) => [id, rest]), ...delayed.map(([id]) => [id, null])]);
  const held = [...naive.tokens].filter(([key, micro]) => key.startsWith(wallet) && micro !== 0);
  const shown = allOf(own.positions).flatMap(({ market, token0Micro, token1Micro }) =>
    [token0Micro, token1Micro].flatMap((micro, outcome) =>
      micro === 0 ? [] : [[`${wallet}/${market}/${outcome}`, micro]],
    ),
  );
  expect(shown.sort()).toEqual(held.sort());
}

/** A list that is read in parts of so many items. */
function partsOf<T>(list: SnapshotList<T>, items: number): readonly T[] {
  const found: T[] = [];
  for (let from = 0; from < list.length; from += items)
    found.push(...list.slice(from, from + items));
  return found;
}

describe('PartitionFeed', () => {
  it.each([
    [1, undefined],
    [2, undefined],
    [3, tightLimits],
  ])('gives the changes and states of its naive twin, seed %d, limits %j', (seed, limits) => {
    const feed = new PartitionFeed(logPartition);
    const naive = new NaiveFeed();
    for (const execution of engineLog(seed, records, limits)) {
      const { inOffset } = execution;
      const changes = feed.take(execution, storedOffset(inOffset)).map(changeText);
      const expected = naive.record(execution);
      if (textOf(changes) !== textOf(expected)) expect(byKey(changes)).toEqual(byKey(expected));
      if (inOffset % (records / 4) === 0) compareStates(feed, naive);
    }
    compareStates(feed, naive);
    expect(feed.counts.orders).toBe(naive.orders.size);
  });

  it('keeps a snapshot as it was, however far the fold goes and whenever its items are read', () => {
    const feed = new PartitionFeed(logPartition);
    const naive = new NaiveFeed();
    const kept: (() => void)[] = [];
    for (const execution of engineLog(6, 1_000)) {
      feed.take(execution, storedOffset(execution.inOffset));
      naive.record(execution);
      if (execution.inOffset % 250 !== 249) continue;
      for (const wallet of naive.free.keys()) {
        const own = feed.ownSnapshot(walletFromBytes(Buffer.from(wallet, 'hex')));
        const text = JSON.stringify([allOf(own.orders), allOf(own.positions)]);
        const parts = () => [partsOf(own.orders, 3), partsOf(own.positions, 2)];
        kept.push(() => expect(JSON.stringify(parts())).toBe(text));
      }
    }
    expect(kept.length).toBeGreaterThan(4);
    for (const check of kept) check();
  });

  it('holds the levels, orders and money that the audit finds in the same log', () => {
    const feed = new PartitionFeed(logPartition);
    const audit = new LogAudit('0x', { keepsEnded: false });
    for (const execution of engineLog(5, records)) {
      feed.take(execution, execution.inOffset);
      audit.record(execution, { partition: logPartition, chainHolds: true });
    }
    expect(audit.violations).toEqual([]);
    for (const [market, { bids, asks }] of audit.levels) {
      const sides = [...bids.sizes].map((level) => ['BUY', ...level].join(' '));
      for (const level of asks.sizes) sides.push(['SELL', ...level].join(' '));
      expect(levelsOf(feed, market)).toEqual(sides.sort());
    }
    expect(feed.counts.orders).toBe(audit.orders.size);
    for (const [wallet, freeMicro] of audit.free) {
      const { balance } = feed.ownSnapshot(walletFromBytes(Buffer.from(wallet.slice(2), 'hex')));
      expect(balance).toEqual({ freeMicro, heldMicro: audit.held.get(wallet) ?? 0 });
    }
  });
});

import type { WalletAddress } from '@pm/schemas/ids';
import type {
  BookChange,
  FeedChange,
  Level,
  MarketRules,
  RestingOrder,
} from '../src/feed/changes.ts';
import type { FeedListener, FeedPartition } from '../src/feed/feed.io.ts';
import type { FeedReplay, ReplayRequest } from '../src/feed/replay-plan.ts';
import type { SnapshotList } from '../src/feed/snapshot-list.ts';
import type {
  BookFacts,
  MarketChannel,
  MarketSnapshot,
  OwnSnapshot,
} from '../src/feed/snapshots.ts';
import type { StreamFeed } from '../src/protocol/targets.io.ts';

const timeMs = 1_780_315_200_000;
export const rules = {
  tick: 100,
  minSizeMicro: 5_000_000,
  feeRateBps: 441,
  mode: 'OPEN',
  tradingMode: 'OPEN',
  takerDelayMs: 0,
  payout0: null,
} as const;

const bookFacts: BookFacts = {
  timeMs: 1,
  tick: 100,
  minSizeMicro: 5_000_000,
  lasts: [null, null],
};

type NewChange = FeedChange extends infer C
  ? C extends FeedChange
    ? Omit<C, 'seq' | 'at'>
    : never
  : never;

/** A feed in memory with one partition: it counts, keeps all changes, and knows books by their levels. */
export class FakeFeed implements StreamFeed {
  readonly #listeners = new Set<FeedListener>();
  readonly #history = new Map<string, FeedChange[]>();
  readonly #books = new Map<number, Map<string, Level>>();
  #markets: ReadonlySet<number>;
  offset = -1;
  /** Resting orders of every market. */
  orders: SnapshotList<RestingOrder> = [];
  /** Open orders and positions of every wallet. */
  ownOrders: OwnSnapshot['orders'] = [];
  ownPositions: OwnSnapshot['positions'] = [];
  epoch = '9f2b6d4c81e7a053';
  /** Changes a replay gives at most; more is too far back. */
  replayMax = 100_000;
  isCaughtUp = true;
  /** Market rules in the snapshots of `markets`. */
  rules: MarketRules = rules;
  faultMs = 0;
  isLive = true;
  /** Whether there is a partition 1, which has no records. */
  growth: 'none' | 'begun' | 'done' = 'none';
  /** Awaited before each page of a replay. */
  pageGate: () => Promise<void> = async () => {};

  constructor(markets: readonly number[]) {
    this.#markets = new Set(markets);
  }

  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** One record with these changes. */
  put(...changes: readonly NewChange[]): void {
    this.offset += 1;
    const numbered = changes.map((change, index) => this.#number(change, index));
    const record = { partition: 0, offset: this.offset, timeMs, changes: numbered };
    for (const listener of this.#listeners) listener.record(record);
  }

  setLevels(market: number, levels: readonly Level[]): void {
    this.put({ channel: 'book', market, levels } as Omit<BookChange, 'seq' | 'at'>);
  }

  reset(): void {
    for (const listener of this.#listeners) listener.reset(0);
  }

  /** Partition 1 is caught up for the first time. */
  grow(): void {
    this.growth = 'done';
    for (const listener of this.#listeners) listener.added(1);
  }

  #number(change: NewChange, index: number): FeedChange {
    const name = nameOf(change);
    const history = this.#history.get(name) ?? [];
    this.#history.set(name, history);
    const at = { partition: 0, offset: this.offset, index, timeMs };
    const numbered = { ...change, seq: history.length + 1, at } as FeedChange;
    history.push(numbered);
    if (numbered.channel === 'book') this.#apply(numbered);
    return numbered;
  }

  #apply({ market, levels }: BookChange): void {
    const book = this.#books.get(market) ?? new Map<string, Level>();
    this.#books.set(market, book);
    for (const level of levels) {
      if (level.sizeMicro === 0) book.delete(`${level.side}${level.price}`);
      else book.set(`${level.side}${level.price}`, level);
    }
  }

  list(markets: readonly number[]): void {
    this.#markets = new Set(markets);
  }

  partitionOf(market: number): number | null {
    return this.#markets.has(market) ? 0 : null;
  }

  *markets(): Generator<number> {
    yield* this.#markets;
  }

  snapshot(channel: MarketChannel, market: number): MarketSnapshot | null {
    if (!this.isCaughtUp || !this.#markets.has(market)) return null;
    const history = this.#history.get(`${channel}|${market}`) ?? [];
    const state = { market, seq: history.length, partition: 0, offset: this.offset, timeMs };
    const last = history.at(-1);
    switch (channel) {
      case 'book':
        return {
          ...state,
          channel,
          levels: [...(this.#books.get(market)?.values() ?? [])],
          facts: bookFacts,
        };
      case 'best': {
        const best =
          last?.channel === 'best' ? last : { bid: 0, ask: 0, bidSizeMicro: 0, askSizeMicro: 0 };
        const { bid, ask, bidSizeMicro, askSizeMicro } = best;
        return { ...state, channel, bid, ask, bidSizeMicro, askSizeMicro };
      }
      case 'orders':
        return { ...state, channel, orders: this.orders };
      case 'markets':
        return { ...state, channel, rules: this.rules };
      case 'trades':
      case 'activity':
        return { ...state, channel };
    }
  }

  seqOf(channel: MarketChannel, market: number): number | null {
    return this.snapshot(channel, market)?.seq ?? null;
  }

  ownSeqOf(wallet: WalletAddress): number {
    return this.#history.get(`own|${wallet}`)?.length ?? 0;
  }

  ownSnapshot(wallet: WalletAddress): OwnSnapshot {
    const balance = { freeMicro: 5_000_000, heldMicro: 0 };
    const place = { partition: 0, offset: this.offset, timeMs };
    const { ownOrders: orders, ownPositions: positions } = this;
    const seq = this.ownSeqOf(wallet);
    return { channel: 'own', wallet, seq, ...place, orders, balance, positions };
  }

  replay(request: ReplayRequest): FeedReplay | null {
    const history = this.#history.get(nameOf(request)) ?? [];
    const { from } = request;
    const missed =
      'seq' in from
        ? history.slice(from.seq)
        : history.filter(({ at }) => at.offset >= from.offset);
    if (missed.length > this.replayMax) return null;
    return { toSeq: history.length, pages: this.#pages(missed) };
  }

  async *#pages(missed: readonly FeedChange[]): AsyncGenerator<readonly FeedChange[]> {
    for (let first = 0; first < missed.length; first += 100) {
      await this.pageGate();
      yield missed.slice(first, first + 100);
    }
  }

  partitions(): readonly FeedPartition[] {
    const { isCaughtUp, offset, faultMs, isLive } = this;
    const fault = faultMs > 0 ? 'log_away' : null;
    const state = { epoch: this.epoch, offset, timeMs, lagRecords: 0, isCaughtUp };
    const first = { partition: 0, ...state, fault, faultMs, isLive, isAdded: false };
    const isAdded = this.growth === 'begun';
    const added = { ...first, partition: 1, isCaughtUp: !isAdded, isLive: !isAdded, isAdded };
    return this.growth === 'none' ? [first] : [first, added];
  }
}

function nameOf(
  change: { channel: 'own'; wallet: WalletAddress } | { channel: MarketChannel; market: number },
): string {
  return change.channel === 'own' ? `own|${change.wallet}` : `${change.channel}|${change.market}`;
}

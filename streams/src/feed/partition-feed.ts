import { Fault } from '@pm/kit/fault';
import { hexBytes, type WalletAddress } from '@pm/schemas/ids';
import type { EventOf, Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import type { MarketMode } from '@pm/schemas/log/types';
import type { BestChange, FeedChange, LogPosition, OwnOpenOrder, RulesChange } from './changes.ts';
import { type LastChange, MarketState } from './market-states.ts';
import { type FrozenOrders, OrderStates } from './order-states.ts';
import type { RecordPlace } from './position-index.ts';
import { type ChangeNumbers, eachTokensChange, RecordChanges } from './record-changes.ts';
import type { MarketChannel, MarketSnapshot, OwnSnapshot } from './snapshots.ts';
import { type FrozenWallets, noMoney, noTokens, WalletStates } from './wallet-states.ts';

/** Hex digits of the chain of the first record that name the log of a partition. */
const epochDigits = 16;

/** Entries of the state of a feed. */
export interface FeedCounts {
  readonly markets: number;
  readonly orders: number;
  readonly wallets: number;
  readonly positions: number;
}

/** How far a partition is folded. */
export interface FeedProgress {
  /** Null before the first record, and for a log whose beginning was deleted. */
  readonly epoch: string | null;
  /** Input offset of the newest record; -1 before the first. */
  readonly inOffset: number;
  /** Offset in `executions` after that record. */
  readonly nextOffset: number;
  /** Chain of that record, 32 bytes; null before the first. */
  readonly chain: Buffer | null;
  /** Clock of the partition after it, Unix milliseconds. */
  readonly timeMs: number;
  readonly tradingMode: MarketMode;
}

/** The state at one moment, until `thaw`. The markets are those of the fold: read them before the next record. */
export interface FrozenFeed {
  readonly partition: number;
  readonly progress: FeedProgress;
  readonly markets: readonly MarketState[];
  readonly wallets: FrozenWallets;
  readonly orders: FrozenOrders;
}

const nothing: FeedProgress = {
  epoch: null,
  inOffset: -1,
  nextOffset: 0,
  chain: null,
  timeMs: 0,
  tradingMode: 'OPEN',
};

/**
 * Folds the executions of one partition into the changes of channels. The same records give the same changes with the
 * same numbers, wherever the fold was stopped and restored. Money and tokens are sums since the first record.
 */
export class PartitionFeed {
  readonly partition: number;
  #progress: FeedProgress;
  readonly #markets = new Map<number, MarketState>();
  readonly #wallets: WalletStates;
  readonly #orders: OrderStates;
  readonly #numbers: ChangeNumbers;
  #place: RecordPlace = { inOffset: -1, offset: -1, timeMs: 0 };
  /** Markets whose levels the record changed, with the index of the last event of each. */
  readonly #touched = new Map<MarketState, number>();
  readonly #newRules: RulesChange[] = [];
  /** Orders before the events of the record that ended or filled them, by the index of the event. */
  readonly #openBefore = new Map<number, OwnOpenOrder>();

  /** Without `frozen` from the first record of the log. */
  constructor(partition: number, frozen?: Omit<FrozenFeed, 'partition'>) {
    this.partition = partition;
    this.#progress = frozen?.progress ?? nothing;
    for (const market of frozen?.markets ?? []) this.#markets.set(market.number, market);
    this.#wallets = new WalletStates(frozen?.wallets);
    const marketOf = (number: number): MarketState => this.#marketOf(number);
    this.#orders = new OrderStates({ wallets: this.#wallets, marketOf }, frozen?.orders);
    this.#orders.addLevels();
    this.#numbers = this.#numbersOfAll();
  }

  get progress(): FeedProgress {
    return this.#progress;
  }

  /** Sizes of the state, for metrics. */
  get counts(): FeedCounts {
    return {
      markets: this.#markets.size,
      orders: this.#orders.count,
      wallets: this.#wallets.count,
      positions: this.#wallets.positionCount,
    };
  }

  /**
   * The changes of the next record, which is at `offset` of `executions`. They hold views of the record's bytes. Throws
   * `feed_broken` (stop) when the record does not fit the state: then the state must be discarded.
   */
  take(execution: Execution, offset: number): readonly FeedChange[] {
    const { inOffset, timeMs } = execution;
    this.#place = { inOffset, offset, timeMs };
    const { events } = execution;
    for (let index = 0; index < events.length; index += 1)
      this.#apply(events[index] as ExecutionEvent, index);
    const changes = new RecordChanges(execution, this.partition, this.#numbers).fold();
    this.#addBest(changes);
    if (this.#newRules.length > 0) changes.push(...this.#newRules.splice(0));
    this.#openBefore.clear();
    this.#advance(execution, offset);
    return changes;
  }

  /** Numbers of listed markets, in the order of their first records. */
  *markets(): Generator<number> {
    for (const { number, rules } of this.#markets.values()) if (rules !== null) yield number;
  }

  /** Null when the market was not listed here. */
  market(number: number): MarketState | null {
    const market = this.#markets.get(number);
    return market === undefined || market.rules === null ? null : market;
  }

  get wallets(): WalletStates {
    return this.#wallets;
  }

  /** Null when the market was not listed here. */
  snapshot(channel: MarketChannel, number: number): MarketSnapshot | null {
    const market = this.market(number);
    const rules = market?.rulesUnder(this.#progress.tradingMode) ?? null;
    if (market === null || rules === null) return null;
    const { inOffset: offset, timeMs } = this.#progress;
    const seq = market.seqOf(channel);
    const state = { market: number, seq, partition: this.partition, offset, timeMs };
    switch (channel) {
      case 'book':
        return { ...state, channel, levels: market.levels(), facts: market.bookFacts() };
      case 'best':
        return { ...state, channel, ...market.best };
      case 'orders':
        return { ...state, channel, orders: this.#orders.ofMarket(market) };
      case 'markets':
        return { ...state, channel, rules };
      case 'trades':
      case 'activity':
        return { ...state, channel };
    }
  }

  /** Number of the newest change of a wallet; 0 before the first. */
  ownSeqOf(wallet: WalletAddress): number {
    const slot = this.#wallets.find(hexBytes(wallet));
    return slot === -1 ? 0 : this.#wallets.seqOf(slot);
  }

  ownSnapshot(wallet: WalletAddress): OwnSnapshot {
    const { inOffset: offset, timeMs } = this.#progress;
    const state = { channel: 'own', wallet, partition: this.partition, offset, timeMs } as const;
    const slot = this.#wallets.find(hexBytes(wallet));
    if (slot === -1) return { ...state, seq: 0, orders: [], balance: noMoney, positions: [] };
    return {
      ...state,
      seq: this.#wallets.seqOf(slot),
      orders: this.#orders.ofWallet(slot),
      balance: this.#wallets.moneyOf(slot),
      positions: this.#wallets.positionsOf(slot),
    };
  }

  /** The newest change of `best` or `markets`, which is the state; null before the first. */
  newestState(channel: 'best' | 'markets', number: number): BestChange | RulesChange | null {
    const market = this.market(number);
    const rules = market?.rulesUnder(this.#progress.tradingMode) ?? null;
    if (market === null || rules === null) return null;
    const seq = market.seqOf(channel);
    if (seq === 0) return null;
    if (channel === 'best') {
      const at = this.#positionOf(market.bestAt);
      return { channel, market: number, seq, at, ...market.best };
    }
    const action = rules.payout0 === null ? (seq === 1 ? 'listed' : 'changed') : 'resolved';
    return { channel, market: number, seq, at: this.#positionOf(market.rulesAt), action, rules };
  }

  /** The state at this moment. One at a time, until `thaw`. */
  freeze(): FrozenFeed {
    return {
      partition: this.partition,
      progress: this.#progress,
      markets: [...this.#markets.values()],
      wallets: this.#wallets.freeze(),
      orders: this.#orders.freeze(),
    };
  }

  thaw(): void {
    this.#wallets.thaw();
    this.#orders.thaw();
  }

  #apply(event: ExecutionEvent, index: number): void {
    switch (event.kind) {
      case 'OrderPlaced':
        this.#noteOpen(this.#orders.endDelay(event.orderId), index);
        if (event.restingMicro > 0) this.#orders.rest(event);
        return;
      case 'OrderDelayed':
        this.#orders.delay(event);
        return;
      case 'OrderRefused':
        this.#noteOpen(this.#orders.endDelay(event.orderId), index);
        return;
      case 'Fill':
        if (!this.#noteOpen(this.#orders.fill(event.makerOrderId, event.makerRestMicro), index))
          throw this.#broken(index);
        this.#bookOf(event.market).trade(event);
        this.#addTokens(event);
        return;
      case 'PositionMoved':
        this.#addTokens(event);
        return;
      case 'OrderCanceled':
        if (!this.#noteOpen(this.#orders.cancel(event.orderId), index)) throw this.#broken(index);
        return;
      case 'MoneyMoved':
        this.#wallets.addMoney(this.#wallets.intern(event.wallet), event);
        return;
      default:
        this.#applyToMarket(event, index);
    }
  }

  /** Keeps an order as it was before an event; false when there was none. */
  #noteOpen(order: OwnOpenOrder | null, index: number): boolean {
    if (order !== null) this.#openBefore.set(index, order);
    return order !== null;
  }

  #applyToMarket(event: ExecutionEvent, index: number): void {
    switch (event.kind) {
      case 'LevelChanged': {
        const market = this.#bookOf(event.market);
        market.setLevel(event);
        this.#touched.set(market, index);
        return;
      }
      case 'TopChanged':
        this.#checkTop(event, index);
        return;
      case 'MarketSet':
        this.#setRules(event, index);
        return;
      case 'MarketResolved':
        this.#marketOf(event.market).resolve(event.payout0);
        this.#addRules(this.#marketOf(event.market), 'resolved', index);
        return;
      case 'TradingModeSet':
        this.#setTradingMode(event.mode, index);
        return;
      default:
        return;
    }
  }

  #addTokens(event: Extract<ExecutionEvent, { kind: 'Fill' | 'PositionMoved' }>): void {
    eachTokensChange(event, (wallet, market, change) => {
      this.#wallets.addTokens(this.#wallets.intern(wallet), market, change);
    });
  }

  /** Tops come after all levels of their record. */
  #checkTop({ market: number, bid, ask }: EventOf<'TopChanged'>, index: number): void {
    const market = this.#bookOf(number);
    if (bid !== market.bids.highest || ask !== market.asks.lowest) throw this.#broken(index);
    this.#touched.set(market, index);
  }

  #setRules(event: EventOf<'MarketSet'>, index: number): void {
    const market = this.#bookOf(event.market);
    const isKnown = market.rules !== null;
    if (market.setRules(event)) this.#addRules(market, isKnown ? 'changed' : 'listed', index);
  }

  #setTradingMode(tradingMode: MarketMode, index: number): void {
    if (tradingMode === this.#progress.tradingMode) return;
    this.#progress = { ...this.#progress, tradingMode };
    const open = [...this.#markets.values()].filter(({ rules }) => rules?.payout0 === null);
    open.sort((one, other) => one.number - other.number);
    for (const market of open) this.#addRules(market, 'changed', index);
  }

  #addRules(market: MarketState, action: RulesChange['action'], index: number): void {
    const rules = market.rulesUnder(this.#progress.tradingMode);
    if (rules === null) return;
    const seq = market.count('markets', this.#place);
    market.rulesAt = this.#lastChange(index);
    const at = this.#positionOf(market.rulesAt);
    this.#newRules.push({ channel: 'markets', market: market.number, seq, at, action, rules });
  }

  #addBest(changes: FeedChange[]): void {
    for (const [market, index] of this.#touched) {
      const best = market.currentBest();
      if (best === market.best) continue;
      market.best = best;
      market.bestAt = this.#lastChange(index);
      const seq = market.count('best', this.#place);
      const at = this.#positionOf(market.bestAt);
      changes.push({ channel: 'best', market: market.number, seq, at, ...best });
    }
    this.#touched.clear();
  }

  #advance({ inOffset, timeMs, chain }: Execution, offset: number): void {
    const epoch =
      inOffset === 0 ? chain.toString('hex').slice(0, epochDigits) : this.#progress.epoch;
    const { tradingMode } = this.#progress;
    this.#progress = {
      epoch,
      inOffset,
      nextOffset: offset + 1,
      // A copy, so that the chain does not keep the whole fetch in memory.
      chain: Buffer.from(chain),
      timeMs,
      tradingMode,
    };
  }

  /** The market of an event that belongs to its book. */
  #bookOf(number: number): MarketState {
    const market = this.#marketOf(number);
    market.bookTimeMs = this.#place.timeMs;
    return market;
  }

  #marketOf(number: number): MarketState {
    const known = this.#markets.get(number);
    if (known !== undefined) return known;
    const market = new MarketState(number);
    this.#markets.set(number, market);
    return market;
  }

  #lastChange(index: number): LastChange {
    return { offset: this.#place.inOffset, index, timeMs: this.#place.timeMs };
  }

  #positionOf({ offset, index, timeMs }: LastChange): LogPosition {
    return { partition: this.partition, offset, index, timeMs };
  }

  #numbersOfAll(): ChangeNumbers {
    const wallets = this.#wallets;
    return {
      next: (channel, market) => this.#marketOf(market).count(channel, this.#place),
      wantsWallet: () => true,
      nextOwn: (wallet) => wallets.countChange(wallets.intern(wallet), this.#place),
      moneyOf: (wallet) => wallets.moneyOf(wallets.intern(wallet)),
      openBefore: (index) => this.#openBefore.get(index) ?? null,
      tokensOf: (wallet, market) => {
        const slot = wallets.find(wallet);
        return slot === -1 ? noTokens : wallets.tokensOf(slot, market);
      },
    };
  }

  #broken(index: number): Fault {
    const { inOffset } = this.#place;
    return new Fault('feed_broken', 'stop', {
      facts: { partition: this.partition, inOffset, index },
    });
  }
}

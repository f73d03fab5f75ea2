import type { EventOf, Fill } from '@pm/schemas/log/executions';
import type { MarketMode, Side } from '@pm/schemas/log/types';
import type { Level, LogPosition, MarketRules } from './changes.ts';
import { Ladder } from './ladder.ts';
import { indexedChannels, MarketIndex, type RecordPlace } from './position-index.ts';
import {
  type BestPrices,
  type BookFacts,
  type MarketChannel,
  marketChannels,
} from './snapshots.ts';

const noBest: BestPrices = { bid: 0, ask: 0, bidSizeMicro: 0, askSizeMicro: 0 };

/** A change without its position: where a record changed the state of a channel last. */
export type LastChange = Pick<LogPosition, 'offset' | 'index' | 'timeMs'>;

/** State of one market in the fold. */
export class MarketState {
  readonly number: number;
  readonly bids = new Ladder();
  readonly asks = new Ladder();
  /** Rules of the market itself; null before it was listed. */
  rules: Omit<MarketRules, 'tradingMode'> | null = null;
  best: BestPrices = noBest;
  /** The newest changes of `best` and `markets`. */
  bestAt: LastChange = neverChanged;
  rulesAt: LastChange = neverChanged;
  /** Clock after the last record with a level, best price, fill or rules of the market: the time of GET /book. */
  bookTimeMs = 0;
  /** Price of the last trade of each token, 1/10000 USDC; null before the first. */
  lasts: readonly [number | null, number | null] = [null, null];
  /** Slots of its oldest and newest resting order; -1 for none. */
  firstOrder = -1;
  lastOrder = -1;
  /** Numbers of the newest changes, by `marketChannels`. */
  readonly seqs: number[] = marketChannels.map(() => 0);
  index = new MarketIndex();
  /** Input offset of the last record that changed a channel. */
  #changedAt = -1;

  constructor(number: number) {
    this.number = number;
  }

  seqOf(channel: MarketChannel): number {
    return this.seqs[marketChannels.indexOf(channel)] ?? 0;
  }

  /** The number of the next change of a channel. */
  count(channel: MarketChannel, place: RecordPlace): number {
    if (this.#changedAt !== place.inOffset) {
      this.#changedAt = place.inOffset;
      this.index.mark(
        place,
        indexedPlaces.map((at) => this.seqs[at] ?? 0),
      );
    }
    const at = marketChannels.indexOf(channel);
    const seq = (this.seqs[at] ?? 0) + 1;
    this.seqs[at] = seq;
    return seq;
  }

  setLevel({ side, price, sizeMicro }: Level): void {
    (side === 'BUY' ? this.bids : this.asks).set(price, sizeMicro);
  }

  levels(): readonly Level[] {
    const levels: Level[] = [];
    const add = (side: Side) => (price: number, sizeMicro: number) =>
      levels.push({ side, price, sizeMicro });
    this.bids.each(add('BUY'));
    this.asks.each(add('SELL'));
    return levels;
  }

  /** Best prices of the levels; the same object as before when nothing changed. */
  currentBest(): BestPrices {
    const { bids, asks, best } = this;
    const [bid, ask] = [bids.highest, asks.lowest];
    const bidSizeMicro = bids.sizeOf(bid);
    const askSizeMicro = asks.sizeOf(ask);
    const isSame =
      bid === best.bid &&
      ask === best.ask &&
      bidSizeMicro === best.bidSizeMicro &&
      askSizeMicro === best.askSizeMicro;
    return isSame ? best : { bid, ask, bidSizeMicro, askSizeMicro };
  }

  bookFacts(): BookFacts {
    const { bookTimeMs: timeMs, rules, lasts } = this;
    return { timeMs, tick: rules?.tick ?? 0, minSizeMicro: rules?.minSizeMicro ?? 0, lasts };
  }

  /** A mint or merge is a trade of both tokens, each at its own price. */
  trade({ match, takerOutcome, takerPrice, makerPrice }: Fill): void {
    const [last0, last1] = this.lasts;
    const isBoth = match !== 'COMPLEMENTARY';
    const other = (last: number | null) => (isBoth ? makerPrice : last);
    this.lasts = takerOutcome === 0 ? [takerPrice, other(last1)] : [other(last0), takerPrice];
  }

  /** Takes the rules of a listing over; false when they are what they were. */
  setRules(event: EventOf<'MarketSet'>): boolean {
    const { tick, minSizeMicro, feeRateBps, mode, takerDelayMs } = event;
    const { rules } = this;
    const isSame =
      rules !== null &&
      rules.tick === tick &&
      rules.minSizeMicro === minSizeMicro &&
      rules.feeRateBps === feeRateBps &&
      rules.mode === mode &&
      rules.takerDelayMs === takerDelayMs;
    if (isSame) return false;
    const payout0 = rules?.payout0 ?? null;
    this.rules = { tick, minSizeMicro, feeRateBps, mode, takerDelayMs, payout0 };
    return true;
  }

  resolve(payout0: number): void {
    if (this.rules !== null) this.rules = { ...this.rules, mode: 'RESOLVED', payout0 };
  }

  rulesUnder(tradingMode: MarketMode): MarketRules | null {
    return this.rules === null ? null : { ...this.rules, tradingMode };
  }
}

const neverChanged: LastChange = { offset: -1, index: -1, timeMs: 0 };
const indexedPlaces = indexedChannels.map((channel) => marketChannels.indexOf(channel));

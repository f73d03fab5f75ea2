import { complementPrice, type Fill, notionalMicro, type Side } from '@pm/schemas';
import { PriceLevels } from './levels.ts';

/** Last trade of one token: its price, and the side the aggressor took in terms of that token. */
export interface LastTrade {
  readonly price: number;
  readonly side: Side;
}

/** The book of a market in terms of token 0, and what its answers show besides. */
export class MarketBook {
  readonly market: number;
  readonly bids = new PriceLevels();
  readonly asks = new PriceLevels();
  readonly lasts: [LastTrade | null, LastTrade | null] = [null, null];
  /** Price of token 0 at the newest trade of the market; of the trades of one record the last one of token 1 counts, if there is any. */
  marketLast: number | null = null;
  tick = 0;
  minSizeMicro = 0;
  timeMs = 0;
  /** in_offset of the last record folded in; -1 for a market that was never listed. */
  version = -1;

  /** The record in which token 1 was traded last. */
  #token1Version = -1;

  constructor(market: number) {
    this.market = market;
  }

  /** Micro-USDC that the resting orders would cost: bids at their price, asks as bids of the other token. */
  get liquidityMicro(): number {
    const bids = this.bids.sum(notionalMicro);
    return (
      bids + this.asks.sum((price, sizeMicro) => notionalMicro(complementPrice(price), sizeMicro))
    );
  }

  /**
   * A mint or merge is a trade of both tokens, each at its own price. Who takes a buyer of the other token acts as a seller
   * of that token, and the other way round.
   */
  trade(fill: Fill): void {
    this.#take(slot(fill.takerOutcome), { price: fill.takerPrice, side: fill.takerSide });
    if (fill.match === 'COMPLEMENTARY') return;
    const side = fill.makerSide === 'BUY' ? 'SELL' : 'BUY';
    this.#take(slot(fill.makerOutcome), { price: fill.makerPrice, side });
  }

  #take(outcome: 0 | 1, trade: LastTrade): void {
    this.lasts[outcome] = trade;
    if (outcome === 1) this.#token1Version = this.version;
    if (outcome === 1) this.marketLast = complementPrice(trade.price);
    else if (this.#token1Version !== this.version) this.marketLast = trade.price;
  }
}

function slot(outcome: number): 0 | 1 {
  return outcome === 0 ? 0 : 1;
}

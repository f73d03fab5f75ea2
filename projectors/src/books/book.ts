import type { Fill } from '@pm/schemas/log/executions';
import type { Side } from '@pm/schemas/log/types';
import { complementPrice, notionalMicro } from '@pm/schemas/money';
import { PriceLevels } from './levels.ts';

/** Last trade of one token: its price, and the side of the taker in terms of that token. */
export interface LastTrade {
  readonly price: number;
  readonly side: Side;
}

/** The book of a market in terms of token 0, with the last trades and rules shown with it. */
export class MarketBook {
  readonly market: number;
  readonly bids = new PriceLevels();
  readonly asks = new PriceLevels();
  readonly lasts: [LastTrade | null, LastTrade | null] = [null, null];
  /**
   * Price of token 0 at the newest trade of the market; in a record with trades of token 1 the last of those counts.
   */
  marketLast: number | null = null;
  tick = 0;
  minSizeMicro = 0;
  timeMs = 0;
  /** Input offset of the last record folded; -1 for a market that was never listed. */
  version = -1;

  /** Input offset of the last record with a trade of token 1. */
  #token1Version = -1;

  constructor(market: number) {
    this.market = market;
  }

  /** Cost of the resting orders, micro-USDC: bids at their price, asks as bids of the other token. */
  get liquidityMicro(): number {
    const bids = this.bids.sum(notionalMicro);
    return (
      bids + this.asks.sum((price, sizeMicro) => notionalMicro(complementPrice(price), sizeMicro))
    );
  }

  /**
   * A mint or merge is a trade of both tokens, each at its own price. A taker that matches a buyer of the other token
   * is a seller of that token, and vice versa.
   */
  trade(fill: Fill): void {
    this.#setLast(slot(fill.takerOutcome), { price: fill.takerPrice, side: fill.takerSide });
    if (fill.match === 'COMPLEMENTARY') return;
    const side = fill.makerSide === 'BUY' ? 'SELL' : 'BUY';
    this.#setLast(slot(fill.makerOutcome), { price: fill.makerPrice, side });
  }

  #setLast(outcome: 0 | 1, trade: LastTrade): void {
    this.lasts[outcome] = trade;
    if (outcome === 1) this.#token1Version = this.version;
    if (outcome === 1) this.marketLast = complementPrice(trade.price);
    else if (this.#token1Version !== this.version) this.marketLast = trade.price;
  }
}

function slot(outcome: number): 0 | 1 {
  return outcome === 0 ? 0 : 1;
}

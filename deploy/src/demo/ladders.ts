import type { OrderIntent } from '@pm/client';
import type { DemoMarket } from './market-maker.ts';
import type { RecordedTrade } from './recordings.ts';
import type { TradingAccount } from './trading-account.ts';

/** Prices of recorded trades are averages and off the grid; the tick of their markets is a tenth of a cent. */
export const ticksPerUsdc = 1_000;

/** Price levels on each side of a ladder, and shares at the best of them; the second has twice as many, and so on. */
const levelsPerSide = 6;
const bestLevelShares = 60;

/** Price of token 0 of a trade, ticks. */
export function token0Ticks({ outcome, price }: RecordedTrade): number {
  const ticks = Math.round(price * ticksPerUsdc);
  return outcome === 0 ? ticks : ticksPerUsdc - ticks;
}

/**
 * Levels around a price of token 0, as BUY orders of both tokens: they need no tokens. Fewer than `levelsPerSide` where
 * the price is near 0 or 1 USDC.
 */
export function ladderOrders(market: DemoMarket, ticks: number): OrderIntent[] {
  const orders: OrderIntent[] = [];
  for (let level = 1; level <= levelsPerSide; level += 1) {
    const size = String(bestLevelShares * level);
    const prices = [ticks - level, ticksPerUsdc - ticks - level] as const;
    for (const outcome of [0, 1] as const) {
      if (prices[outcome] < 1 || prices[outcome] >= ticksPerUsdc) continue;
      const price = String(prices[outcome] / ticksPerUsdc);
      orders.push({ tokenId: market.tokenIds[outcome], side: 'BUY', price, size });
    }
  }
  return orders;
}

/** Ladders of one account, one in each market with recorded trades; each moves with the price of the last trade. */
export class Ladders {
  readonly #account: Pick<TradingAccount, 'cancelMarket' | 'place'>;
  readonly #ticks = new Map<string, number>();

  constructor(account: Pick<TradingAccount, 'cancelMarket' | 'place'>) {
    this.#account = account;
  }

  async follow(trade: RecordedTrade, market: DemoMarket): Promise<void> {
    await this.moveTo(market, token0Ticks(trade));
  }

  /** `ticks`: price of token 0. */
  async moveTo(market: DemoMarket, ticks: number): Promise<void> {
    if (this.#ticks.get(market.slug) === ticks) return;
    this.#ticks.set(market.slug, ticks);
    await this.#account.cancelMarket(market.conditionId);
    await this.#account.place(ladderOrders(market, ticks));
  }
}

import type { OrderIntent } from '@pm/client';
import type { PlacementResult } from '@pm/schemas';
import type { Desk } from './desk.ts';
import type { DemoMarket } from './market-maker.ts';
import type { RecordedTrade } from './recordings.ts';

/** Recorded trades reach a million shares; the demo cuts them so that its wallets last. */
export const tradeSizeMaxShares = 1_000;

/** Prices are averages over a transaction and off the grid; the market's tick is a tenth of a cent. */
const ticksPerUsdc = 1_000;

/** Shares of each token that an account holds, as far as its own results tell. */
class Holdings {
  readonly #shares = new Map<string, number>();

  of(tokenId: string): number {
    return this.#shares.get(tokenId) ?? 0;
  }

  add(tokenId: string, shares: number): void {
    this.#shares.set(tokenId, this.of(tokenId) + shares);
  }
}

/** Plays recorded trades: a maker rests what the taker is going to meet, then the taker trades. */
export class TradePlayer {
  readonly #maker: Desk;
  readonly #takers: readonly Desk[];
  readonly #makerHoldings = new Holdings();
  readonly #takerHoldings: readonly Holdings[];

  constructor(maker: Desk, takers: readonly Desk[]) {
    this.#maker = maker;
    this.#takers = takers;
    this.#takerHoldings = takers.map(() => new Holdings());
  }

  async play(trade: RecordedTrade, market: DemoMarket): Promise<void> {
    const index = indexOf(trade.trader, this.#takers.length);
    const taker = this.#takers[index];
    const holdings = this.#takerHoldings[index];
    if (taker === undefined || holdings === undefined) return;
    const size = Math.min(tradeSizeMaxShares, Math.floor(trade.size * 100) / 100);
    const ticks = Math.round(trade.price * ticksPerUsdc);
    if (size < 5 || ticks < 1 || ticks >= ticksPerUsdc) return;
    const meant = { outcome: trade.outcome, side: trade.side, ticks, size };
    await this.#send(this.#maker, this.#makerHoldings, counterOf(meant), { market, order: 'GTC' });
    await this.#send(taker, holdings, meant, { market, order: 'FAK' });
  }

  async #send(
    desk: Desk,
    holdings: Holdings,
    meant: Meant,
    how: { market: DemoMarket; order: 'GTC' | 'FAK' },
  ): Promise<void> {
    const wanted = coverable(meant, holdings, how.market);
    const intent: OrderIntent = {
      tokenId: how.market.tokenIds[wanted.outcome],
      side: wanted.side,
      price: String(wanted.ticks / ticksPerUsdc),
      size: String(wanted.size),
      timeInForce: how.order,
    };
    const [result] = await desk.place([intent]);
    if (result?.success) noteFills(holdings, intent, result);
  }
}

interface Meant {
  readonly outcome: 0 | 1;
  readonly side: 'BUY' | 'SELL';
  readonly ticks: number;
  readonly size: number;
}

/** Who takes the other side at the same price. */
function counterOf(meant: Meant): Meant {
  return { ...meant, side: meant.side === 'BUY' ? 'SELL' : 'BUY' };
}

/** Selling what one does not hold is buying the other token at the rest of one USDC. */
function coverable(meant: Meant, holdings: Holdings, market: DemoMarket): Meant {
  if (meant.side === 'BUY' || holdings.of(market.tokenIds[meant.outcome]) >= meant.size)
    return meant;
  const outcome = meant.outcome === 0 ? 1 : 0;
  return { ...meant, outcome, side: 'BUY', ticks: ticksPerUsdc - meant.ticks };
}

/** A resting order may fill later; what it holds is then found out by a refusal at worst. */
function noteFills(holdings: Holdings, intent: OrderIntent, result: PlacementResult): void {
  if (intent.side === 'BUY') holdings.add(intent.tokenId, Number(result.takingAmount));
  else holdings.add(intent.tokenId, -Number(intent.size));
}

function indexOf(name: string, count: number): number {
  let sum = 0;
  for (const char of name) sum = (sum * 31 + char.charCodeAt(0)) % 100_003;
  return sum % count;
}

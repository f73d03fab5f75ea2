import type { OrderIntent, Placement } from '@pm/client';
import { ticksPerUsdc } from './ladders.ts';
import type { DemoMarket } from './market-maker.ts';
import type { RecordedTrade } from './recordings.ts';
import type { TradingAccount } from './trading-account.ts';

/** Recorded trades reach a million shares; the demo cuts them so that its wallets last. */
export const tradeSizeMaxShares = 1_000;

/** Shares of each token that an account holds, by the results of its own orders. */
class Holdings {
  readonly #shares = new Map<string, number>();

  of(tokenId: string): number {
    return this.#shares.get(tokenId) ?? 0;
  }

  add(tokenId: string, shares: number): void {
    this.#shares.set(tokenId, this.of(tokenId) + shares);
  }
}

/** Plays recorded trades: a maker places the resting order, then the taker trades with it. */
export class TradePlayer {
  readonly #maker: TradingAccount;
  readonly #takers: readonly TradingAccount[];
  readonly #makerHoldings = new Holdings();
  readonly #takerHoldings: readonly Holdings[];

  constructor(maker: TradingAccount, takers: readonly TradingAccount[]) {
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
    const intended = { outcome: trade.outcome, side: trade.side, ticks, size };
    await this.#send(this.#maker, this.#makerHoldings, counterOf(intended), {
      market,
      order: 'GTC',
    });
    await this.#send(taker, holdings, intended, { market, order: 'FAK' });
  }

  async #send(
    account: TradingAccount,
    holdings: Holdings,
    intended: Intended,
    how: { market: DemoMarket; order: 'GTC' | 'FAK' },
  ): Promise<void> {
    const wanted = coverable(intended, holdings, how.market);
    const intent: OrderIntent = {
      tokenId: how.market.tokenIds[wanted.outcome],
      side: wanted.side,
      price: String(wanted.ticks / ticksPerUsdc),
      size: String(wanted.size),
      timeInForce: how.order,
    };
    const [result] = await account.place([intent]);
    if (result?.success) noteFills(holdings, intent, result);
  }
}

/**
 * An order of a taker that meets quotes in ticks of token 0: buys token 0 at the ask, or token 1 at one USDC less the
 * bid.
 */
export function crossingOrder(
  { market, bid, ask }: { readonly market: DemoMarket; readonly bid: number; readonly ask: number },
  { isYes, shares }: { readonly isYes: boolean; readonly shares: number },
): OrderIntent {
  const ticks = isYes ? ask : ticksPerUsdc - bid;
  const price = ticks / ticksPerUsdc;
  // An order that trades at once is worth a dollar at least.
  const size = String(Math.max(shares, Math.ceil(2 / price)));
  const tokenId = market.tokenIds[isYes ? 0 : 1];
  return { tokenId, side: 'BUY', price: String(price), size, timeInForce: 'FAK' };
}

interface Intended {
  readonly outcome: 0 | 1;
  readonly side: 'BUY' | 'SELL';
  readonly ticks: number;
  readonly size: number;
}

/** The other side at the same price. */
function counterOf(intended: Intended): Intended {
  return { ...intended, side: intended.side === 'BUY' ? 'SELL' : 'BUY' };
}

/** A SELL without tokens becomes a BUY of the other token at one USDC less the price. */
function coverable(intended: Intended, holdings: Holdings, market: DemoMarket): Intended {
  if (intended.side === 'BUY' || holdings.of(market.tokenIds[intended.outcome]) >= intended.size)
    return intended;
  const outcome = intended.outcome === 0 ? 1 : 0;
  return { ...intended, outcome, side: 'BUY', ticks: ticksPerUsdc - intended.ticks };
}

/** A resting order may fill later; then the count is too low, and at worst an order is refused. */
function noteFills(holdings: Holdings, intent: OrderIntent, result: Placement): void {
  if (intent.side === 'BUY') holdings.add(intent.tokenId, Number(result.takingAmount));
  else holdings.add(intent.tokenId, -Number(intent.size));
}

function indexOf(name: string, count: number): number {
  let sum = 0;
  for (const char of name) sum = (sum * 31 + char.charCodeAt(0)) % 100_003;
  return sum % count;
}

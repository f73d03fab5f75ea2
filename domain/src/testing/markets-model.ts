import { complementPrice, notionalMicro } from '@pm/schemas/money';
import { insolventPerCallMax, type MarketBreach, type MarketChange } from '../ledger/ledger.ts';

interface MarketSums {
  token0: number;
  token1: number;
  locked: number;
  payout0: number | null;
  gaps: readonly [number, number];
}

/** Markets of `LedgerModel`: their tokens, the USDC locked for them, and the gaps between them. */
export class MarketsModel {
  readonly #markets = new Map<string, MarketSums>();
  readonly #breaches = new Map<string, MarketBreach>();

  apply(change: MarketChange, place: string): void {
    const { market, suspects } = change;
    const before = this.#markets.get(market) ?? noSums;
    const now = {
      token0: before.token0 + change.token0Micro,
      token1: before.token1 + change.token1Micro,
      locked: before.locked + change.lockedMicro,
      payout0: change.payout0 ?? before.payout0,
    };
    const gaps = gapsOf(now);
    this.#markets.set(market, { ...now, gaps });
    const [gap0Micro, gap1Micro] = gaps;
    const isKnown = gap0Micro === before.gaps[0] && gap1Micro === before.gaps[1];
    if (isKnown || (gap0Micro === 0 && gap1Micro === 0)) return;
    const entry = [gap0Micro, gap1Micro, place, suspects.join(',')].join(' ');
    this.#breaches.set(market, { market, gap0Micro, gap1Micro, place, suspects, entry });
  }

  breaches(): readonly MarketBreach[] {
    return [...this.#breaches.values()].slice(0, insolventPerCallMax);
  }

  acknowledge({ market, entry }: MarketBreach): void {
    if (this.#breaches.get(market)?.entry === entry) this.#breaches.delete(market);
  }
}

const noSums: MarketSums = { token0: 0, token1: 0, locked: 0, payout0: null, gaps: [0, 0] };

function gapsOf(sums: Omit<MarketSums, 'gaps'>): readonly [number, number] {
  const { token0, token1, locked, payout0 } = sums;
  if (payout0 === null) return [token0 - locked, token1 - locked];
  const due = notionalMicro(payout0, token0) + notionalMicro(complementPrice(payout0), token1);
  return [due - locked, 0];
}

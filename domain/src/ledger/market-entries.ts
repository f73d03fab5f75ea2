import type { MarketChange } from './ledger.ts';
import type { LedgerImage } from './ledger-image.ts';

/** Tokens of a market and the USDC locked for them, with the gaps between; `payout0` is null before the resolution. */
interface MarketSums {
  readonly sum0: number;
  readonly sum1: number;
  readonly locked: number;
  readonly payout0: number | null;
  readonly gap0: number;
  readonly gap1: number;
}

/** Markets of the ledger, in the form of their entries in Redis (`moveMarketFunction` in ledger-lua.ts). */
export class MarketEntries {
  readonly entries = new Map<string, string>();
  /** Gaps that were found, with their place and suspects. */
  readonly breaches = new Map<string, string>();

  load({ markets, breaches }: Pick<LedgerImage, 'markets' | 'breaches'>): void {
    for (const [market, entry] of markets) this.entries.set(market, entry);
    for (const [market, entry] of breaches) this.breaches.set(market, entry);
  }

  /** `place`: "partition:offset" after the piece with the change. */
  move(change: MarketChange, place: string): void {
    const { market, suspects } = change;
    const before = sumsOf(this.entries.get(market) ?? '0 0 0 - 0 0');
    const after = changed(before, change);
    this.entries.set(market, entryOf(after));
    const isGap = after.gap0 !== 0 || after.gap1 !== 0;
    if (!isGap || (after.gap0 === before.gap0 && after.gap1 === before.gap1)) return;
    this.breaches.set(market, `${after.gap0} ${after.gap1} ${place} ${suspects.join(',')}`);
  }
}

function changed(before: MarketSums, change: MarketChange): MarketSums {
  const sum0 = before.sum0 + change.token0Micro;
  const sum1 = before.sum1 + change.token1Micro;
  const locked = before.locked + change.lockedMicro;
  const payout0 = change.payout0 ?? before.payout0;
  if (payout0 === null)
    return { sum0, sum1, locked, payout0, gap0: sum0 - locked, gap1: sum1 - locked };
  const payouts = payout0 * (sum0 / 10_000) + (10_000 - payout0) * (sum1 / 10_000);
  return { sum0, sum1, locked, payout0, gap0: toEven(payouts - locked), gap1: 0 };
}

function sumsOf(entry: string): MarketSums {
  const [sum0, sum1, locked, payout0, gap0, gap1] = entry.split(' ');
  return {
    sum0: Number(sum0),
    sum1: Number(sum1),
    locked: Number(locked),
    payout0: payout0 === '-' ? null : Number(payout0),
    gap0: Number(gap0),
    gap1: Number(gap1),
  };
}

function entryOf({ sum0, sum1, locked, payout0, gap0, gap1 }: MarketSums): string {
  return `${sum0} ${sum1} ${locked} ${payout0 ?? '-'} ${gap0} ${gap1}`;
}

/** Rounds as `%.0f` does: a half goes to the even neighbour. Never -0. */
function toEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return Math.round(value) + 0;
  return (below % 2 === 0 ? below : below + 1) + 0;
}

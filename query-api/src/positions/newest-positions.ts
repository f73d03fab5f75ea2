import type { Outcome } from '@pm/domain/markets/market';
import type { PositionSums } from '@pm/domain/positions/position';
import { applyTrade } from '@pm/domain/positions/position-trades';
import type { HeldRow } from '@pm/domain/positions/positions';
import type { HoldingChange } from '../recent/record-rows.ts';

/** A row of `positions`. */
export interface StoredPosition extends HeldRow {
  readonly partition: number;
  /** Input offset of the last record it includes. */
  readonly version: number;
}

/** Payout of a token in a resolved market, 1/10000 USDC; null while none is known. */
export type PayoutOf = (market: number, outcome: Outcome) => number | null;

const nothing: PositionSums = {
  sizeMicro: 0,
  costMicro: 0,
  totalBoughtMicro: 0,
  sharesBoughtMicro: 0,
  realizedMicro: 0,
};

/**
 * The positions of one wallet: stored ones and the recent changes that they do not include, by the rule of the
 * projectors. A row's version speaks for whole records, so what is in both counts once. Throws `BrokenLog` when more is
 * sold than is held.
 */
export function foldPositions(
  stored: readonly StoredPosition[],
  changes: readonly HoldingChange[],
  payoutOf: PayoutOf,
): readonly HeldRow[] {
  const found = new Map(stored.map((row) => [nameOf(row), { ...row }]));
  const versions = new Map(stored.map((row) => [nameOf(row), row.version]));
  for (const change of changes) {
    const name = nameOf(change);
    if (change.inOffset <= (versions.get(name) ?? -1)) continue;
    const { market, outcome, changeMicro, timeMs } = change;
    const sums = found.get(name) ?? { ...nothing, market, outcome };
    const price = change.price ?? payoutOf(market, outcome) ?? 0;
    const side = changeMicro > 0 ? 'BUY' : 'SELL';
    applyTrade(sums, { side, sizeMicro: Math.abs(changeMicro), price });
    found.set(name, { ...sums, ...placeOf(change), updatedS: Math.floor(timeMs / 1000) });
  }
  return [...found.values()];
}

function placeOf({ partition, inOffset: version }: HoldingChange) {
  return { partition, version };
}

function nameOf({ market, outcome }: Pick<HeldRow, 'market' | 'outcome'>): string {
  return `${market}:${outcome}`;
}

import type { Outcome } from '@pm/domain/markets/market';
import type { HoldingChange } from '../recent/record-rows.ts';

/** Balance of a token in a wallet; shares in millionths. */
export interface Holding {
  /** Lower case. */
  readonly wallet: string;
  readonly market: number;
  readonly outcome: Outcome;
  readonly sizeMicro: number;
}

/** A row of `positions`. */
export interface StoredHolding extends Holding {
  /** Input offset of the last record it includes. */
  readonly version: number;
}

/** Stored sizes and the recent changes that they do not include. A row's version speaks for whole records. */
export function foldHoldings(
  stored: readonly StoredHolding[],
  changes: readonly HoldingChange[],
): readonly Holding[] {
  const found = new Map(stored.map((row) => [keyOf(row), { ...row }]));
  const versions = new Map(stored.map((row) => [keyOf(row), row.version]));
  for (const change of changes) {
    const key = keyOf(change);
    if (change.inOffset <= (versions.get(key) ?? -1)) continue;
    const { wallet, market, outcome, changeMicro } = change;
    const before = found.get(key) ?? { wallet, market, outcome, sizeMicro: 0, version: -1 };
    found.set(key, { ...before, sizeMicro: before.sizeMicro + changeMicro });
  }
  return [...found.values()]
    .filter(({ sizeMicro }) => sizeMicro > 0)
    .map(({ wallet, market, outcome, sizeMicro }) => ({ wallet, market, outcome, sizeMicro }));
}

function keyOf(key: Pick<Holding, 'wallet' | 'market' | 'outcome'>): string {
  return `${key.wallet}:${key.market}:${key.outcome}`;
}

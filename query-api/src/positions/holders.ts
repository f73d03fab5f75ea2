import { type ConditionId, type HolderGroup, parseConditionId } from '@pm/schemas';
import { unitsOf } from '../books/quote.ts';
import { QueryReader, type RawQuery } from '../door/query-reader.ts';
import type { ReadRefusal } from '../door/refusal.ts';
import type { Market, Outcome } from '../markets/market.ts';
import type { Profiles } from '../social/profiles.ts';
import { type AssetForm, assetId } from './positions.ts';
import { readMicro } from './positions-query.ts';

export interface HoldersQuery {
  readonly conditions: readonly ConditionId[];
  readonly limit: number;
  readonly minBalanceMicro: number;
}

/** One wallet's balance of one token. */
export interface HolderRow {
  readonly market: number;
  readonly outcome: Outcome;
  /** Lower case. */
  readonly wallet: string;
  readonly sizeMicro: number;
}

/** Holders of a token, as published for GET /holders. */
export const holdersMax = 500;
const holdersDefault = 100;
/**
 * Markets of one request: one statement reads and sorts all holders of all of them, and an answer has at most 50,000.
 */
export const holderMarketsMax = 50;

/** The parameters of GET /holders, or why not. */
export function readHoldersQuery(query: RawQuery, strict: boolean): HoldersQuery | ReadRefusal {
  const read = new QueryReader(query, 'data');
  if (strict) read.onlyKnown(['market', 'limit', 'minBalance']);
  const conditions = read.list('market', holderMarketsMax, parseConditionId);
  if (conditions === null || conditions.length === 0) read.missing('market');
  const limit = read.integer('limit', { min: 0, max: holdersMax, otherwise: holdersDefault });
  const minBalanceMicro = readMicro(read, 'minBalance', '1');
  return read.refusal ?? { conditions: [...new Set(conditions ?? [])], limit, minBalanceMicro };
}

/** One group per token of each market, in the requested order; rows come sorted by amount (conventions.md 6.3). */
export function holderGroups(
  markets: readonly Market[],
  rows: readonly HolderRow[],
  { form, profiles }: { readonly form: AssetForm; readonly profiles: Pick<Profiles, 'of'> },
): readonly HolderGroup[] {
  const byToken = new Map<string, HolderRow[]>();
  for (const row of rows) {
    const key = `${row.market}:${row.outcome}`;
    const group = byToken.get(key);
    if (group === undefined) byToken.set(key, [row]);
    else group.push(row);
  }
  return markets.flatMap((market) =>
    ([0, 1] as const).map((outcome) => {
      const token = assetId(market, outcome, form);
      const found = byToken.get(`${market.market}:${outcome}`) ?? [];
      return {
        token,
        holders: found.map((row) => ({ ...profiles.of(row.wallet), ...holding(row, token) })),
      };
    }),
  );
}

function holding(row: HolderRow, asset: string) {
  return {
    asset,
    amount: unitsOf(row.sizeMicro),
    outcomeIndex: row.outcome,
    profileImageOptimized: '',
  };
}

import { parseMicro } from '@pm/schemas/decimal';
import { type PositionSort, positionSorts } from '@pm/schemas/http/report-choices';
import { parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import { type MarketFilter, readMarketFilter } from '../markets/market-filter.ts';
import { type PageBounds, readPageOf } from '../reading/paging.ts';
import { QueryReader, type RawQuery } from '../reading/query-reader.ts';
import type { ReadRefusal } from '../reading/refusal.ts';

export interface PositionsQuery extends MarketFilter {
  readonly user: WalletAddress;
  readonly sizeThresholdMicro: number;
  readonly redeemable: boolean;
  readonly mergeable: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly sortBy: PositionSort;
  readonly sortDirection: 'ASC' | 'DESC';
  /** Empty: any title. */
  readonly title: string;
}

export const titleMaxChars = 100;

const known = [
  'user',
  'market',
  'eventId',
  'sizeThreshold',
  'redeemable',
  'mergeable',
  'limit',
  'offset',
  'sortBy',
  'sortDirection',
  'title',
] as const;

/** As published for GET /positions. */
const pageBounds: PageBounds = { limitMax: 500, limitDefault: 100, offsetMax: 10_000 };

/** The parameters of GET /positions, or why not. `strict` refuses unknown ones (the specification's form). */
export function readPositionsQuery(query: RawQuery, strict: boolean): PositionsQuery | ReadRefusal {
  const read = new QueryReader(query, 'data');
  if (strict) read.onlyKnown(known);
  const user = readWallet(read);
  const parsed = {
    ...readMarketFilter(read),
    sizeThresholdMicro: readMicro(read, 'sizeThreshold', '1'),
    redeemable: read.boolean('redeemable') ?? false,
    mergeable: read.boolean('mergeable') ?? false,
    ...readPageOf(read, pageBounds),
    sortBy: read.oneOf('sortBy', positionSorts, 'TOKENS'),
    sortDirection: read.oneOf('sortDirection', ['ASC', 'DESC'], 'DESC'),
    title: read.text('title', titleMaxChars) ?? '',
  };
  if (read.refusal !== null) return read.refusal;
  return { ...parsed, user: user as WalletAddress };
}

/** The parameter `user`: required, a wallet. */
export function readWallet(read: QueryReader): WalletAddress | null {
  const text = read.text('user');
  if (text === null) return read.refusal === null ? read.missing('user') : null;
  return parseWalletAddress(text) ?? read.invalid('user');
}

/** A decimal in micro-units, rounded up: sizes are whole micro-units, so `>=` decides the same. */
export function readMicro(read: QueryReader, name: string, otherwise: string): number {
  const [whole = '0', fraction = ''] = read.decimal(name, otherwise).split('.');
  const canonical = whole.replace(/^0+(?=\d)/, '');
  const kept = fraction.slice(0, 6);
  const exact = parseMicro(kept === '' ? canonical : `${canonical}.${kept}`);
  // The threshold is rounded up to a whole micro-unit.
  const rest = /[1-9]/.test(fraction.slice(6)) ? 1 : 0;
  return (exact ?? Number.MAX_SAFE_INTEGER - 1) + rest;
}

import { microText } from '@pm/schemas/decimal';
import type { PublicTrade } from '@pm/schemas/http/reports';
import { parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import { notionalMicro } from '@pm/schemas/money';
import { tradeHash, tradeId } from '@pm/schemas/trade-id';
import { microPerPrice, unitsOf } from '../books/quote.ts';
import type { Catalog } from '../markets/catalog.ts';
import { type MarketFilter, readMarketFilter } from '../markets/market-filter.ts';
import { type AssetForm, assetId } from '../positions/positions.ts';
import { readMicro } from '../positions/positions-query.ts';
import { type PageBounds, readPageOf } from '../reading/paging.ts';
import { QueryReader, type RawQuery } from '../reading/query-reader.ts';
import type { ReadRefusal } from '../reading/refusal.ts';
import type { Profiles } from '../social/profiles.ts';
import { marketLabels, type TradeRow } from './rows.ts';

export interface TapeQuery extends MarketFilter {
  readonly user: WalletAddress | null;
  readonly side: 'BUY' | 'SELL' | null;
  readonly takerOnly: boolean;
  /** The smallest notional (CASH) or size (TOKENS) shown, in micro-units. */
  readonly least: { readonly of: 'CASH' | 'TOKENS'; readonly micro: number } | null;
  /** Unix seconds, both included; null: no bound. */
  readonly startS: number | null;
  readonly endS: number | null;
  readonly limit: number;
  readonly offset: number;
}

/** A tape query with its markets resolved; null: all. */
export interface TapeSearch extends Omit<TapeQuery, 'conditions' | 'eventIds'> {
  readonly markets: readonly number[] | null;
}

const known = [
  'user',
  'market',
  'eventId',
  'side',
  'takerOnly',
  'filterType',
  'filterAmount',
  'start',
  'end',
  'limit',
  'offset',
] as const;
/** Unix seconds up to the year 2105, what the tables hold. */
export const secondsMax = 4_200_000_000;

/** As clients of the family use GET /trades. */
const pageBounds: PageBounds = { limitMax: 10_000, limitDefault: 100, offsetMax: 10_000 };

/** The parameters of GET /trades, or why not (conventions.md 6.1). */
export function readTapeQuery(query: RawQuery, strict: boolean): TapeQuery | ReadRefusal {
  const read = new QueryReader(query, 'data');
  if (strict) read.onlyKnown(known);
  const user = optionalWallet(read, 'user');
  const filterType = read.oneOf('filterType', ['CASH', 'TOKENS', ''], '');
  const amountMicro = readMicro(read, 'filterAmount', '0');
  if (filterType !== '' && read.text('filterAmount') === null) read.missing('filterAmount');
  const parsed = {
    ...readMarketFilter(read),
    user,
    side: optionalSide(read),
    takerOnly: read.boolean('takerOnly') ?? true,
    least: filterType === '' ? null : { of: filterType, micro: amountMicro },
    ...readTimes(read),
    ...readPageOf(read, pageBounds),
  };
  return read.refusal ?? parsed;
}

export function optionalWallet(read: QueryReader, name: string): WalletAddress | null {
  const text = read.text(name);
  return text === null ? null : (parseWalletAddress(text) ?? read.invalid(name));
}

export function optionalSide(read: QueryReader): 'BUY' | 'SELL' | null {
  const side = read.oneOf('side', ['BUY', 'SELL', ''], '');
  return side === '' ? null : side;
}

export function readTimes(read: QueryReader): { startS: number | null; endS: number | null } {
  const bounds = { min: 0, max: secondsMax };
  return {
    startS: read.optionalInteger('start', bounds),
    endS: read.optionalInteger('end', bounds),
  };
}

/** Data that rows of public reports are shown with. */
export interface ReportFrame {
  readonly catalog: Catalog;
  readonly profiles: Profiles;
  readonly form: AssetForm;
}

/** A public trade; trades of markets the catalog does not know are not shown. */
export function publicTrade(
  row: TradeRow,
  { catalog, profiles, form }: ReportFrame,
): readonly PublicTrade[] {
  const market = catalog.market(row.market);
  if (market === undefined) return [];
  return [
    {
      ...traderProfile(row.wallet, profiles),
      side: row.side,
      asset: assetId(market, row.outcome, form),
      conditionId: market.conditionId,
      size: unitsOf(row.sizeMicro),
      price: unitsOf(row.price * microPerPrice),
      usdcSize: unitsOf(notionalMicro(row.price, row.sizeMicro)),
      timestamp: Math.floor(row.timeMs / 1000),
      transactionHash: tradeHash(tradeId(row)),
      ...marketLabels(market, catalog.event(market.eventId)?.slug ?? ''),
      outcome: market.outcomes[row.outcome],
      outcomeIndex: row.outcome,
    },
  ];
}

/** How a wallet is shown beside what it did. */
export function traderProfile(wallet: string, profiles: Profiles) {
  const { proxyWallet, name, pseudonym, bio, profileImage } = profiles.of(wallet);
  return { proxyWallet, name, pseudonym, bio, profileImage, profileImageOptimized: '' };
}

/** Micro-units as the parameter of a comparison with a stored decimal. */
export function leastText(micro: number): string {
  return microText(Math.min(micro, storedMaxMicro));
}

/** No stored decimal is larger. */
const storedMaxMicro = 999_999_999_999_000_000;

/** Which token ids public reports have in a dialect (conventions.md 1.1). */
export function assetForm(dialect: 'specification' | 'family'): AssetForm {
  return dialect === 'family' ? 'numeric' : 'indexed';
}

/** Data that rows of public reports are shown with. */
export function reportFrame(
  { catalog, profiles }: Pick<ReportFrame, 'catalog' | 'profiles'>,
  dialect: 'specification' | 'family',
): ReportFrame {
  return { catalog, profiles, form: assetForm(dialect) };
}

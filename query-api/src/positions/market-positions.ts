import { priceOfMicro, type Quotes, unitsOf } from '@pm/domain/books/quote';
import type { Market, Outcome } from '@pm/domain/markets/market';
import { type AssetForm, assetId, averageMicro, timesUnits } from '@pm/domain/positions/positions';
import { type PageBounds, readPageOf } from '@pm/domain/reading/paging';
import { QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import type { ReadRefusal } from '@pm/domain/reading/refusal';
import type { MarketPositionRow } from '@pm/domain/reports/rows';
import { optionalWallet } from '@pm/domain/reports/tape-query';
import type { Profiles } from '@pm/domain/social/profiles';
import { type MarketPositionSort, marketPositionSorts } from '@pm/schemas/http/report-choices';
import type { MarketPosition } from '@pm/schemas/http/reports';
import { type ConditionId, parseConditionId, type WalletAddress } from '@pm/schemas/ids';
import { microPerUnit } from '@pm/schemas/money';

export interface MarketPositionsQuery {
  readonly condition: ConditionId;
  readonly user: WalletAddress | null;
  readonly status: 'OPEN' | 'CLOSED' | 'ALL';
  readonly sortBy: MarketPositionSort;
  readonly sortDirection: 'ASC' | 'DESC';
  readonly limit: number;
  readonly offset: number;
}

/** A query with its market and the prices of its tokens in micro-USDC. */
export interface MarketPositionsSearch extends Omit<MarketPositionsQuery, 'condition'> {
  readonly market: number;
  readonly pricesMicro: readonly [number, number];
}

const known = ['market', 'user', 'status', 'sortBy', 'sortDirection', 'limit', 'offset'] as const;

/** Page bounds of the positions of each token. */
const pageBounds: PageBounds = { limitMax: 500, limitDefault: 50, offsetMax: 10_000 };

/** The parameters of GET /v1/market-positions, or why not (conventions.md 6.1). */
export function readMarketPositionsQuery(
  query: RawQuery,
  strict: boolean,
): MarketPositionsQuery | ReadRefusal {
  const read = new QueryReader(query, 'data');
  if (strict) read.onlyKnown(known);
  const text = read.text('market');
  const condition = text === null ? read.missing('market') : parseConditionId(text);
  if (text !== null && condition === null) read.invalid('market');
  const parsed = {
    user: optionalWallet(read, 'user'),
    status: read.oneOf('status', ['OPEN', 'CLOSED', 'ALL'], 'ALL'),
    sortBy: read.oneOf('sortBy', marketPositionSorts, 'TOTAL_PNL'),
    sortDirection: read.oneOf('sortDirection', ['ASC', 'DESC'], 'DESC'),
    ...readPageOf(read, pageBounds),
  };
  return read.refusal ?? { ...parsed, condition: condition as ConditionId };
}

export function pricesOf(market: Market, quotes: Quotes): readonly [number, number] {
  return [priceOfMicro(market, 0, quotes), priceOfMicro(market, 1, quotes)];
}

/** A group per token of the market. */
export function marketPositions(
  market: Market,
  rows: readonly MarketPositionRow[],
  frame: {
    readonly pricesMicro: readonly [number, number];
    readonly profiles: Profiles;
    readonly form: AssetForm;
  },
): readonly { token: string; positions: readonly MarketPosition[] }[] {
  return ([0, 1] as const).map((outcome) => {
    const token = assetId(market, outcome, frame.form);
    const own = rows.filter((row) => row.outcome === outcome);
    return { token, positions: own.map((row) => answerOf(row, { ...frame, market, token })) };
  });
}

function answerOf(
  row: MarketPositionRow,
  frame: {
    readonly market: Market;
    readonly token: string;
    readonly pricesMicro: readonly [number, number];
    readonly profiles: Profiles;
  },
): MarketPosition {
  const { market, token, profiles } = frame;
  const priceMicro = frame.pricesMicro[row.outcome];
  const currentMicro = timesUnits(row.sizeMicro, priceMicro);
  const cashMicro = currentMicro - row.costMicro;
  const outcome: Outcome = row.outcome;
  const { proxyWallet, name, profileImage } = profiles.of(row.wallet);
  return {
    proxyWallet,
    name,
    profileImage,
    verified: false,
    asset: token,
    conditionId: market.conditionId,
    avgPrice: unitsOf(averageMicro(row)),
    size: unitsOf(row.sizeMicro),
    currPrice: priceMicro / microPerUnit,
    currentValue: unitsOf(currentMicro),
    cashPnl: unitsOf(cashMicro),
    totalBought: unitsOf(row.totalBoughtMicro),
    realizedPnl: unitsOf(row.realizedMicro),
    totalPnl: unitsOf(cashMicro + row.realizedMicro),
    outcome: market.outcomes[outcome],
    outcomeIndex: outcome,
  };
}

import type { Position } from '@pm/schemas/http/reading';
import type { PositionSort } from '@pm/schemas/http/report-choices';
import { checksumAddress, type WalletAddress } from '@pm/schemas/ids';
import { microPerUnit } from '@pm/schemas/money';
import { payoutOf, priceOfMicro, type Quotes, unitsOf } from '../books/quote.ts';
import type { Catalog } from '../markets/catalog.ts';
import type { Market, Outcome } from '../markets/market.ts';
import { isoTime } from '../markets/wire-market.ts';
import { roundedQuotient } from '../reading/numbers.ts';
import type { PositionsQuery } from './positions-query.ts';

/** A stored position; money in micro-units. */
export interface HeldRow {
  readonly market: number;
  readonly outcome: Outcome;
  readonly sizeMicro: number;
  readonly costMicro: number;
  readonly totalBoughtMicro: number;
  readonly sharesBoughtMicro: number;
  readonly realizedMicro: number;
  readonly updatedS: number;
}

/** A held row with its market; rows of markets the catalog does not know are not shown. */
export interface Holding {
  readonly row: HeldRow;
  readonly market: Market;
  readonly mergeable: boolean;
}

interface Valued extends Holding {
  readonly asset: string;
  readonly priceMicro: number;
  readonly currentMicro: number;
}

/** Which form of token ids the answer has: `<condition>:<index>` at the root, the number under the mount. */
export type AssetForm = 'indexed' | 'numeric';

export function assetId(market: Market, outcome: Outcome, form: AssetForm): string {
  return form === 'numeric' ? market.tokens[outcome] : `${market.conditionId}:${outcome}`;
}

/** Which positions pass. */
export type HoldingFilter = Pick<
  PositionsQuery,
  'sizeThresholdMicro' | 'redeemable' | 'mergeable' | 'title'
>;

/** No filter. */
export const anyPosition: HoldingFilter = {
  sizeThresholdMicro: 0,
  redeemable: false,
  mergeable: false,
  title: '',
};

/** The rows of a wallet, in the requested markets, that pass the other filters (conventions.md 6.2). */
export function selectHoldings(
  catalog: Catalog,
  rows: readonly HeldRow[],
  query: HoldingFilter,
): readonly Holding[] {
  const held = new Set(rows.map((row) => `${row.market}:${row.outcome}`));
  const holdings = rows.flatMap((row): Holding[] => {
    const market = catalog.market(row.market);
    const mergeable = held.has(`${row.market}:${1 - row.outcome}`);
    return market === undefined ? [] : [{ row, market, mergeable }];
  });
  return holdings.filter((holding) => passes(holding, query));
}

function passes({ row, market, mergeable }: Holding, query: HoldingFilter): boolean {
  return (
    row.sizeMicro >= query.sizeThresholdMicro &&
    (!query.redeemable || isRedeemable(market)) &&
    (!query.mergeable || mergeable) &&
    market.question.toLowerCase().includes(query.title.toLowerCase())
  );
}

function isRedeemable(market: Market): boolean {
  return payoutOf(market, 0) !== null;
}

/** One page of positions, sorted as requested; ties by asset. */
export function positionsPage(
  holdings: readonly Holding[],
  query: PositionsQuery,
  context: { catalog: Catalog; quotes: Quotes; wallet: WalletAddress; form: AssetForm },
): readonly Position[] {
  const valued = holdings.map((holding): Valued => {
    const { row, market } = holding;
    const priceMicro = priceOfMicro(market, row.outcome, context.quotes);
    return {
      ...holding,
      asset: assetId(market, row.outcome, context.form),
      priceMicro,
      currentMicro: timesUnits(row.sizeMicro, priceMicro),
    };
  });
  const key = sortKeys[query.sortBy];
  const direction = query.sortDirection === 'ASC' ? 1 : -1;
  valued.sort(
    (left, right) => direction * compare(key(left), key(right)) || compare(left.asset, right.asset),
  );
  return valued
    .slice(query.offset, query.offset + query.limit)
    .map((one) => positionAnswer(one, context));
}

const sortKeys: Readonly<Record<PositionSort, (one: Valued) => number | string>> = {
  CURRENT: (one) => one.currentMicro,
  INITIAL: (one) => one.row.costMicro,
  TOKENS: (one) => one.row.sizeMicro,
  CASHPNL: (one) => one.currentMicro - one.row.costMicro,
  PERCENTPNL: (one) => percent(one.currentMicro - one.row.costMicro, one.row.costMicro),
  TITLE: (one) => one.market.question.toLowerCase(),
  RESOLVING: (one) => one.market.endDateMs,
  PRICE: (one) => one.priceMicro,
  AVGPRICE: (one) => averageMicro(one.row),
};

export function compare(left: number | string, right: number | string): number {
  if (left < right) return -1;
  return left > right ? 1 : 0;
}

function positionAnswer(
  { row, market, mergeable, asset, priceMicro, currentMicro }: Valued,
  { catalog, wallet, form }: { catalog: Catalog; wallet: WalletAddress; form: AssetForm },
): Position {
  const opposite: Outcome = row.outcome === 0 ? 1 : 0;
  const cashPnlMicro = currentMicro - row.costMicro;
  return {
    proxyWallet: checksumAddress(wallet),
    asset,
    conditionId: market.conditionId,
    size: unitsOf(row.sizeMicro),
    avgPrice: unitsOf(averageMicro(row)),
    initialValue: unitsOf(row.costMicro),
    currentValue: unitsOf(currentMicro),
    cashPnl: unitsOf(cashPnlMicro),
    percentPnl: percent(cashPnlMicro, row.costMicro),
    totalBought: unitsOf(row.totalBoughtMicro),
    realizedPnl: unitsOf(row.realizedMicro),
    percentRealizedPnl: percent(row.realizedMicro, row.totalBoughtMicro),
    curPrice: unitsOf(priceMicro),
    redeemable: isRedeemable(market),
    mergeable,
    negativeRisk: market.negRisk,
    title: market.question,
    slug: market.slug,
    icon: market.icon,
    eventSlug: catalog.event(market.eventId)?.slug ?? '',
    outcome: market.outcomes[row.outcome],
    outcomeIndex: row.outcome,
    oppositeOutcome: market.outcomes[opposite],
    oppositeAsset: assetId(market, opposite, form),
    timestamp: row.updatedS,
    endDate: isoTime(market.endDateMs),
  };
}

/** Value of a position at the displayed price, micro-USDC. */
export function currentMicro({ row, market }: Holding, quotes: Quotes): number {
  return timesUnits(row.sizeMicro, priceOfMicro(market, row.outcome, quotes));
}

const unit = BigInt(microPerUnit);

/** Micro-shares times micro-USDC a share, in micro-USDC, rounded down; the product itself may pass 2^53. */
export function timesUnits(sizeMicro: number, priceMicro: number): number {
  return Number((BigInt(sizeMicro) * BigInt(priceMicro)) / unit);
}

/** Cost of one share in micro-USDC, rounded (`roundedQuotient`); 0 when nothing is held. */
export function averageMicro({
  sizeMicro,
  costMicro,
}: Pick<HeldRow, 'sizeMicro' | 'costMicro'>): number {
  if (sizeMicro <= 0) return 0;
  return roundedQuotient(BigInt(costMicro) * unit, BigInt(sizeMicro));
}

/** Ten-thousandths of a percent: the precision of percentages. */
const percentSteps = 10_000;

/** 100 x part / whole with four decimals, halves away from zero; 0 when the whole is 0. */
function percent(partMicro: number, wholeMicro: number): number {
  if (wholeMicro <= 0) return 0;
  const hundredfold = BigInt(partMicro) * BigInt(100 * percentSteps);
  return roundedQuotient(hundredfold, BigInt(wholeMicro)) / percentSteps;
}

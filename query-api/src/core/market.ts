import {
  type CatalogMarket,
  type ConditionId,
  conditionIdFromBytes,
  type TokenId,
  tokenIdFromBytes,
} from '@pm/schemas';

type Renamed =
  | 'kind'
  | 'conditionId'
  | 'questionId'
  | 'negRiskMarketId'
  | 'token0'
  | 'token1'
  | 'outcome0'
  | 'outcome1';

/** A market with its ids as texts: the bytes of the record it came in would keep the whole fetch in memory. */
export interface Market extends Omit<CatalogMarket, Renamed> {
  readonly conditionId: ConditionId;
  readonly questionId: string;
  /** Empty when it belongs to no group. */
  readonly negRiskMarketId: string;
  readonly tokens: readonly [TokenId, TokenId];
  readonly outcomes: readonly [string, string];
}

export type Outcome = 0 | 1;

/** One outcome token of a market. */
export interface Listing {
  readonly market: Market;
  readonly outcome: Outcome;
  readonly token: TokenId;
}

export function marketOf(entry: CatalogMarket): Market {
  const { kind: _, token0, token1, outcome0, outcome1, ...rest } = entry;
  return {
    ...rest,
    conditionId: conditionIdFromBytes(entry.conditionId),
    questionId: conditionIdFromBytes(entry.questionId),
    negRiskMarketId:
      entry.negRiskMarketId === null ? '' : conditionIdFromBytes(entry.negRiskMarketId),
    tokens: [tokenIdFromBytes(token0), tokenIdFromBytes(token1)],
    outcomes: [outcome0, outcome1],
  };
}

/** Whether an order may come in now. */
export function acceptsOrders(market: Market): boolean {
  if (!market.active || market.closed || market.archived) return false;
  return market.mode === 'OPEN' || market.mode === 'POST_ONLY';
}

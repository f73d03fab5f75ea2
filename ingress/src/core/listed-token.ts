import {
  type CatalogMarket,
  type ConditionId,
  conditionIdFromBytes,
  type TokenId,
  tokenIdFromBytes,
} from '@pm/schemas';

/** One outcome of a market, as the door looks it up for every order. */
export interface ListedToken {
  readonly market: CatalogMarket;
  readonly conditionId: ConditionId;
  readonly tokenId: TokenId;
  readonly outcome: 0 | 1;
}

/** Both outcomes of a market. */
export function tokensOf(market: CatalogMarket): readonly [ListedToken, ListedToken] {
  const conditionId = conditionIdFromBytes(market.conditionId);
  return [
    { market, conditionId, tokenId: tokenIdFromBytes(market.token0), outcome: 0 },
    { market, conditionId, tokenId: tokenIdFromBytes(market.token1), outcome: 1 },
  ];
}

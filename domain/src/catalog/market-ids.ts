import {
  type ConditionId,
  conditionIdFromBytes,
  type TokenId,
  tokenIdFromBytes,
} from '@pm/schemas/ids';
import type { CatalogMarket } from '@pm/schemas/log/catalog';

/** The names of a listed market on the wire. */
export interface MarketIds {
  readonly conditionId: ConditionId;
  /** Token ids of outcome 0 and outcome 1. */
  readonly tokens: readonly [TokenId, TokenId];
}

/** Ids as texts, in their own memory: the bytes of a record keep the whole fetch in memory. */
export function marketIdsOf(
  entry: Pick<CatalogMarket, 'conditionId' | 'token0' | 'token1'>,
): MarketIds {
  return {
    conditionId: conditionIdFromBytes(entry.conditionId),
    tokens: [tokenIdFromBytes(entry.token0), tokenIdFromBytes(entry.token1)],
  };
}

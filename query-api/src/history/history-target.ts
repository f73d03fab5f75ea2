import { parseConditionId, parseTokenId } from '@pm/schemas';
import type { Catalog, Listing } from '../markets/catalog.ts';

/**
 * What the misnamed parameter `market` of price histories means: a token id, or a condition id for its first token
 * (conventions.md part 9, 33). Undefined when it is not listed, null when it is neither.
 */
export function historyTarget(catalog: Catalog, text: string): Listing | undefined | null {
  const token = parseTokenId(text);
  if (token !== null) return catalog.listing(token);
  const condition = parseConditionId(text);
  if (condition === null) return null;
  const market = catalog.byCondition(condition);
  return market === undefined ? undefined : catalog.listing(market.tokens[0]);
}

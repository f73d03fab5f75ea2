import { parseConditionId } from '@pm/schemas';
import type { Catalog, Market } from './catalog.ts';

/**
 * Ids of the catalog, and of comments, are integers without leading zeros. Any integer is kept as it is written, so that one
 * with leading zeros, or too long for an id, is not found like any other that nothing has; null for what is no integer.
 */
export function parseCatalogId(text: string): string | null {
  return /^\d+$/.test(text) ? text : null;
}

/** The market of a number or a condition id. */
export function marketNamed(catalog: Catalog, text: string): Market | undefined {
  const condition = parseConditionId(text);
  return condition === null ? catalog.marketById(text) : catalog.byCondition(condition);
}

import type { CatalogMarket } from '@pm/schemas';
import { Type } from 'typebox';
import type { CatalogIndex } from '../../core/catalog-index.ts';

/** The number of a market in a path. */
export const MarketId = Type.Object({ id: Type.String({ pattern: '^[1-9][0-9]{0,9}$' }) });

export function findMarket(id: string, catalog: CatalogIndex): CatalogMarket | undefined {
  return catalog.findMarket(Number(id));
}

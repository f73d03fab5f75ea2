import type { OpenOrder } from '@pm/schemas';
import type { Catalog } from '../markets/catalog.ts';
import { type AcceptedOrder, orderAnswer } from './order-read.ts';

/** A row of the list of open orders: flat, with the keys of both spellings (conventions.md 1.6). */
export function openOrderAnswer(catalog: Catalog, order: AcceptedOrder): OpenOrder {
  const {
    order: wrapped,
    reason: _reason,
    ended_at: _endedAt,
    ...flat
  } = orderAnswer(catalog, order, true);
  const { makerAddress, assetId, originalSize, sizeMatched, associateTrades, createdAt } = wrapped;
  const camel = { makerAddress, assetId, originalSize, sizeMatched, associateTrades, createdAt };
  return { ...flat, owner: order.order.apiKey, ...camel };
}

import { type OrderPlaced, tables } from '@pm/schemas';
import { bytesWord, mixOf, mixSql, wordOf, wordSql } from './digests.ts';
import type { LegSource } from './positions.ts';

/** What a row of `open_orders` says, as one number: such rows are many, and kept as long as an order rests. */
export function openOrderWord(
  { maker, orderId, apiKey, market, outcome }: OrderPlaced,
  { partition, inOffset, timeMs }: LegSource,
): number {
  const order = [bytesWord(maker), bytesWord(orderId), bytesWord(apiKey), market, outcome];
  return mixOf([...order, wordOf(timeMs), partition, wordOf(inOffset), 0]);
}

/** The same of a row, as expressions of ClickHouse; the last one is named `word`. */
export const openOrderWordSql = mixSql(tables.openOrders.columns.map(wordSql), 'word').join(', ');

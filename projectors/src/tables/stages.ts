import { type Table, tables } from '@pm/schemas';
import type { TableRows } from './row-writer.ts';

/**
 * What is written last, in this order. A table of a later stage holds nothing that the tables of earlier stages lack:
 * `positions` restores the views, so all that was made together with it is in before; what rests of an open order is read from
 * `order_events`; and `completeness` speaks for all.
 */
const lastStages: readonly (readonly Table[])[] = [
  [tables.openOrders, tables.positions],
  [tables.completeness],
];

/** The tables of a batch that have rows, stage by stage; those of one stage may be written in any order. */
export function inStages(batch: readonly TableRows[]): readonly (readonly TableRows[])[] {
  const last = lastStages.flat();
  const filled = batch.filter(({ count }) => count > 0);
  const first = filled.filter(({ table }) => !last.includes(table));
  const others = lastStages.map((stage) => filled.filter(({ table }) => stage.includes(table)));
  return [first, ...others].filter((stage) => stage.length > 0);
}

import { rules } from '@pm/schemas/log/log-rules';
import { at } from '../book/order-pool.ts';
import type { State } from './state.ts';
import {
  MalformedState,
  type StateReader,
  type StateWriter,
  safeMax,
  sound,
} from './state-bytes.ts';

/** The slots of the ids of orders that a tick judges, and of those found late, by arrival. */
export interface FrozenBooked {
  readonly unjudged: Int32Array;
  readonly acceptedAtMs: Float64Array;
  readonly late: Int32Array;
}

export function freezeBooked({ rules: now, booked, book }: State): FrozenBooked | null {
  if (now < rules.judgedByTicks) return null;
  const { orders, acceptedAtMs } = booked.unjudged();
  const idOf = (order: number): number => book.orders.get(order, at.memory);
  return {
    unjudged: orders.map(idOf),
    acceptedAtMs,
    late: Int32Array.from(booked.lateOrders(), idOf),
  };
}

/** A row per order that no tick has judged: its id and the time of its acceptance; then the ids of late orders. */
export function writeBooked(
  { unjudged, acceptedAtMs, late }: FrozenBooked,
  ids: Int32Array,
  to: StateWriter,
): void {
  to.number(unjudged.length);
  for (const [index, id] of unjudged.entries()) {
    to.number(ids[id] as number);
    to.number(acceptedAtMs[index] as number);
  }
  to.number(late.length);
  for (const id of late) to.number(ids[id] as number);
}

/** Reads the rows of `writeBooked`. */
export function readBooked(state: State, ids: Int32Array, from: StateReader): void {
  const { booked } = state;
  for (let left = from.count(); left > 0; left -= 1) {
    const order = restingOrder(state, ids, from);
    booked.add(order, from.number(0, safeMax));
  }
  for (let left = from.count(); left > 0; left -= 1) booked.addLate(restingOrder(state, ids, from));
}

function restingOrder({ orderMemory }: State, ids: Int32Array, from: StateReader): number {
  const id = ids[sound(from.number(0, safeMax), 0, ids.length - 1)] as number;
  const order = orderMemory.order(id);
  if (order < 0) throw new MalformedState('an order that does not rest');
  return order;
}

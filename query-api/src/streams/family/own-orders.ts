import {
  apiKeyFromBytes,
  type EventOf,
  type Fill,
  orderIdFromBytes,
  type WalletAddress,
} from '@pm/schemas';
import type { AcceptedOrder, OrderEventRow, OrderFacts } from '../../orders/order-read.ts';
import type { OwnChange, OwnOrderChange } from '../feed/changes.ts';
import type { OwnOpenOrder, OwnSnapshot } from '../feed/snapshots.ts';
import { tradeIdAt } from './market-messages.ts';

/** What happened to an order, and the order after it as GET /data/orders shows it. */
export interface OrderStep {
  readonly type: 'PLACEMENT' | 'UPDATE' | 'CANCELLATION';
  readonly order: AcceptedOrder;
}

/** Trades that are listed with an order. */
const tradesMax = 1_000;

/** An order that rests or is delayed. */
interface OpenOrder {
  readonly row: OrderEventRow;
  filledMicro: number;
  readonly tradeIds: string[];
}

/**
 * The open orders of a wallet with their terms, which later events do not repeat. Orders that were open at the
 * beginning list only the trades since then, and were created when they were accepted.
 */
export class OwnOrders {
  readonly #wallet: WalletAddress;
  readonly #open = new Map<string, OpenOrder>();
  /** Trades of orders that take in the record that is folded, before the event that places them. */
  readonly #taken = new Map<string, string[]>();
  #takenAt = '';

  constructor(wallet: WalletAddress, snapshots: readonly OwnSnapshot[]) {
    this.#wallet = wallet;
    for (const { orders, partition } of snapshots)
      for (const order of orders) this.#restore(order, partition);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Takes the next change of the wallet; most are no step of an order. */
  take({ change, at }: OwnChange): readonly OrderStep[] {
    if (change.kind === 'fill') {
      if (change.role === 'taker') this.#takes(change.fill, at);
      return [];
    }
    if (change.kind !== 'order') return [];
    const { event } = change;
    switch (event.kind) {
      case 'OrderPlaced':
        return this.#placed(event, at);
      case 'OrderDelayed':
        return [this.#delayed(event, at)];
      case 'OrderRefused':
        return this.#ended(change, { reason: event.code, timeMs: at.timeMs });
      case 'OrderCanceled':
        return this.#ended(change, { reason: event.reason.toLowerCase(), timeMs: at.timeMs });
      case 'Fill':
        return this.#filled(event, at);
    }
  }

  #restore(order: OwnOpenOrder, partition: number): void {
    const { orderId, apiKey, restingMicro, sizeMicro, acceptedAtMs: timeMs } = order;
    const place = { partition, inOffset: '0', eventIndex: 0, timeMs };
    const terms = { ...order, restingMicro: restingMicro ?? 0 };
    const id = orderIdFromBytes(orderId);
    const row = { ...this.#rowOf(terms, place), orderId: id, apiKey: apiKeyFromBytes(apiKey) };
    const filledMicro = restingMicro === null ? 0 : sizeMicro - restingMicro;
    this.#open.set(id, { row, filledMicro, tradeIds: [] });
  }

  #rowOf(
    terms: Omit<OwnOpenOrder, 'orderId' | 'apiKey' | 'restingMicro'> & {
      readonly restingMicro: number;
    },
    place: Pick<OrderEventRow, 'partition' | 'inOffset' | 'eventIndex' | 'timeMs'>,
  ): Omit<OrderEventRow, 'orderId' | 'apiKey'> {
    const { market, outcome, side, timeInForce, price } = terms;
    const { sizeMicro, restingMicro, expiresAtMs, acceptedAtMs } = terms;
    return {
      ...place,
      kind: 'PLACED',
      wallet: this.#wallet,
      market,
      outcome,
      side,
      timeInForce,
      price,
      sizeMicro,
      restingMicro,
      expiresAtMs,
      acceptedAtMs,
      status: '',
      reason: '',
      role: 'TAKER',
    };
  }

  #rowOfEvent(event: EventOf<'OrderPlaced' | 'OrderDelayed'>, at: OwnChange['at']): OrderEventRow {
    const { partition, offset, index: eventIndex, timeMs } = at;
    const place = { partition, inOffset: String(offset), eventIndex, timeMs };
    const restingMicro = event.kind === 'OrderPlaced' ? event.restingMicro : 0;
    const outcome = event.outcome === 1 ? 1 : 0;
    const row = this.#rowOf({ ...event, outcome, restingMicro }, place);
    const orderId = orderIdFromBytes(event.orderId);
    return { ...row, orderId, apiKey: apiKeyFromBytes(event.apiKey) };
  }

  #takes(fill: Fill, at: OwnChange['at']): void {
    const record = `${at.partition}-${at.offset}`;
    if (record !== this.#takenAt) this.#taken.clear();
    this.#takenAt = record;
    const id = orderIdFromBytes(fill.takerOrderId);
    const trades = this.#taken.get(id) ?? [];
    this.#taken.set(id, trades);
    if (trades.length < tradesMax) trades.push(tradeIdAt(at));
  }

  #placed(event: EventOf<'OrderPlaced'>, at: OwnChange['at']): readonly OrderStep[] {
    const row = this.#rowOfEvent(event, at);
    const { orderId } = row;
    const wasDelayed = this.#open.delete(orderId);
    const tradeIds = this.#taken.get(orderId) ?? [];
    const { filledMicro, status } = event;
    if (event.restingMicro > 0) this.#open.set(orderId, { row, filledMicro, tradeIds });
    const open = { row, filledMicro, tradeIds };
    const isEnded = status === 'CANCELED' || status === 'MATCHED';
    const reason = status === 'MATCHED' ? 'matched' : restReason(event, wasDelayed);
    const ending = isEnded ? { reason, timeMs: at.timeMs } : null;
    const order = accepted(open, status, ending);
    const first = { type: wasDelayed ? 'UPDATE' : 'PLACEMENT', order } as const;
    return status === 'CANCELED' ? [first, { type: 'CANCELLATION', order }] : [first];
  }

  #delayed(event: EventOf<'OrderDelayed'>, at: OwnChange['at']): OrderStep {
    const row = this.#rowOfEvent(event, at);
    const open = { row, filledMicro: 0, tradeIds: [] };
    this.#open.set(row.orderId, open);
    return { type: 'PLACEMENT', order: accepted(open, 'DELAYED', null) };
  }

  /** An order that was never accepted has no steps: its refusal is the response to its sender. */
  #ended({ orderId }: OwnOrderChange, ending: Ending): readonly OrderStep[] {
    const id = orderIdFromBytes(orderId);
    const open = this.#open.get(id);
    if (open === undefined) return [];
    this.#open.delete(id);
    return [{ type: 'CANCELLATION', order: accepted(open, 'CANCELED', ending) }];
  }

  #filled(fill: Fill, at: OwnChange['at']): readonly OrderStep[] {
    const id = orderIdFromBytes(fill.makerOrderId);
    const open = this.#open.get(id);
    if (open === undefined) return [];
    open.filledMicro += fill.sizeMicro;
    if (open.tradeIds.length < tradesMax) open.tradeIds.push(tradeIdAt(at));
    if (fill.makerRestMicro > 0) return [{ type: 'UPDATE', order: accepted(open, 'LIVE', null) }];
    this.#open.delete(id);
    const ending = { reason: 'matched', timeMs: at.timeMs };
    return [{ type: 'UPDATE', order: accepted(open, 'MATCHED', ending) }];
  }
}

interface Ending {
  readonly reason: string;
  readonly timeMs: number;
}

/** As GET /order says it of a rest that may not stay. */
function restReason({ timeInForce }: EventOf<'OrderPlaced'>, wasDelayed: boolean): string {
  const mayRest = timeInForce === 'GTC' || timeInForce === 'GTD';
  return mayRest && !wasDelayed ? 'self_trade' : 'remainder';
}

function accepted(
  { row, filledMicro, tradeIds }: OpenOrder,
  status: OrderFacts['status'],
  ending: Ending | null,
): AcceptedOrder {
  const { reason, timeMs: endedAtMs } = ending ?? { reason: null, timeMs: null };
  const facts = { status, reason, endedAtMs, filledMicro, tradeIds: [...tradeIds] };
  return { kind: 'accepted', order: row, facts };
}

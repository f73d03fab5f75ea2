import type { AcceptedOrder, OrderFacts, StatedRow } from '@pm/domain/orders/order-read';
import { apiKeyFromBytes, orderIdFromBytes, type WalletAddress } from '@pm/schemas/ids';
import type { EventOf, Fill } from '@pm/schemas/log/executions';
import type { OwnChange, OwnOpenOrder, OwnOrderChange } from '../feed/changes.ts';
import { keptBytes, type RoomShare } from '../protocol/connection-memory-budget.ts';
import { tradeIdAt } from './market-messages.ts';

/** A change of an order, and the order after it as GET /data/orders shows it. */
export interface OrderStep {
  readonly type: 'PLACEMENT' | 'UPDATE' | 'CANCELLATION';
  readonly order: AcceptedOrder;
}

/** Trades that are listed with an order. */
const tradesMax = 1_000;

/** Facts of an open order that its changes do not repeat. */
interface Past {
  /** When it was placed, Unix milliseconds. */
  readonly createdAtMs: number;
  readonly tradeIds: readonly string[];
}

/** Terms of an order, by whichever event says them. */
type Terms = Omit<OwnOpenOrder, 'restingMicro'> & { readonly restingMicro: number };

/**
 * Follows the orders of a wallet. A change has the terms of its order; what is kept here are the trades of open orders
 * since the beginning, and when they were placed. Orders that were open at the beginning list only the trades since
 * then, and were created when they were accepted; so do the oldest where there is no room for all.
 */
export class OwnOrders {
  readonly #wallet: WalletAddress;
  readonly #share: Pick<RoomShare, 'giveBack' | 'take'>;
  readonly #pasts = new Map<string, Past>();
  /** Trades of orders that take in the record that is folded, before the event that places them. */
  readonly #taken = new Map<string, string[]>();
  #takenAt = '';

  constructor(wallet: WalletAddress, share: Pick<RoomShare, 'giveBack' | 'take'>) {
    this.#wallet = wallet;
    this.#share = share;
  }

  /** Orders whose past is kept. */
  get size(): number {
    return this.#pasts.size;
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
        return this.#placed(event, at, change.before !== null);
      case 'OrderDelayed':
        return [this.#delayed(event, at)];
      case 'OrderRefused':
        return this.#ended(change, { reason: event.code, code: event.code }, at);
      case 'OrderCanceled':
        return this.#ended(change, { reason: event.reason.toLowerCase() }, at);
      case 'Fill':
        return this.#filled(event, change.before, at);
    }
  }

  #rowOf(terms: Terms, createdAtMs: number, place: Place): StatedRow {
    const { market, outcome, side, timeInForce, price } = terms;
    const { sizeMicro, restingMicro, expiresAtMs, acceptedAtMs } = terms;
    return {
      ...place,
      timeMs: createdAtMs,
      kind: 'PLACED',
      orderId: orderIdFromBytes(terms.orderId),
      apiKey: apiKeyFromBytes(terms.apiKey),
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
    };
  }

  #rowOfEvent(event: EventOf<'OrderPlaced' | 'OrderDelayed'>, at: OwnChange['at']): StatedRow {
    const restingMicro = event.kind === 'OrderPlaced' ? event.restingMicro : 0;
    const outcome = event.outcome === 1 ? 1 : 0;
    return this.#rowOf({ ...event, outcome, restingMicro }, at.timeMs, placeOf(at));
  }

  #rowOfOpen(order: OwnOpenOrder, at: OwnChange['at'], past: Past | undefined): StatedRow {
    const terms = { ...order, restingMicro: order.restingMicro ?? 0 };
    return this.#rowOf(terms, past?.createdAtMs ?? order.acceptedAtMs, placeOf(at));
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

  #placed(
    event: EventOf<'OrderPlaced'>,
    at: OwnChange['at'],
    wasDelayed: boolean,
  ): readonly OrderStep[] {
    const row = this.#rowOfEvent(event, at);
    const { orderId } = row;
    const tradeIds = this.#taken.get(orderId) ?? [];
    this.#taken.delete(orderId);
    const { filledMicro, status } = event;
    this.#forget(orderId);
    if (event.restingMicro > 0) this.#keep(orderId, { createdAtMs: at.timeMs, tradeIds });
    const isEnded = status === 'CANCELED' || status === 'MATCHED';
    const reason = status === 'MATCHED' ? 'matched' : restReason(event, wasDelayed);
    const ending = isEnded ? { reason, timeMs: at.timeMs } : null;
    const order = accepted({ row, filledMicro, tradeIds }, status, ending);
    const first = { type: wasDelayed ? 'UPDATE' : 'PLACEMENT', order } as const;
    return status === 'CANCELED' ? [first, { type: 'CANCELLATION', order }] : [first];
  }

  #delayed(event: EventOf<'OrderDelayed'>, at: OwnChange['at']): OrderStep {
    const row = this.#rowOfEvent(event, at);
    this.#keep(row.orderId, { createdAtMs: at.timeMs, tradeIds: [] });
    return { type: 'PLACEMENT', order: accepted({ row, ...noFills }, 'DELAYED', null) };
  }

  /** An order that was never accepted has no steps: its refusal is the response to its sender. */
  #ended(
    { before }: OwnOrderChange,
    end: Pick<Ending, 'reason' | 'code'>,
    at: OwnChange['at'],
  ): readonly OrderStep[] {
    if (before === null) return [];
    const id = orderIdFromBytes(before.orderId);
    const past = this.#pasts.get(id);
    this.#forget(id);
    const row = this.#rowOfOpen(before, at, past);
    const filledMicro = before.restingMicro === null ? 0 : before.sizeMicro - before.restingMicro;
    const open = { row, filledMicro, tradeIds: past?.tradeIds ?? [] };
    const ending = { ...end, timeMs: at.timeMs };
    return [{ type: 'CANCELLATION', order: accepted(open, 'CANCELED', ending) }];
  }

  #filled(fill: Fill, before: OwnOpenOrder | null, at: OwnChange['at']): readonly OrderStep[] {
    if (before === null) return [];
    const id = orderIdFromBytes(fill.makerOrderId);
    const past = this.#pasts.get(id);
    const tradeIds = [...(past?.tradeIds ?? []), tradeIdAt(at)].slice(0, tradesMax);
    const row = this.#rowOfOpen(before, at, past);
    const open = { row, filledMicro: before.sizeMicro - fill.makerRestMicro, tradeIds };
    this.#forget(id);
    if (fill.makerRestMicro > 0) {
      this.#keep(id, { createdAtMs: row.timeMs, tradeIds });
      return [{ type: 'UPDATE', order: accepted(open, 'LIVE', null) }];
    }
    const ending = { reason: 'matched', timeMs: at.timeMs };
    return [{ type: 'UPDATE', order: accepted(open, 'MATCHED', ending) }];
  }

  #keep(id: string, past: Past): void {
    while (this.#share.take(bytesOf(past)) !== null) {
      const [oldest] = this.#pasts.keys();
      if (oldest === undefined) return;
      this.#forget(oldest);
    }
    this.#pasts.set(id, past);
  }

  #forget(id: string): void {
    const past = this.#pasts.get(id);
    if (past === undefined) return;
    this.#pasts.delete(id);
    this.#share.giveBack(bytesOf(past));
  }
}

const bytesOf = ({ tradeIds }: Past): number => keptBytes.order + tradeIds.length * keptBytes.trade;

type Place = Pick<StatedRow, 'partition' | 'inOffset' | 'eventIndex'>;

function placeOf({ partition, offset, index: eventIndex }: OwnChange['at']): Place {
  return { partition, inOffset: String(offset), eventIndex };
}

interface Ending {
  readonly reason: string;
  /** Where a refusal ended it. */
  readonly code?: string;
  readonly timeMs: number;
}

/** An order with what was filled of it. */
interface Filled {
  readonly row: StatedRow;
  readonly filledMicro: number;
  readonly tradeIds: readonly string[];
}

const noFills = { filledMicro: 0, tradeIds: [] };

/** As GET /order says it of a rest that may not stay. */
function restReason({ timeInForce }: EventOf<'OrderPlaced'>, wasDelayed: boolean): string {
  const mayRest = timeInForce === 'GTC' || timeInForce === 'GTD';
  return mayRest && !wasDelayed ? 'self_trade' : 'remainder';
}

function accepted(
  { row, filledMicro, tradeIds }: Filled,
  status: OrderFacts['status'],
  ending: Ending | null,
): AcceptedOrder {
  const { reason = null, code = null, timeMs: endedAtMs = null } = ending ?? {};
  const facts = { status, reason, code, endedAtMs, filledMicro, tradeIds: [...tradeIds] };
  return { kind: 'accepted', order: row, facts };
}

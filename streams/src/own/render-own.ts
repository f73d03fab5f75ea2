import type { Catalog } from '@pm/domain/markets/catalog';
import { sessionPromiseMs } from '@pm/domain/sessions/session-table';
import { microText, priceText } from '@pm/schemas/decimal';
import {
  apiKeyFromBytes,
  checksumAddress,
  orderIdFromBytes,
  type WalletAddress,
} from '@pm/schemas/ids';
import { streamLimits } from '@pm/schemas/streams/limits';
import { tradeId } from '@pm/schemas/trade-id';
import type {
  OwnBalance,
  OwnChange,
  OwnFill,
  OwnOpenOrder,
  OwnOrderChange,
  OwnPosition,
} from '../feed/changes.ts';
import type { OwnSnapshot } from '../feed/snapshots.ts';
import type { FirstMessages, Message, StreamKey } from '../protocol/message.ts';
import { changeFields, snapshotFields } from '../protocol/render-book.ts';
import { partFields, plainMessage } from '../protocol/render-market.ts';
import type { OwnState } from './own-states.ts';

type Markets = Pick<Catalog, 'market'>;

/** Ids of a market, empty while the catalog does not know it. */
function idsOf(market: number, catalog: Markets) {
  const known = catalog.market(market);
  return { condition: known?.conditionId ?? '', tokens: known?.tokens ?? (['', ''] as const) };
}

/** A change of a wallet as a message of the channel `own`. */
export function ownMessage(change: OwnChange, key: StreamKey, catalog: Markets): Message {
  const { seq, at, wallet } = change;
  const head = { seq, prev: seq - 1, at };
  const fields = fieldsOf(change, catalog);
  const names = `{"type":"event","channel":"own","wallet":"${checksumAddress(wallet)}"`;
  const text = `${names},${changeFields(head)},${JSON.stringify(fields).slice(1)}`;
  return plainMessage(head, key, text);
}

function fieldsOf({ change, at }: OwnChange, catalog: Markets): object {
  switch (change.kind) {
    case 'order':
      return orderFields(change, catalog);
    case 'fill':
      return fillFields(change, at, catalog);
    case 'balance':
      return { kind: 'balance', balance: balanceFields(change) };
    case 'position': {
      const { condition } = idsOf(change.market, catalog);
      return { kind: 'position', market: condition, positions: positionFields(change, catalog) };
    }
  }
}

const orderEvents = {
  OrderPlaced: 'placed',
  OrderRefused: 'refused',
  OrderDelayed: 'delayed',
  OrderCanceled: 'canceled',
  Fill: 'filled',
} as const;

function orderFields({ event, orderId, market, restingMicro }: OwnOrderChange, catalog: Markets) {
  const { condition, tokens } = idsOf(market, catalog);
  return {
    kind: 'order',
    event: orderEvents[event.kind],
    id: orderIdFromBytes(orderId),
    market: condition,
    resting: restingMicro === null ? null : microText(restingMicro),
    reason: reasonOf(event),
    order: termsOf(event, tokens),
  };
}

function reasonOf(event: OwnOrderChange['event']): string | null {
  if (event.kind === 'OrderRefused') return event.code;
  return event.kind === 'OrderCanceled' ? event.reason : null;
}

function termsOf(event: OwnOrderChange['event'], tokens: readonly [string, string]) {
  if (event.kind !== 'OrderPlaced' && event.kind !== 'OrderDelayed') return null;
  return {
    api_key: apiKeyFromBytes(event.apiKey),
    token: tokens[event.outcome === 0 ? 0 : 1],
    side: event.side,
    type: event.timeInForce,
    price: priceText(event.price),
    original_size: microText(event.sizeMicro),
    expires_at: event.expiresAtMs,
    status: event.kind === 'OrderPlaced' ? event.status : 'DELAYED',
  };
}

function fillFields({ fill, role }: OwnFill, at: OwnChange['at'], catalog: Markets) {
  const { condition, tokens } = idsOf(fill.market, catalog);
  const isTaker = role === 'taker';
  const place = { partition: at.partition, inOffset: at.offset, eventIndex: at.index };
  return {
    kind: 'fill',
    id: tradeId(place),
    role: isTaker ? 'TAKER' : 'MAKER',
    order: orderIdFromBytes(isTaker ? fill.takerOrderId : fill.makerOrderId),
    market: condition,
    token: tokens[(isTaker ? fill.takerOutcome : fill.makerOutcome) === 0 ? 0 : 1],
    side: isTaker ? fill.takerSide : fill.makerSide,
    price: priceText(isTaker ? fill.takerPrice : fill.makerPrice),
    size: microText(fill.sizeMicro),
    fee: microText(isTaker ? fill.feeMicro : 0),
  };
}

function balanceFields({ freeMicro, heldMicro }: Omit<OwnBalance, 'kind'>) {
  return { free: microText(freeMicro), held: microText(heldMicro) };
}

function positionFields(position: Omit<OwnPosition, 'kind'>, catalog: Markets) {
  const { market, token0Micro, token1Micro } = position;
  const { condition, tokens } = idsOf(market, catalog);
  return [token0Micro, token1Micro].map((micro, outcome) => ({
    market: condition,
    token: tokens[outcome === 0 ? 0 : 1],
    size: microText(micro),
  }));
}

/** Tokens of a market. */
const tokensOfMarket = 2;

/**
 * Messages with the state of a wallet in one partition, in parts with as many orders and positions as a message may
 * have.
 */
export function ownSnapshotMessages(
  snapshot: OwnSnapshot,
  key: StreamKey,
  shown: { readonly catalog: Markets; readonly isGap: boolean },
): FirstMessages {
  const { seq, orders, positions } = snapshot;
  const { snapshot_items: items } = streamLimits;
  const markets = items / tokensOfMarket;
  const count = Math.max(
    1,
    Math.ceil(orders.length / items),
    Math.ceil(positions.length / markets),
  );
  const message = (part: number) => {
    const place = { ...shown, part, more: part < count - 1 };
    return ownSnapshotMessage(
      {
        ...snapshot,
        orders: orders.slice(part * items, (part + 1) * items),
        positions: positions.slice(part * markets, (part + 1) * markets),
      },
      key,
      place,
    );
  };
  return { seq, count, message };
}

type OwnPart = Omit<OwnSnapshot, 'orders' | 'positions'> & {
  readonly orders: readonly OwnOpenOrder[];
  readonly positions: readonly Omit<OwnPosition, 'kind'>[];
};

interface PartPlace {
  readonly catalog: Markets;
  readonly isGap: boolean;
  readonly part: number;
  /** Another part follows. */
  readonly more: boolean;
}

function ownSnapshotMessage(
  snapshot: OwnPart,
  key: StreamKey,
  { catalog, isGap, part, more }: PartPlace,
): Message {
  const { seq, partition, offset, timeMs, wallet } = snapshot;
  const state = {
    ...partFields(part, more),
    orders: snapshot.orders.map((order) => openOrder(order, catalog)),
    balance: balanceFields(snapshot.balance),
    positions: snapshot.positions
      .flatMap((position) => positionFields(position, catalog))
      .filter(({ size }) => size !== '0'),
  };
  const names = `{"type":"snapshot","channel":"own","wallet":"${checksumAddress(wallet)}"`;
  const text = `${names},${snapshotFields(snapshot, isGap)},${JSON.stringify(state).slice(1)}`;
  const at = { partition, offset, index: -1, timeMs };
  return { ...plainMessage({ seq, prev: seq, at }, key, text), isPart: more };
}

function openOrder(order: OwnOpenOrder, catalog: Markets) {
  const { condition, tokens } = idsOf(order.market, catalog);
  return {
    id: orderIdFromBytes(order.orderId),
    api_key: apiKeyFromBytes(order.apiKey),
    market: condition,
    token: tokens[order.outcome],
    side: order.side,
    type: order.timeInForce,
    price: priceText(order.price),
    original_size: microText(order.sizeMicro),
    resting: order.restingMicro === null ? null : microText(order.restingMicro),
    expires_at: order.expiresAtMs,
    accepted_at: order.acceptedAtMs,
  };
}

/** Transfers or a session of a wallet: a message without a number. */
export function stateMessage(state: OwnState, wallet: WalletAddress, key: StreamKey): Message {
  const fields = state.kind === 'transfers' ? transfersFields(state) : sessionFields(state);
  const names = `{"type":"state","channel":"own","wallet":"${checksumAddress(wallet)}"`;
  const at = { partition: -1, offset: -1, index: -1, timeMs: 0 };
  return plainMessage({ seq: 0, prev: 0, at }, key, `${names},${JSON.stringify(fields).slice(1)}`);
}

function transfersFields({ transfers }: Extract<OwnState, { kind: 'transfers' }>) {
  const { offset, timeMs, totalMicro } = transfers;
  const at = { partition: 0, offset, index: -1 };
  return { kind: 'transfers', at, time: timeMs, total: microText(totalMicro) };
}

function sessionFields({ session }: Extract<OwnState, { kind: 'session' }>) {
  const { apiKey, sequence, phase, heartbeatId, beatAtMs } = session;
  const names = { kind: 'session', api_key: apiKey, sequence, phase, heartbeat_id: heartbeatId };
  const deadline = phase === 'LIVE' ? beatAtMs + sessionPromiseMs : null;
  return { ...names, time: beatAtMs, deadline };
}

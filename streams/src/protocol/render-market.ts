import { orderName } from '@pm/domain/books/order-name';
import { microText, priceText } from '@pm/schemas/decimal';
import type { Activity } from '@pm/schemas/http/reports';
import type { Fill } from '@pm/schemas/log/executions';
import { priceOne } from '@pm/schemas/money';
import { tradeHash, tradeId } from '@pm/schemas/trade-id';
import type {
  LogPosition,
  MarketRules,
  OrderChange,
  RestingOrder,
  RulesChange,
  TradeChange,
} from '../feed/changes.ts';
import type { EventsSnapshot, OrdersSnapshot, RulesSnapshot } from '../feed/snapshots.ts';
import type { Message, StreamKey } from './message.ts';
import { type ChangeHead, changeFields, snapshotFields } from './render-book.ts';

type Tokens = readonly [string, string];

/** A JSON text of the fields, without its first brace. */
const fieldsOf = (fields: object): string => JSON.stringify(fields).slice(1);

function ofMarket(type: string, channel: string, { condition }: StreamKey): string {
  return `{"type":"${type}","channel":"${channel}","market":"${condition}"`;
}

/** A message that cannot be merged with another one. */
export function plainMessage(head: ChangeHead, key: StreamKey, text: string): Message {
  return { ...head, key, content: null, bytes: Buffer.from(text), isChecksum: false };
}

function headOf({ seq, at }: { readonly seq: number; readonly at: LogPosition }): ChangeHead {
  return { seq, prev: seq - 1, at };
}

/** Names a resting order of the market of a channel. */
type NameOrder = (orderId: Buffer) => string;

function namesBy(secret: Buffer, { condition }: StreamKey): NameOrder {
  return (orderId) => orderName(secret, condition, orderId);
}

function restingFields({ orderId, side, price, restingMicro }: RestingOrder, nameOf: NameOrder) {
  const order = nameOf(orderId);
  return { order, side, price: priceText(price), size: microText(restingMicro) };
}

export function orderDelta(change: OrderChange, key: StreamKey, secret: Buffer): Message {
  const head = headOf(change);
  const nameOf = namesBy(secret, key);
  const fields =
    change.action === 'remove'
      ? { action: change.action, order: nameOf(change.order.orderId) }
      : { action: change.action, ...restingFields(change.order, nameOf) };
  const text = `${ofMarket('delta', 'orders', key)},${changeFields(head)},${fieldsOf(fields)}`;
  return plainMessage(head, key, text);
}

/** The place of a message in a snapshot of several parts; nothing for one alone. */
export function partFields(part: number, more: boolean) {
  if (more) return { part, more };
  return part === 0 ? {} : { part };
}

/** Which part of a snapshot a message is; `more`: another one follows. */
interface OrdersPart {
  readonly secret: Buffer;
  readonly isGap: boolean;
  readonly part: number;
  readonly more: boolean;
}

export function ordersSnapshot(
  snapshot: Omit<OrdersSnapshot, 'orders'> & { readonly orders: readonly RestingOrder[] },
  key: StreamKey,
  { secret, isGap, part, more }: OrdersPart,
): string {
  const nameOf = namesBy(secret, key);
  const orders = snapshot.orders.map((order) => restingFields(order, nameOf));
  const head = `${ofMarket('snapshot', 'orders', key)},${snapshotFields(snapshot, isGap)}`;
  return `${head},${fieldsOf({ ...partFields(part, more), orders })}`;
}

/** The beginning of a channel of events, which has no state. */
export function eventsSnapshot(snapshot: EventsSnapshot, key: StreamKey, isGap: boolean): string {
  const head = ofMarket('snapshot', snapshot.channel, key);
  return `${head},${snapshotFields(snapshot, isGap)},"items":[]}`;
}

export function tradeMessage(change: TradeChange, key: StreamKey, tokens: Tokens): Message {
  const head = headOf(change);
  const fields = tradeFields(change.fill, change.at, tokens);
  const text = `${ofMarket('event', 'trades', key)},${changeFields(head)},${fieldsOf(fields)}`;
  return plainMessage(head, key, text);
}

function tradeFields(fill: Fill, { partition, offset, index }: LogPosition, tokens: Tokens) {
  const id = tradeId({ partition, inOffset: offset, eventIndex: index });
  return {
    id,
    transaction_hash: tradeHash(id),
    match: fill.match,
    token: tokens[fill.takerOutcome === 0 ? 0 : 1],
    side: fill.takerSide,
    price: priceText(fill.takerPrice),
    size: microText(fill.sizeMicro),
    maker_token: tokens[fill.makerOutcome === 0 ? 0 : 1],
    maker_price: priceText(fill.makerPrice),
    fee_rate_bps: fill.feeRateBps,
  };
}

function rulesFields(rules: MarketRules, tokens: Tokens) {
  const { payout0 } = rules;
  return {
    tokens,
    mode: rules.mode,
    trading_mode: rules.tradingMode,
    tick_size: priceText(rules.tick),
    min_order_size: microText(rules.minSizeMicro),
    fee_rate_bps: rules.feeRateBps,
    taker_delay_ms: rules.takerDelayMs,
    payouts: payout0 === null ? null : [priceText(payout0), priceText(priceOne - payout0)],
  };
}

/** `prev` is another than the seq before where the newest rules stand for several changes. */
export function rulesMessage(
  change: RulesChange,
  key: StreamKey,
  { tokens, prev = change.seq - 1 }: { readonly tokens: Tokens; readonly prev?: number },
): Message {
  const head = { seq: change.seq, prev, at: change.at };
  const merged = prev === change.seq - 1 ? {} : { merged: true };
  const fields = { ...merged, action: change.action, ...rulesFields(change.rules, tokens) };
  const text = `${ofMarket('event', 'markets', key)},${changeFields(head)},${fieldsOf(fields)}`;
  return plainMessage(head, key, text);
}

export function rulesSnapshot(
  snapshot: RulesSnapshot,
  key: StreamKey,
  { tokens, isGap }: { readonly tokens: Tokens; readonly isGap: boolean },
): string {
  const head = `${ofMarket('snapshot', 'markets', key)},${snapshotFields(snapshot, isGap)}`;
  return `${head},${fieldsOf(rulesFields(snapshot.rules, tokens))}`;
}

export function activityMessage(
  change: { readonly seq: number; readonly at: LogPosition },
  key: StreamKey,
  activity: Activity,
): Message {
  const head = headOf(change);
  const text = `${ofMarket('event', 'activity', key)},${changeFields(head)},${fieldsOf({ activity })}`;
  return plainMessage(head, key, text);
}

import { putLong, putWords } from '@pm/schemas/avro/bytes';
import type { PlacedStatus } from '@pm/schemas/log/executions';
import type { PlaceOrder } from '@pm/schemas/log/orders';
import type { CancelReason } from '@pm/schemas/log/types';
import { lotMicro } from '@pm/schemas/money';
import type { RefusalCode } from '@pm/schemas/refusals';
import { at } from '../book/order-pool.ts';
import type { FillFacts, Taker } from '../orders/taker.ts';
import type { Output } from '../record.ts';
import type { KeyTable } from '../state/key-table.ts';
import type { State } from '../state/state.ts';
import { layoutOf, symbolsOf } from './event-writer.ts';

/**
 * The events of nearly every command, field by field from flat memory to the bytes of the execution: ids, addresses and
 * codes are copied by words from the tables that number them. Rarer events are objects (`EventWriter.push`). Each
 * layout names the fields of its schema, and a test reads all of it back.
 */
const placed = layoutOf(
  'OrderPlaced',
  'command orderId market outcome side timeInForce postOnly price sizeMicro expiresAtMs acceptedAtMs',
  'maker signer apiKey builder status filledMicro paidMicro feeMicro restingMicro',
);

/** The order is registered: its id, wallet, account and builder code have numbers. */
export function writePlaced(
  state: State,
  taker: Taker,
  status: PlacedStatus,
  { events, command }: Output,
): void {
  const { order } = taker;
  const begun = events.begin(placed);
  const { buffer, view } = events.to;
  let to = putLong(buffer, begun, command);
  to = putKey(view, to, state.orderMemory.table, taker.memory);
  to = putLong(buffer, to, order.market);
  buffer[to] = order.outcome * 2;
  buffer[to + 1] = taker.isBuy ? buy : sell;
  buffer[to + 2] = symbol(timesInForce, order.timeInForce);
  buffer[to + 3] = order.postOnly ? 1 : 0;
  to = putLong(buffer, to + 4, order.price);
  to = putLong(buffer, to, order.sizeMicro);
  to = putLong(buffer, to, order.expiresAtMs);
  to = putLong(buffer, to, order.acceptedAtMs);
  to = putKey(view, to, state.wallets.table, taker.wallet);
  to = putKey(view, to, state.accounts.table, taker.account);
  to = putKey(view, to, state.builders.table, taker.builder);
  buffer[to] = symbol(statuses, status);
  to = putLong(buffer, to + 1, taker.filledMicro);
  to = putLong(buffer, to, taker.paidMicro);
  to = putLong(buffer, to, taker.feeMicro);
  events.end(placed, putLong(buffer, to, taker.restingMicro));
}

const refused = layoutOf('OrderRefused', 'command orderId market maker apiKey code');

export function writeRefused(
  order: PlaceOrder,
  code: RefusalCode,
  { events, command }: Output,
): void {
  const begun = events.begin(refused);
  const { buffer } = events.to;
  let to = putBytes(buffer, putLong(buffer, begun, command), order.orderId);
  to = putLong(buffer, to, order.market);
  to = putBytes(buffer, to, order.maker);
  to = putBytes(buffer, to, order.apiKey);
  events.end(refused, putLong(buffer, to, codes.indexOf(code)));
  events.refusals.push(code);
}

const filled = layoutOf(
  'Fill',
  'command market match sizeMicro',
  'takerOrderId taker takerKey takerOutcome takerSide takerPrice takerBuilder',
  'makerOrderId maker makerKey makerOutcome makerSide makerPrice makerBuilder makerRestMicro',
  'feeMicro feeRateBps',
);

export function writeFill(state: State, taker: Taker, facts: FillFacts, out: Output): void {
  const { events } = out;
  const begun = events.begin(filled);
  const { buffer, view } = events.to;
  const { order, market } = taker;
  const makerOutcome = state.book.orders.outcome(facts.maker);
  let to = putLong(buffer, begun, out.command);
  to = putLong(buffer, to, market.number);
  buffer[to] = matchOf(taker, makerOutcome);
  to = putLong(buffer, to + 1, facts.lots * lotMicro);
  to = putKey(view, to, state.orderMemory.table, taker.memory);
  to = putKey(view, to, state.wallets.table, taker.wallet);
  to = state.accounts.putApiKey(taker.account, view, to);
  buffer[to] = order.outcome * 2;
  buffer[to + 1] = taker.isBuy ? buy : sell;
  to = putLong(buffer, to + 2, facts.price);
  to = putKey(view, to, state.builders.table, taker.builder);
  to = putMaker(state, facts, out, to);
  to = putLong(buffer, to, facts.fee);
  events.end(filled, putLong(buffer, to, market.feeRateBps));
  events.fills += 1;
}

function putMaker(
  state: State,
  { maker, lots }: FillFacts,
  { events }: Output,
  from: number,
): number {
  const { orders } = state.book;
  const { buffer, view } = events.to;
  let to = putKey(view, from, state.orderMemory.table, orders.get(maker, at.memory));
  to = putKey(view, to, state.wallets.table, orders.get(maker, at.wallet));
  to = state.accounts.putApiKey(orders.get(maker, at.account), view, to);
  buffer[to] = orders.outcome(maker) * 2;
  buffer[to + 1] = state.isBuy(maker) ? buy : sell;
  to = putLong(buffer, to + 2, state.ownPrice(maker));
  to = putKey(view, to, state.builders.table, orders.get(maker, at.builder));
  return putLong(buffer, to, (orders.get(maker, at.restLots) - lots) * lotMicro);
}

const matches = symbolsOf('Fill', 'match');

function matchOf(taker: Taker, makerOutcome: number): number {
  if (makerOutcome === taker.order.outcome) return symbol(matches, 'COMPLEMENTARY');
  return symbol(matches, taker.isBuy ? 'MINT' : 'MERGE');
}

const canceled = layoutOf('OrderCanceled', 'command orderId market maker apiKey reason restMicro');

/** The cancel of an order that still rests. */
export function writeCanceled(
  state: State,
  order: number,
  reason: CancelReason,
  { events, command }: Output,
): void {
  const { orders } = state.book;
  const begun = events.begin(canceled);
  const { buffer, view } = events.to;
  let to = putLong(buffer, begun, command);
  to = putKey(view, to, state.orderMemory.table, orders.get(order, at.memory));
  to = putLong(buffer, to, state.marketOf(order).number);
  to = putKey(view, to, state.wallets.table, orders.get(order, at.wallet));
  to = state.accounts.putApiKey(orders.get(order, at.account), view, to);
  buffer[to] = symbol(reasons, reason);
  events.end(canceled, putLong(buffer, to + 1, orders.get(order, at.restLots) * lotMicro));
}

const cancelRefused = layoutOf('CancelRefused', 'command orderId code');

export function writeCancelRefused(
  orderId: Buffer,
  code: RefusalCode,
  { events, command }: Output,
): void {
  const begun = events.begin(cancelRefused);
  const { buffer } = events.to;
  const to = putBytes(buffer, putLong(buffer, begun, command), orderId);
  events.end(cancelRefused, putLong(buffer, to, codes.indexOf(code)));
  events.refusals.push(code);
}

/** Refuses a command that is neither an order nor a cancel of one; it changes nothing. */
export function refuseCommand(code: RefusalCode, out: Output): void {
  out.events.push({ kind: 'CommandRefused', command: out.command, code, requestId: null });
}

const levelChanged = layoutOf('LevelChanged', 'market side price sizeMicro');

/** The level of a market by its number, now with `sizeMicro`. */
export function writeLevel(
  market: number,
  isBid: boolean,
  price: number,
  sizeMicro: number,
  { events }: Output,
): void {
  const begun = events.begin(levelChanged);
  const { buffer } = events.to;
  let to = putLong(buffer, begun, market);
  buffer[to] = isBid ? buy : sell;
  to = putLong(buffer, to + 1, price);
  events.end(levelChanged, putLong(buffer, to, sizeMicro));
}

const topChanged = layoutOf('TopChanged', 'market bid ask');

/** The market by its slot. */
export function writeTop({ book, markets }: State, market: number, { events }: Output): void {
  const begun = events.begin(topChanged);
  const { buffer } = events.to;
  let to = putLong(buffer, begun, markets.at(market).number);
  to = putLong(buffer, to, book.bestBid(market));
  events.end(topChanged, putLong(buffer, to, book.bestAsk(market)));
}

const moneyMoved = layoutOf('MoneyMoved', 'wallet freeMicro heldMicro');

/** The wallet by its slot. */
export function writeMoney({ wallets }: State, wallet: number, { events }: Output): void {
  const begun = events.begin(moneyMoved);
  const { buffer, view } = events.to;
  let to = putKey(view, begun, wallets.table, wallet);
  to = putLong(buffer, to, wallets.freeChange(wallet));
  events.end(moneyMoved, putLong(buffer, to, wallets.heldChange(wallet)));
}

/** The whole key of a record. */
function putKey(view: DataView, to: number, table: KeyTable, slot: number): number {
  return putWords(view, to, table.ints, slot * table.stride, table.keyWords);
}

function putBytes(buffer: Buffer, to: number, bytes: Buffer): number {
  const { length } = bytes;
  for (let index = 0; index < length; index += 1) buffer[to + index] = bytes[index] as number;
  return to + length;
}

/** A number below 64 takes one byte, twice itself (zig-zag). Symbols are few: a search is cheaper than a map. */
function symbol(symbols: readonly string[], value: string): number {
  let number = symbols.length - 1;
  while (number > 0 && symbols[number] !== value) number -= 1;
  return number * 2;
}

const sides = symbolsOf('OrderPlaced', 'side');
const buy = symbol(sides, 'BUY');
const sell = symbol(sides, 'SELL');
const timesInForce = symbolsOf('OrderPlaced', 'timeInForce');
const statuses = symbolsOf('OrderPlaced', 'status');
const reasons = symbolsOf('OrderCanceled', 'reason');
const codes = symbolsOf('OrderRefused', 'code');

import {
  type ByteWriter,
  type CancelReason,
  lotMicro,
  type PlacedStatus,
  type PlaceOrder,
  type RefusalCode,
} from '@pm/schemas';
import { layoutOf, numbersOf } from './event-writer.ts';
import { at } from './order-pool.ts';
import type { Output, State } from './state.ts';
import type { Taker } from './taker.ts';

/**
 * The events that nearly every command brings, field by field from flat memory to the bytes of the execution. Rarer ones
 * are objects (`EventWriter.push`). Each layout names the fields of its schema, and a test reads all of it back.
 */
const placed = layoutOf(
  'OrderPlaced',
  'command orderId market outcome side timeInForce postOnly price sizeMicro expiresAtMs acceptedAtMs maker signer apiKey builder status filledMicro paidMicro feeMicro restingMicro',
);

export function writePlaced(taker: Taker, status: PlacedStatus, { events, command }: Output): void {
  const { order } = taker;
  const to = events.begin(placed);
  to.writeLong(command);
  to.writeBytes(order.orderId);
  to.writeLong(order.market);
  to.writeLong(order.outcome);
  to.writeByte(symbol(sides, order.side));
  to.writeByte(symbol(timesInForce, order.timeInForce));
  to.writeByte(order.postOnly ? 1 : 0);
  to.writeLong(order.price);
  to.writeLong(order.sizeMicro);
  to.writeLong(order.expiresAtMs);
  to.writeLong(order.acceptedAtMs);
  to.writeBytes(order.maker);
  to.writeBytes(order.signer);
  to.writeBytes(order.apiKey);
  to.writeBytes(order.builder);
  to.writeByte(symbol(statuses, status));
  to.writeLong(taker.filledMicro);
  to.writeLong(taker.paidMicro);
  to.writeLong(taker.feeMicro);
  to.writeLong(taker.restingMicro);
  events.end(placed);
}

const refused = layoutOf('OrderRefused', 'command orderId market maker apiKey code');

export function writeRefused(
  order: PlaceOrder,
  code: RefusalCode,
  { events, command }: Output,
): void {
  const to = events.begin(refused);
  to.writeLong(command);
  to.writeBytes(order.orderId);
  to.writeLong(order.market);
  to.writeBytes(order.maker);
  to.writeBytes(order.apiKey);
  to.writeLong(codes.get(code) as number);
  events.end(refused);
  events.refusals.push(code);
}

const filled = layoutOf(
  'Fill',
  'command market match sizeMicro takerOrderId taker takerKey takerOutcome takerSide takerPrice takerBuilder makerOrderId maker makerKey makerOutcome makerSide makerPrice makerBuilder makerRestMicro feeMicro feeRateBps',
);

/** A fill that is about to be taken from its maker. */
export interface FillFacts {
  readonly maker: number;
  /** In terms of the taker's token. */
  readonly price: number;
  readonly lots: number;
  /** Micro-USDC, once it is known. */
  fee: number;
}

export function writeFill(
  state: State,
  taker: Taker,
  { maker, price, lots, fee }: FillFacts,
  { events, command }: Output,
): void {
  const { orders } = state.book;
  const { order, market } = taker;
  const makerOutcome = orders.outcome(maker);
  const to = events.begin(filled);
  to.writeLong(command);
  to.writeLong(market.number);
  to.writeByte(matchOf(taker, makerOutcome));
  to.writeLong(lots * lotMicro);
  to.writeBytes(order.orderId);
  to.writeBytes(order.maker);
  to.writeBytes(order.apiKey);
  to.writeLong(order.outcome);
  to.writeByte(symbol(sides, order.side));
  to.writeLong(price);
  to.writeBytes(order.builder);
  writeOrderId(state, maker, to);
  state.wallets.writeBytes(orders.get(maker, at.wallet), to);
  state.accounts.writeApiKey(orders.get(maker, at.account), to);
  to.writeLong(makerOutcome);
  to.writeByte(symbol(sides, state.isBuy(maker) ? 'BUY' : 'SELL'));
  to.writeLong(state.ownPrice(maker));
  state.builders.writeBytes(orders.get(maker, at.builder), to);
  to.writeLong((orders.get(maker, at.restLots) - lots) * lotMicro);
  to.writeLong(fee);
  to.writeLong(market.feeRateBps);
  events.end(filled);
  events.fills += 1;
}

const matches = numbersOf('Fill', 'match');

function matchOf(taker: Taker, makerOutcome: number): number {
  if (makerOutcome === taker.order.outcome) return symbol(matches, 'COMPLEMENTARY');
  return symbol(matches, taker.isBuy ? 'MINT' : 'MERGE');
}

const canceled = layoutOf('OrderCanceled', 'command orderId market maker apiKey reason restMicro');

/** Of an order that still rests. */
export function writeCanceled(
  state: State,
  order: number,
  reason: CancelReason,
  { events, command }: Output,
): void {
  const { orders } = state.book;
  const to = events.begin(canceled);
  to.writeLong(command);
  writeOrderId(state, order, to);
  to.writeLong(state.marketOf(order).number);
  state.wallets.writeBytes(orders.get(order, at.wallet), to);
  state.accounts.writeApiKey(orders.get(order, at.account), to);
  to.writeByte(symbol(reasons, reason));
  to.writeLong(orders.get(order, at.restLots) * lotMicro);
  events.end(canceled);
}

const cancelRefused = layoutOf('CancelRefused', 'command orderId code');

export function writeCancelRefused(
  orderId: Buffer,
  code: RefusalCode,
  { events, command }: Output,
): void {
  const to = events.begin(cancelRefused);
  to.writeLong(command);
  to.writeBytes(orderId);
  to.writeLong(codes.get(code) as number);
  events.end(cancelRefused);
  events.refusals.push(code);
}

const levelChanged = layoutOf('LevelChanged', 'market side price sizeMicro');

export interface ChangedLevel {
  /** The number of the market. */
  readonly market: number;
  readonly isBid: boolean;
  readonly price: number;
  readonly sizeMicro: number;
}

export function writeLevel(level: ChangedLevel, { events }: Output): void {
  const to = events.begin(levelChanged);
  to.writeLong(level.market);
  to.writeByte(symbol(sides, level.isBid ? 'BUY' : 'SELL'));
  to.writeLong(level.price);
  to.writeLong(level.sizeMicro);
  events.end(levelChanged);
}

const topChanged = layoutOf('TopChanged', 'market bid ask');

/** The market by its slot. */
export function writeTop({ book, markets }: State, market: number, { events }: Output): void {
  const to = events.begin(topChanged);
  to.writeLong(markets.at(market).number);
  to.writeLong(book.bestBid(market));
  to.writeLong(book.bestAsk(market));
  events.end(topChanged);
}

const moneyMoved = layoutOf('MoneyMoved', 'wallet freeMicro heldMicro');

/** The wallet by its slot. */
export function writeMoney({ wallets }: State, wallet: number, { events }: Output): void {
  const to = events.begin(moneyMoved);
  wallets.writeBytes(wallet, to);
  to.writeLong(wallets.freeChange(wallet));
  to.writeLong(wallets.heldChange(wallet));
  events.end(moneyMoved);
}

/** A number below 64 takes one byte, twice itself (zig-zag). */
function symbol(numbers: ReadonlyMap<string, number>, value: string): number {
  return (numbers.get(value) as number) * 2;
}

const sides = numbersOf('OrderPlaced', 'side');
const timesInForce = numbersOf('OrderPlaced', 'timeInForce');
const statuses = numbersOf('OrderPlaced', 'status');
const reasons = numbersOf('OrderCanceled', 'reason');
const codes = numbersOf('OrderRefused', 'code');

function writeOrderId(state: State, order: number, to: ByteWriter): void {
  state.orderMemory.writeId(state.book.orders.get(order, at.memory), to);
}

import type { Keccak } from '@pm/domain/orders/eip712';
import type { OrderResult, TradeRef } from '@pm/domain/orders/order-result';
import { microText } from '@pm/schemas/decimal';
import { noOrder, type PlacementResult } from '@pm/schemas/http/trading';
import type { OrderId } from '@pm/schemas/ids';
import { retryAfterSeconds } from '@pm/schemas/refusal-codes';
import { type RefusalCode, refusalText } from '@pm/schemas/refusals';
import { tradeId } from '@pm/schemas/trade-id';
import type { OrderRefusal } from './check.ts';

/** A refused item: its text and code, and nothing of an order (conventions.md 3.7). */
export function refusedResponse(
  code: RefusalCode,
  facts: Readonly<Record<string, string | number>> = {},
  { text = refusalText(code, facts), waitSeconds }: Pick<OrderRefusal, 'text' | 'waitSeconds'> = {},
): PlacementResult {
  const seconds = waitSeconds ?? retryAfterSeconds(code);
  const wait = seconds === undefined ? {} : { retry_after_seconds: seconds };
  return { success: false, errorMsg: text, ...noOrder, code, ...wait };
}

/** The order may be on the log: its result has not come back in time. Success is said of durable orders only. */
export function unconfirmedResponse(orderId: OrderId): PlacementResult {
  const ids = { orderID: orderId, orderHash: orderId };
  return { ...refusedResponse('order_unconfirmed', { id: orderId }), ...ids };
}

/** The order is durable, and its taker delay has not ended. */
function delayedResponse(orderId: OrderId): PlacementResult {
  return { ...success(orderId, 'delayed'), makingAmount: '', takingAmount: '' };
}

/**
 * The result from the log as the client reads it. `facts` fill the text of a refusal. Of an order that was sent before
 * it is the first result, with a mark that it is a repetition and whether the order still rests or is delayed.
 */
export function responseOf(
  result: OrderResult,
  facts: Readonly<Record<string, string | number>>,
  keccak: Keccak,
): PlacementResult {
  const response = firstResponseOf(result, facts, keccak);
  if (result.repeated !== true) return response;
  return { ...response, repeated: true, alive: isAlive(result) };
}

function isAlive(result: OrderResult): boolean {
  if (result.kind === 'refused' || result.ended === true) return false;
  return result.status === 'LIVE' || result.status === 'DELAYED';
}

function firstResponseOf(
  result: OrderResult,
  facts: Readonly<Record<string, string | number>>,
  keccak: Keccak,
): PlacementResult {
  if (result.kind === 'refused') return refusedResponse(result.code, facts);
  if (result.status === 'DELAYED') return delayedResponse(result.orderId);
  if (result.filledMicro === 0) return restingResult(result);
  const shares = microText(result.filledMicro);
  const usdc = microText(result.paidMicro);
  const [makingAmount, takingAmount] = result.side === 'BUY' ? [usdc, shares] : [shares, usdc];
  return {
    ...success(result.orderId, 'matched'),
    makingAmount,
    takingAmount,
    ...tradesOf(result.trades, keccak),
  };
}

/** Placed without a fill: it rests, unless the book gave it back at once. */
function restingResult(result: Extract<OrderResult, { kind: 'placed' }>): PlacementResult {
  if (result.status === 'CANCELED') return refusedResponse('self_trade');
  return {
    ...success(result.orderId, 'live'),
    makingAmount: '',
    takingAmount: '',
    transactionsHashes: [],
    tradeIDs: [],
  };
}

function success(orderId: OrderId, status: 'live' | 'matched' | 'delayed') {
  return { success: true, errorMsg: '', orderID: orderId, orderHash: orderId, status };
}

/** Hashes and trade ids, or neither: clients poll when they get ids alone (conventions.md 3.12). */
function tradesOf(trades: readonly TradeRef[] | null, keccak: Keccak) {
  if (trades === null) return {};
  return {
    transactionsHashes: trades.map((trade) => hashOfTrade(trade, keccak)),
    tradeIDs: trades.map(tradeId),
  };
}

/** `tradeHash` of the schemas by the native hash: an order may have a thousand fills. */
function hashOfTrade(trade: TradeRef, keccak: Keccak): string {
  return `0x${keccak(Buffer.from(tradeId(trade), 'ascii')).toString('hex')}`;
}

import {
  microText,
  noOrder,
  type OrderId,
  type PlacementResult,
  type RefusalCode,
  refusals,
  refusalText,
  tradeId,
} from '@pm/schemas';
import type { Keccak } from './order-hash.ts';
import type { PlacementAnswer, TradeRef } from './placement-answer.ts';

/** Seconds after which a refusal that waiting helps against is worth another try. */
const retryAfterSeconds = 1;

/** What stands for a refused item: its text and code, and nothing of an order (conventions.md 3.7). */
export function refusedResult(
  code: RefusalCode,
  facts: Readonly<Record<string, string | number>> = {},
  text = refusalText(code, facts),
): PlacementResult {
  return {
    success: false,
    errorMsg: text,
    ...noOrder,
    code,
    ...(isWorthWaiting(code) ? { retry_after_seconds: retryAfterSeconds } : {}),
  };
}

/** The order is durable, but its result has not come back in time. */
export function delayedResult(orderId: OrderId): PlacementResult {
  return { ...success(orderId, 'delayed'), makingAmount: '', takingAmount: '' };
}

/** The matcher's answer as the client reads it. `facts` fill the text of a refusal. */
export function answeredResult(
  answer: PlacementAnswer,
  facts: Readonly<Record<string, string | number>>,
  keccak: Keccak,
): PlacementResult {
  if (answer.kind === 'refused') return refusedResult(answer.code, facts);
  if (answer.status === 'DELAYED') return delayedResult(answer.orderId);
  if (answer.filledMicro === 0) return restingResult(answer);
  const shares = microText(answer.filledMicro);
  const usdc = microText(answer.paidMicro);
  const [makingAmount, takingAmount] = answer.side === 'BUY' ? [usdc, shares] : [shares, usdc];
  return {
    ...success(answer.orderId, 'matched'),
    makingAmount,
    takingAmount,
    ...tradesOf(answer.trades, keccak),
  };
}

/** Placed without a fill: it rests, unless the book gave it back at once. */
function restingResult(answer: Extract<PlacementAnswer, { kind: 'placed' }>): PlacementResult {
  if (answer.status === 'CANCELED') return refusedResult('self_trade');
  return {
    ...success(answer.orderId, 'live'),
    makingAmount: '',
    takingAmount: '',
    transactionsHashes: [],
    tradeIDs: [],
  };
}

function success(orderId: OrderId, status: 'live' | 'matched' | 'delayed') {
  return { success: true, errorMsg: '', orderID: orderId, orderHash: orderId, status };
}

/** Hashes and trade ids, or neither: clients poll when they get ids alone (conventions.md 1.6). */
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

function isWorthWaiting(code: RefusalCode): boolean {
  return [425, 429, 503].includes(refusals[code].status);
}

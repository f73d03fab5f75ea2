import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { Command, CommandOf, Envelope, PlaceOrder } from '@pm/schemas/log/orders';
import { keyIdOf } from '../../src/core/index.ts';

/** Builders of commands with sensible defaults, for examples, scenarios and random logs. */
export const startMs = 1_700_000_000_000;
export const lotMicro = 10_000;
export const oneShareMicro = 1_000_000;

/** Bytes that spell a number: different numbers, different ids. */
function bytesOf(length: number, kind: number, number: number): Buffer {
  const bytes = Buffer.alloc(length);
  bytes[0] = kind;
  bytes.writeDoubleBE(number, length - 8);
  return bytes;
}

export const walletOf = (number: number): Buffer => bytesOf(20, 1, number);
export const signerOf = (number: number): Buffer => bytesOf(20, 2, number);
export const apiKeyOf = (number: number): Buffer => bytesOf(16, 3, number);
export const orderIdOf = (number: number): Buffer => bytesOf(32, 4, number);
export const requestIdOf = (number: number): Buffer => bytesOf(32, 5, number);
export const builderOf = (number: number): Buffer =>
  number === 0 ? Buffer.alloc(32) : bytesOf(32, 6, number);

const operatorKey = bytesOf(32, 7, 0);
export const feeWallet = walletOf(999);
export const partition = 3;

export const opening: CommandOf<'OpenPartition'> = {
  kind: 'OpenPartition',
  partition,
  operatorKey,
  feeWallet,
  bookAgeLimitMs: 2_000,
  orderAgeLimitMs: 120_000,
  timeMs: startMs,
};

export function marketRules(
  market: number,
  rules: Partial<CommandOf<'SetMarket'>> = {},
): CommandOf<'SetMarket'> {
  return {
    kind: 'SetMarket',
    market,
    conditionId: bytesOf(32, 8, market),
    token0: bytesOf(32, 9, market),
    token1: bytesOf(32, 10, market),
    tick: 100,
    minSizeMicro: oneShareMicro,
    feeRateBps: 0,
    mode: 'OPEN',
    takerDelayMs: 0,
    tickOnly: false,
    ...rules,
  };
}

/** A GTC BUY of ten shares of token 0 at 0.50 with money enough for anything. */
export function orderOf(id: number, wallet: number, order: Partial<PlaceOrder> = {}): PlaceOrder {
  return {
    kind: 'PlaceOrder',
    orderId: orderIdOf(id),
    market: 1,
    outcome: 0,
    side: 'BUY',
    timeInForce: 'GTC',
    postOnly: false,
    price: 5_000,
    sizeMicro: 10 * oneShareMicro,
    budgetMicro: 0,
    holdMicro: 1e14,
    generation: 0,
    expiresAtMs: 0,
    acceptedAtMs: startMs,
    ageLimitMs: 0,
    signedAtMs: startMs,
    maker: walletOf(wallet),
    signer: signerOf(wallet),
    apiKey: apiKeyOf(wallet),
    builder: builderOf(0),
    selfTrade: 'CANCEL_NEWEST',
    ...order,
  };
}

export function splitOf(id: number, wallet: number, sizeMicro: number, market = 1): Command {
  return {
    kind: 'SplitPosition',
    requestId: requestIdOf(id),
    wallet: walletOf(wallet),
    market,
    sizeMicro,
    holdMicro: sizeMicro,
    generation: 0,
    acceptedAtMs: 0,
  };
}

export function cancelAll(
  filter: Partial<CommandOf<'CancelOrders'>> = {},
): CommandOf<'CancelOrders'> {
  const anyOwner = { signer: null, apiKey: null };
  const everything = { ...anyOwner, market: -1, outcome: -1, session: false, acceptedAtMs: 0 };
  return { kind: 'CancelOrders', ...everything, ...filter };
}

const ingressKey = keyIdOf(bytesOf(32, 11, 1));
const operatorKeyId = keyIdOf(operatorKey);

export function envelopeOf(commands: readonly Command[], role = 'INGRESS'): Envelope {
  return {
    signature: Buffer.alloc(64),
    keyId: role === 'OPERATOR' ? operatorKeyId : ingressKey,
    partition,
    sequence: 0,
    commands,
  };
}

/** Results of orders in words: statuses of placements, reasons of cancels, sizes of fills, codes of refusals. */
export function resultsOf(events: readonly ExecutionEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.kind === 'OrderPlaced') return [event.status];
    if (event.kind === 'OrderDelayed') return ['held'];
    if (event.kind === 'OrderCanceled') return [event.reason];
    if (event.kind === 'Fill') return [`fill ${event.sizeMicro / oneShareMicro}`];
    return 'code' in event && event.code !== null ? [event.code] : [];
  });
}

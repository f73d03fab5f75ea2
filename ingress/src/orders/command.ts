import { AvroError } from '@pm/schemas/avro/bytes';
import { compileCodec } from '@pm/schemas/avro/codec';
import { apiKeyBytes, hexBytes } from '@pm/schemas/ids';
import { type Envelope, envelope, type PlaceOrder } from '@pm/schemas/log/orders';
import type { BookTimes } from '../http/request-headers.ts';
import type { Caller, CheckedOrder } from './check.ts';

/** Money reserved for an order, its acceptance, and the time that it has to reach its book from then on. */
export interface OrderHold extends Pick<BookTimes, 'acceptedAtMs' | 'ageLimitMs'> {
  /** Ledger generation of the reservation. */
  readonly generation: number;
  readonly holdMicro: number;
}

/** The order as the log carries it. */
export function placeCommand(
  { form, token, amounts, hash, expiresAtMs }: CheckedOrder,
  caller: Caller,
  hold: OrderHold,
): PlaceOrder {
  return {
    kind: 'PlaceOrder',
    orderId: hash,
    market: token.market.market,
    outcome: token.outcome,
    side: form.struct.side,
    timeInForce: form.timeInForce,
    postOnly: form.postOnly,
    ...amounts,
    holdMicro: hold.holdMicro,
    generation: hold.generation,
    expiresAtMs,
    acceptedAtMs: hold.acceptedAtMs,
    ageLimitMs: hold.ageLimitMs,
    signedAtMs: form.signedAtMs,
    maker: form.struct.maker,
    // Who really signed: of a deposit wallet the owner, so that one cancel reaches all orders of that owner.
    signer: hexBytes(caller.address),
    apiKey: apiKeyBytes(caller.apiKey),
    builder: form.struct.builder,
    selfTrade: caller.selfTrade,
  };
}

/** An order that is about to be sent, and where to. */
export interface SentOrder {
  readonly partition: number;
  readonly order: PlaceOrder;
}

const codec = compileCodec(envelope);
const unsigned: Pick<Envelope, 'signature' | 'keyId' | 'sequence'> = {
  signature: Buffer.alloc(64),
  keyId: Buffer.alloc(8),
  sequence: 0,
};

/**
 * The orders that a request with an idempotency key is about to send, item by item; null for items that send nothing.
 * The list is stored before the first order leaves, so that another process can ask the log for the results
 * (conventions.md 3.9).
 */
export function encodeAttempts(attempts: readonly (SentOrder | null)[]): string {
  return attempts.map((one) => (one === null ? '' : encode(one))).join(',');
}

/**
 * Reads a list that `encodeAttempts` has written; null when it cannot be read: then it is unknown which orders were
 * sent.
 */
export function decodeAttempts(text: string): readonly (SentOrder | null)[] | null {
  const attempts: (SentOrder | null)[] = [];
  for (const item of text.split(',')) {
    const attempt = item === '' ? null : decode(item);
    if (attempt === undefined) return null;
    attempts.push(attempt);
  }
  return attempts;
}

function encode({ partition, order }: SentOrder): string {
  return codec.encode({ ...unsigned, partition, commands: [order] }).toString('base64');
}

function decode(item: string): SentOrder | undefined {
  try {
    const { partition, commands } = codec.decode(Buffer.from(item, 'base64'));
    const [order] = commands;
    return order?.kind === 'PlaceOrder' ? { partition, order } : undefined;
  } catch (error) {
    if (error instanceof AvroError) return undefined;
    throw error;
  }
}

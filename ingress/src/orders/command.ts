import {
  AvroError,
  apiKeyBytes,
  compileCodec,
  type Envelope,
  envelope,
  hexBytes,
  type PlaceOrder,
} from '@pm/schemas';
import type { Caller, SoundOrder } from './check.ts';

/** An order whose signature was checked; `hash` is its id. */
export interface ProvenOrder {
  readonly sound: SoundOrder;
  readonly hash: Buffer;
}

/** What was taken for an order on its way to the log. */
export interface Taken {
  /** Ledger generation of the hold. */
  readonly generation: number;
  readonly holdMicro: number;
  /** Time-to-book limit that the client asked for, milliseconds; 0 is the default. */
  readonly ageLimitMs: number;
}

/** The order as the log carries it. */
export function placeCommand(
  { sound, hash }: ProvenOrder,
  caller: Caller,
  taken: Taken,
): PlaceOrder {
  const { form, token, amounts } = sound;
  return {
    kind: 'PlaceOrder',
    orderId: hash,
    market: token.market.market,
    outcome: token.outcome,
    side: form.struct.side,
    timeInForce: form.timeInForce,
    postOnly: form.postOnly,
    ...amounts,
    holdMicro: taken.holdMicro,
    generation: taken.generation,
    expiresAtMs: sound.expiresAtMs,
    acceptedAtMs: caller.arrivedAtMs,
    ageLimitMs: taken.ageLimitMs,
    signedAtMs: form.signedAtMs,
    maker: form.struct.maker,
    // Who really signed: of a deposit wallet the owner, so that one cancel reaches all his orders.
    signer: hexBytes(caller.address),
    apiKey: apiKeyBytes(caller.apiKey),
    builder: form.struct.builder,
    selfTrade: caller.selfTrade,
  };
}

/** An order that is about to be sent, and where to. */
export interface Attempted {
  readonly partition: number;
  readonly order: PlaceOrder;
}

const codec = compileCodec(envelope);
const nobody: Pick<Envelope, 'signature' | 'keyId' | 'sequence'> = {
  signature: Buffer.alloc(64),
  keyId: Buffer.alloc(8),
  sequence: 0,
};

/**
 * What a request with a retry key is about to send, item by item; null for items that send nothing. It is kept before the
 * first order leaves, so that whoever carries on can ask the log what became of it (conventions.md 1.15).
 */
export function encodeAttempts(attempts: readonly (Attempted | null)[]): string {
  return attempts.map((one) => (one === null ? '' : encode(one))).join(',');
}

/** The same list; null when it cannot be read: then nobody knows what was sent. */
export function decodeAttempts(text: string): readonly (Attempted | null)[] | null {
  const attempts: (Attempted | null)[] = [];
  for (const item of text.split(',')) {
    const attempt = item === '' ? null : decode(item);
    if (attempt === undefined) return null;
    attempts.push(attempt);
  }
  return attempts;
}

function encode({ partition, order }: Attempted): string {
  return codec.encode({ ...nobody, partition, commands: [order] }).toString('base64');
}

function decode(item: string): Attempted | undefined {
  try {
    const { partition, commands } = codec.decode(Buffer.from(item, 'base64'));
    const [order] = commands;
    return order?.kind === 'PlaceOrder' ? { partition, order } : undefined;
  } catch (error) {
    if (error instanceof AvroError) return undefined;
    throw error;
  }
}

import { apiKeyBytes, hexBytes, type PlaceOrder } from '@pm/schemas';
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

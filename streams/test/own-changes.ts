import type { EventOf } from '@pm/schemas/log/executions';
import { wallet } from '../../query-api/test/in-memory.ts';
import type { OwnChange } from '../src/feed/changes.ts';
import { fillOf, keyBytes, walletBytes } from './fills.ts';

/** Terms of an order by a number that is its id. */
export function termsOf(id: number) {
  const orderId = Buffer.alloc(32);
  orderId.writeUInt32BE(id);
  return {
    orderId,
    apiKey: keyBytes(1),
    market: 1,
    outcome: 0,
    side: 'SELL',
    timeInForce: 'GTC',
    price: 4_000,
    sizeMicro: 5_000_000,
    expiresAtMs: 0,
    acceptedAtMs: 1_000,
  } as const;
}

/** The change by which an order comes to rest. */
export function placed(id: number): OwnChange['change'] {
  const event: EventOf<'OrderPlaced'> = {
    kind: 'OrderPlaced',
    command: 0,
    ...termsOf(id),
    maker: walletBytes(1),
    signer: walletBytes(1),
    builder: Buffer.alloc(32),
    postOnly: false,
    status: 'LIVE',
    filledMicro: 0,
    paidMicro: 0,
    feeMicro: 0,
    restingMicro: 5_000_000,
  };
  const { orderId, market } = event;
  return { kind: 'order', event, orderId, market, restingMicro: 5_000_000, before: null };
}

/** A change of the wallet in a record. */
export const own = (offset: number, change: OwnChange['change'], index = 0): OwnChange => ({
  channel: 'own',
  wallet: wallet(1),
  seq: offset + 1,
  at: { partition: 0, offset, index, timeMs: 5_000 + offset },
  change,
});

/** An order that trades as it comes, and rests: the changes of one record far into a log. */
export function placedOrder(id: number, trades = 3): readonly OwnChange[] {
  const offset = 1_000_000_000 + id;
  const fill = fillOf({ takerOrderId: termsOf(id).orderId });
  const fills = Array.from({ length: trades }, (_, index) =>
    own(offset, { kind: 'fill', role: 'taker', fill }, index),
  );
  return [...fills, own(offset, placed(id), trades)];
}

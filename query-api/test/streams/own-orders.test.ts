import type { EventOf } from '@pm/schemas';
import { OwnOrders } from '../../src/streams/family/own-orders.ts';
import type { OwnChange } from '../../src/streams/feed/changes.ts';
import { wallet } from '../in-memory.ts';
import { keyBytes, walletBytes } from './fills.ts';

const terms = (id: number) => {
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
};

function placed(id: number): OwnChange['change'] {
  const event: EventOf<'OrderPlaced'> = {
    kind: 'OrderPlaced',
    command: 0,
    ...terms(id),
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

function canceled(id: number): OwnChange['change'] {
  const before = { ...terms(id), restingMicro: 2_000_000 };
  const { orderId, market, apiKey } = before;
  const names = { orderId, market, apiKey, maker: walletBytes(1) };
  const end = { reason: 'USER', restMicro: 2_000_000 } as const;
  const event = { kind: 'OrderCanceled', command: 0, ...names, ...end } as const;
  return { kind: 'order', event, orderId, market, restingMicro: 0, before };
}

const own = (offset: number, change: OwnChange['change']): OwnChange => ({
  channel: 'own',
  wallet: wallet(1),
  seq: offset + 1,
  at: { partition: 0, offset, index: 0, timeMs: 5_000 + offset },
  change,
});

test('the past of the newest orders is kept; an older one is still shown whole when it ends', () => {
  const orders = new OwnOrders(wallet(1));
  const count = 12_000;
  for (let id = 0; id < count; id += 1) orders.take(own(id, placed(id)));
  expect(orders.size).toBe(10_000);
  const [old] = orders.take(own(count, canceled(1)));
  expect(old).toMatchObject({
    type: 'CANCELLATION',
    order: { order: { timeMs: 1_000, sizeMicro: 5_000_000 }, facts: { filledMicro: 3_000_000 } },
  });
  const [young] = orders.take(own(count + 1, canceled(count - 1)));
  expect(young).toMatchObject({ order: { order: { timeMs: 5_000 + count - 1 } } });
  expect(orders.size).toBe(9_999);
});

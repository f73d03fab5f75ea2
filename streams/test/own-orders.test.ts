import { streamLimits } from '@pm/schemas/streams/limits';
import { wallet } from '../../query-api/test/in-memory.ts';
import { OwnOrders } from '../src/family/own-orders.ts';
import type { OwnChange } from '../src/feed/changes.ts';
import { ConnectionMemoryBudget, keptBytes } from '../src/protocol/connection-memory-budget.ts';
import { walletBytes } from './fills.ts';
import { own, placed, termsOf } from './own-changes.ts';

function canceled(id: number): OwnChange['change'] {
  const before = { ...termsOf(id), restingMicro: 2_000_000 };
  const { orderId, market, apiKey } = before;
  const names = { orderId, market, apiKey, maker: walletBytes(1) };
  const end = { reason: 'USER', restMicro: 2_000_000 } as const;
  const event = { kind: 'OrderCanceled', command: 0, ...names, ...end } as const;
  return { kind: 'order', event, orderId, market, restingMicro: 0, before };
}

test('the past of the newest orders is kept; an older one is still shown whole when it ends', () => {
  const orders = new OwnOrders(wallet(1), new ConnectionMemoryBudget(1 << 29).share('address'));
  const count = 12_000;
  for (let id = 0; id < count; id += 1) orders.take(own(id, placed(id)));
  const kept = Math.floor(streamLimits.memory_bytes_per_connection / keptBytes.order);
  expect(orders.size).toBe(kept);
  const [old] = orders.take(own(count, canceled(1)));
  expect(old).toMatchObject({
    type: 'CANCELLATION',
    order: { order: { timeMs: 1_000, sizeMicro: 5_000_000 }, facts: { filledMicro: 3_000_000 } },
  });
  const [young] = orders.take(own(count + 1, canceled(count - 1)));
  expect(young).toMatchObject({ order: { order: { timeMs: 5_000 + count - 1 } } });
  expect(orders.size).toBe(kept - 1);
});

import type { DataFrame } from '../../src/streams/frames.ts';
import { MessageReader } from '../../src/streams/readers.ts';
import { Subscription, type Topic } from '../../src/streams/subscription.ts';

function subscriptionTo(topic: Topic): Subscription<DataFrame> {
  const line = { ask: () => {}, pause: () => {}, leave: () => {} };
  const reader = new MessageReader<DataFrame>({ withSnapshots: true });
  return new Subscription(topic, { reader, open: () => line });
}

const at = { partition: 1, offset: 7, index: -1 };

describe('a snapshot in parts', () => {
  const orders: Topic = { channel: 'orders', key: '0x01', hasState: true, isWhole: false };
  const part = (index: number, more: { more?: true }, seq = 5): DataFrame => {
    return { type: 'snapshot', channel: 'orders', market: '0x01', seq, at, part: index, ...more };
  };
  const delta: DataFrame = {
    type: 'delta',
    channel: 'orders',
    market: '0x01',
    seq: 6,
    prev: 5,
    at,
  };

  test('is read part by part, and followed once it is whole', async () => {
    const subscription = subscriptionTo(orders);
    subscription.take(part(0, { more: true }));
    subscription.take(part(1, { more: true }));
    expect(subscription.from).toEqual([]);
    subscription.take(part(2, {}));
    expect(subscription.from).toEqual([{ seq: 5 }]);
    expect(subscription.take(delta)).toBe('fine');
    for (const frame of [part(0, { more: true }), part(1, { more: true }), part(2, {}), delta])
      expect((await subscription.next()).value).toEqual(frame);
  });

  test('begins again where the connection ended between its parts', async () => {
    const subscription = subscriptionTo(orders);
    subscription.take(part(0, { more: true }));
    subscription.take(part(0, { more: true }, 9));
    subscription.take(part(1, {}, 9));
    expect(subscription.from).toEqual([{ seq: 9 }]);
    const read = [await subscription.next(), await subscription.next(), await subscription.next()];
    expect(read.map(({ value }) => value?.seq)).toEqual([5, 9, 9]);
  });
});

test('parts of snapshots of several partitions may be mixed', async () => {
  const own: Topic = { channel: 'own', key: null, hasState: false, isWhole: false };
  const subscription = subscriptionTo(own);
  const part = (partition: number, index: number, more: { more?: true }): DataFrame => {
    const place = { ...at, partition };
    return { type: 'snapshot', channel: 'own', seq: 5, at: place, part: index, ...more };
  };
  const sent = [part(0, 0, { more: true }), part(1, 0, { more: true }), part(0, 1, {})];
  for (const frame of sent) subscription.take(frame);
  expect(subscription.from).toEqual([{ seq: 5, partition: 0 }]);
  const last = part(1, 1, {});
  subscription.take(last);
  expect(subscription.from).toHaveLength(2);
  for (const frame of [...sent, last]) expect((await subscription.next()).value).toEqual(frame);
});

test('all markets of a partition have one number: the sum of theirs', () => {
  const subscription = subscriptionTo({
    channel: 'markets',
    key: null,
    hasState: true,
    isWhole: true,
  });
  for (const [market, seq] of [
    ['0x01', 2],
    ['0x02', 3],
  ] as const)
    subscription.take({ type: 'snapshot', channel: 'markets', market, seq, at });
  const heartbeat = { channel: 'markets', key: '*', partition: 1 } as const;
  expect(subscription.misses({ ...heartbeat, seq: 5 })).toBe(false);
  expect(subscription.misses({ ...heartbeat, seq: 6 })).toBe(true);
  subscription.take({ type: 'event', channel: 'markets', market: '0x03', seq: 1, prev: 0, at });
  expect(subscription.misses({ ...heartbeat, seq: 6 })).toBe(false);
  expect(subscription.misses({ ...heartbeat, partition: 0, seq: 1 })).toBe(true);
});

import { nameOf, nameOfMessage, orderOf, subscribeFrame } from '../src/live/frames.ts';
import { candlesOfWire, withTrade } from '../src/market/chart-data.ts';
import { flowOf, linePath, type PartitionStatus, ratesBetween } from '../src/pages/pipeline.ts';

const delta = { type: 'delta', channel: 'book', token: '7', time: 1 } as const;

test('a subscription goes on after its newest message, or begins with a snapshot', () => {
  const book = { channel: 'book', key: '7' } as const;
  expect(subscribeFrame(1, book, 41)).toEqual({
    op: 'subscribe',
    id: 1,
    channel: 'book',
    tokens: ['7'],
    from: { seq: 41 },
  });
  expect(subscribeFrame(2, { channel: 'own', key: '' }, null)).toEqual({
    op: 'subscribe',
    id: 2,
    channel: 'own',
  });
  expect(nameOfMessage({ ...delta, seq: 42 })).toBe(nameOf(book));
});

test('a message that came again is left out, and a missing one is found', () => {
  expect(orderOf({ ...delta, seq: 42, prev: 41 }, 41)).toBe('use');
  expect(orderOf({ ...delta, seq: 41, prev: 40 }, 41)).toBe('skip');
  expect(orderOf({ ...delta, seq: 44, prev: 43 }, 41)).toBe('gap');
  // Merged: it stands for 40 to 45.
  expect(orderOf({ ...delta, seq: 45, prev: 39 }, 41)).toBe('use');
  expect(orderOf({ ...delta, seq: 45, prev: 44 }, null)).toBe('skip');
  expect(orderOf({ ...delta, type: 'snapshot', seq: 3 }, 41)).toBe('use');
});

test('a trade extends the newest candle or begins the next', () => {
  const wire = { open: '0.5', high: '0.5', low: '0.5', close: '0.5', volume: '3' };
  const [, newest = null] = candlesOfWire([
    { t: 120, ...wire },
    { t: 60, ...wire },
    { t: 120, ...wire },
  ]);
  expect(newest?.time).toBe(120);
  const trade = { timeSeconds: 130, cents: 55, size: 2 };
  expect(withTrade(newest, trade, 60)).toMatchObject({ time: 120, high: 55, close: 55, volume: 5 });
  expect(withTrade(newest, { ...trade, timeSeconds: 185 }, 60)).toMatchObject({
    time: 180,
    open: 55,
  });
  expect(withTrade(newest, { ...trade, timeSeconds: 60 }, 60)).toBeNull();
});

const partition = (orders: number, fills: number) =>
  ({ partition: 0, orders, fills }) as unknown as PartitionStatus;
const sample = (atMs: number, orders: number | null, fills = 0) => ({
  atMs,
  ingressMs: 1,
  status:
    orders === null
      ? null
      : { projections: [], partitions: [partition(orders, fills)], streams: [] },
});

test('rates are those between two samples, and there is none across a restart', () => {
  expect(ratesBetween(sample(0, 10, 1), sample(2_000, 30, 2))).toEqual({ orders: 10, fills: 0.5 });
  expect(ratesBetween(sample(0, 10), sample(1_000, 3))).toBeNull();
  expect(ratesBetween(sample(0, null), sample(1_000, 3))).toBeNull();
});

test('a line has a gap where a rate is missing', () => {
  expect(linePath([1, 2, null, 2], 4)).toBe('M0.0 15.0L33.3 1.0M100.0 1.0');
});

test('the pipeline shows how many instances of streams follow the log', () => {
  const shown = (...follows: boolean[]) => {
    const status = {
      projections: [],
      partitions: [],
      streams: follows.map((one) => ({ follows: one })),
    };
    return flowOf({ atMs: 0, ingressMs: 1, status }, status).at(-1);
  };
  expect(shown()).toEqual({ name: 'streams', text: 'not listed', state: 'wait' });
  expect(shown(true, true)).toEqual({ name: 'streams', text: '2 of 2 follow', state: 'good' });
  expect(shown(true, false)).toEqual({ name: 'streams', text: '1 of 2 follow', state: 'bad' });
});

import { silenceMaxMs } from '@pm/domain/executions/owner-silence';
import type { Execution } from '@pm/schemas/log/executions';
import { ownersOf, PartitionCounts, wirePartitions } from '../../src/status/partition-states.ts';

const atMs = Date.UTC(2026, 5, 1, 12, 0, 0);
const record = (inOffset: number, timeMs: number, kinds: readonly string[] = []): Execution =>
  ({ inOffset, timeMs, events: kinds.map((kind) => ({ kind })) }) as unknown as Execution;

test('orders and fills are counted, and a record that comes again is not', () => {
  const counts = new PartitionCounts(() => 7);
  const kinds = ['OrderPlaced', 'Fill', 'Fill', 'OrderRefused', 'PositionMoved'];
  counts.take(2, record(4, 10, kinds), true);
  counts.take(2, record(4, 10, ['OrderPlaced', 'Fill']), true);
  counts.take(2, record(5, 20, ['OrderCanceled']), true);
  expect(counts.of(2)).toEqual({ inOffset: 5, clockMs: 20, orders: 2, fills: 2, heardMs: 7 });
  expect(counts.of(0)).toBeNull();
});

test('a partition is live while it is heard, whatever its clock says', () => {
  let monotonicMs = 0;
  const counts = new PartitionCounts(() => monotonicMs);
  counts.take(0, record(1, atMs), false);
  expect(counts.isLive(0)).toBe(false);
  counts.take(0, record(2, atMs + 3_600_000), true);
  monotonicMs += silenceMaxMs;
  expect(counts.isLive(0)).toBe(true);
  counts.take(0, record(2, atMs + 3_600_000), true);
  monotonicMs += 1;
  expect([counts.isLive(0), counts.isLive(1)]).toEqual([false, false]);
  counts.take(0, record(3, atMs - 3_600_000), true);
  expect(counts.isLive(0)).toBe(true);
});

test('a partition is live, else restored by its owner, else without one', () => {
  const counts = new PartitionCounts(() => 0);
  counts.take(0, record(9, atMs - 200, ['Fill']), true);
  counts.take(1, record(3, atMs - 9_000), false);
  const inputs = new Map([
    [2, 0],
    [0, 12],
    [1, 4],
    [3, 1],
  ]);
  const owners = new Map([
    [0, 'matcher-1'],
    [1, 'matcher-2'],
    [3, 'matcher-2'],
  ]);
  const clock = '2026-06-01T11:59:59.800Z';
  const unknown = { applied: null, lag: null, clock: null, orders: 0, fills: 0 };
  expect(wirePartitions({ inputs, owners, counts })).toEqual([
    {
      partition: 0,
      owner: 'matcher-1',
      state: 'live',
      lastOffset: 11,
      applied: 9,
      lag: 2,
      clock,
      orders: 0,
      fills: 1,
    },
    {
      partition: 1,
      owner: 'matcher-2',
      state: 'restoring',
      lastOffset: 3,
      applied: 3,
      lag: 0,
      clock: '2026-06-01T11:59:51.000Z',
      orders: 0,
      fills: 0,
    },
    { partition: 2, owner: null, state: 'unowned', lastOffset: -1, ...unknown },
    { partition: 3, owner: 'matcher-2', state: 'restoring', lastOffset: 0, ...unknown },
  ]);
});

test('the owner of a partition is the member that commits for it, not where it is placed', () => {
  const placed = new Map([
    [0, 'a'],
    [1, 'b'],
    [2, 'a'],
    [3, 'b'],
  ]);
  const committedBy = new Map([
    [0, 'b'],
    [1, 'b'],
    [2, 'gone'],
  ]);
  expect([...ownersOf(placed, committedBy)]).toEqual([
    [0, 'b'],
    [1, 'b'],
    [2, 'a'],
    [3, 'b'],
  ]);
});

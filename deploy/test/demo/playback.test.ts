import fc from 'fast-check';
import { Playback } from '../../src/demo/playback.ts';

const items = [0, 1_000, 1_000, 5_000].map((timeMs, index) => ({ timeMs: timeMs + 100, index }));

test('hands out what has come due, once and in order', () => {
  const playback = new Playback(items, 1, 0);
  expect(playback.due(0, 10).map((item) => item.index)).toEqual([0]);
  expect(playback.due(999, 10)).toEqual([]);
  expect(playback.due(1_000, 10).map((item) => item.index)).toEqual([1, 2]);
  expect(playback.due(5_000, 10).map((item) => item.index)).toEqual([3]);
});

test('plays ten times as fast at speed 10', () => {
  const playback = new Playback(items, 10, 0);
  expect(playback.due(500, 10)).toHaveLength(4);
});

test('begins again when the recording ends', () => {
  const playback = new Playback(items, 1, 0);
  expect(playback.due(6_000, 10).map((item) => item.index)).toEqual([0, 1, 2, 3, 0]);
});

test('never returns more than the limit, and nothing for an empty recording', () => {
  expect(new Playback([], 5, 0).due(1_000_000, 10)).toEqual([]);
  fc.assert(
    fc.property(fc.nat(100_000), fc.integer({ min: 1, max: 7 }), (nowMs, limit) => {
      expect(new Playback(items, 3, 0).due(nowMs, limit).length).toBeLessThanOrEqual(limit);
    }),
  );
});

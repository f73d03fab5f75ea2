import { StartLimit } from '../../src/local/start-limit.ts';

const limitMs = 240_000;

test('a process that uses a twentieth of a processor has its time once more, and one that uses less has not', () => {
  const limit = new StartLimit(limitMs, 0);
  expect(limit.isOver(limitMs)).toBe(false);
  expect(limit.isOver(limitMs + 1)).toBe(true);
  expect(limit.extend(250_000, 12.5)).toBe(true);
  expect(limit.isOver(490_000)).toBe(false);
  expect(limit.isOver(490_001)).toBe(true);
  expect(limit.seconds).toBe(480);
  expect(limit.extend(500_000, 24.9)).toBe(false);
  expect(limit.seconds).toBe(480);
});

test('work before a wait for engines counts for nothing after it', () => {
  const limit = new StartLimit(limitMs, 0);
  limit.begin(600_000, 30);
  expect(limit.isOver(840_000)).toBe(false);
  expect(limit.extend(850_000, 42)).toBe(false);
});

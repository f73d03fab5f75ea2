import { UnreadTicks } from '../../src/partition/unread-ticks.ts';

/** Ticks every 100 ms that are stored at once. */
function tick(ticks: UnreadTicks, offset: number, nowMs: number): void {
  ticks.sent(nowMs);
  ticks.stored({ offset, sentMs: nowMs }, nowMs);
}

test('the age is counted from the newest tick that was read again', () => {
  const ticks = new UnreadTicks(100);
  expect(ticks.ageMs(9_000)).toBe(0);
  for (const at of [0, 1, 2, 3]) tick(ticks, at, 1_000 + 100 * at);
  expect(ticks.ageMs(1_400)).toBe(400);
  ticks.applied(3);
  expect(ticks.ageMs(1_400)).toBe(200);
  ticks.applied(4);
  expect(ticks.ageMs(1_400)).toBe(100);
});

test('a tick that is read before its answer comes counts as read', () => {
  const ticks = new UnreadTicks(100);
  ticks.sent(1_000);
  ticks.applied(1);
  ticks.stored({ offset: 0, sentMs: 1_000 }, 1_020);
  ticks.sent(1_100);
  expect(ticks.ageMs(1_150)).toBe(150);
});

test('an owner stands still for as long as ticks are stored and nothing is applied', () => {
  const ticks = new UnreadTicks(100);
  for (let at = 0; at <= 50; at += 1) tick(ticks, at, 100 * at);
  expect(ticks.stillMs).toBe(5_000);
  ticks.applied(1);
  expect(ticks.stillMs).toBe(0);
});

test('an owner that lags and applies records does not stand still', () => {
  const ticks = new UnreadTicks(100);
  for (let at = 0; at <= 600; at += 1) {
    tick(ticks, 1_000 + at, 100 * at);
    ticks.applied(at);
  }
  expect(ticks.stillMs).toBe(0);
  expect(ticks.ageMs(60_000)).toBe(60_000);
});

test('a pause of the process, and a log that stores no ticks, are no reason', () => {
  const ticks = new UnreadTicks(100);
  tick(ticks, 0, 0);
  tick(ticks, 1, 60_000);
  expect(ticks.stillMs).toBe(200);
  ticks.sent(90_000);
  expect(ticks.stillMs).toBe(200);
});

test('another owner ends the age, and a restore does not', () => {
  const ticks = new UnreadTicks(100);
  tick(ticks, 0, 1_000);
  ticks.reopened();
  expect(ticks.ageMs(7_000)).toBe(6_000);
  ticks.end();
  expect(ticks.ageMs(7_000)).toBe(0);
});

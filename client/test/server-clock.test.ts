import { ServerClock } from '../src/server-clock.ts';

const startMs = Date.UTC(2026, 0, 1);
const dateAt = (ms: number): string => new Date(startMs + ms).toUTCString();

/** Notes a response whose `Date` was written at the middle of its request; both clocks begin at 0. */
function note(clock: ServerClock, atMs: number, aheadMs: number, roundTripMs = 10): void {
  const times = { sentMs: atMs - roundTripMs / 2, receivedMs: atMs + roundTripMs / 2 };
  clock.note(dateAt(atMs + aheadMs), times);
}

const latestMs = (clock: ServerClock, atMs: number): number =>
  (clock.latestMs(atMs) ?? Number.NaN) - startMs;

test.each([0, 12_345, -400])(
  'the latest time at the exchange is never too early, and soon exact: %i ms ahead',
  (aheadMs) => {
    const clock = new ServerClock();
    expect(clock.latestMs(0)).toBeNull();
    for (let count = 0; count < 200; count += 1) {
      const atMs = count * 1_037;
      note(clock, atMs, aheadMs);
      const overMs = latestMs(clock, atMs) - (atMs + aheadMs);
      expect(overMs).toBeGreaterThanOrEqual(0);
      expect(overMs).toBeLessThanOrEqual(count < 100 ? 1_005 : 50);
    }
  },
);

test('a clock that was set there is followed', () => {
  const clock = new ServerClock();
  for (let count = 0; count < 100; count += 1) note(clock, count * 1_037, 0);
  note(clock, 200_000, -60_000);
  expect(latestMs(clock, 200_000)).toBeLessThanOrEqual(200_000 - 60_000 + 1_005);
});

test('a response without a date, or with another text, says nothing', () => {
  const clock = new ServerClock();
  for (const date of [null, '', 'yesterday']) clock.note(date, { sentMs: 0, receivedMs: 1 });
  expect(clock.latestMs(0)).toBeNull();
});

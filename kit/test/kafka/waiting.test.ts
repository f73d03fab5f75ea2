import { Wakeup } from '../../src/kafka/waiting.io.ts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('nothing is kept of waits that have ended by their time', async () => {
  const wakeup = new Wakeup();
  for (let count = 0; count < 50_000; count += 1) {
    const waiting = wakeup.wait(10);
    jest.advanceTimersByTime(10);
    await waiting;
  }
  expect(wakeup.size).toBe(0);
  expect(() => wakeup.wake()).not.toThrow();
});

test('a wake-up ends all running waits and none that begins later', async () => {
  const wakeup = new Wakeup();
  const running = [wakeup.wait(1_000), wakeup.wait(2_000)];
  expect(wakeup.size).toBe(2);
  wakeup.wake();
  await Promise.all(running);
  let isOver = false;
  const later = wakeup.wait(1_000).then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect([wakeup.size, isOver]).toEqual([1, false]);
  jest.advanceTimersByTime(1_000);
  await later;
  expect(jest.getTimerCount()).toBe(0);
});

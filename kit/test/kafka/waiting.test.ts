import { firstAnswer, Wakeup } from '../../src/kafka/waiting.io.ts';

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

describe('the first answer of several', () => {
  const never = () => new Promise<never>(() => {});
  const failing = (message: string) => () => Promise.reject(new Error(message));
  const isRefusal = (error: unknown) => error instanceof Error && error.message === 'refused';
  const ask = (tasks: (() => Promise<unknown>)[]) => firstAnswer(tasks, 100, isRefusal);

  test('comes from the next when one is silent, and no more are asked than need be', async () => {
    const third = jest.fn(never);
    const asking = ask([never, async () => 'answer', third]);
    await jest.advanceTimersByTimeAsync(99);
    expect(await Promise.race([asking, Promise.resolve('none yet')])).toBe('none yet');
    await jest.advanceTimersByTimeAsync(1);
    expect(await asking).toBe('answer');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(third).not.toHaveBeenCalled();
  });

  test('comes at once from the next when one fails', async () => {
    expect(await ask([failing('away'), async () => 'answer'])).toBe('answer');
  });

  test('may come late from the one that was asked first', async () => {
    const late = () => new Promise((resolve) => setTimeout(() => resolve('late'), 250));
    const asking = ask([late, never]);
    await jest.advanceTimersByTimeAsync(250);
    expect(await asking).toBe('late');
  });

  test('is a refusal too; only the last failure of the way counts', async () => {
    await expect(ask([failing('refused'), async () => 'answer'])).rejects.toThrow('refused');
    await expect(ask([failing('away'), failing('away too')])).rejects.toThrow('away too');
  });
});

/** Lets the clock of the test run until a promise is settled. */
export async function ended<T>(promise: Promise<T>): Promise<T> {
  let isOver = false;
  const over = promise.finally(() => {
    isOver = true;
  });
  over.catch(() => undefined);
  while (!isOver) await jest.advanceTimersByTimeAsync(20);
  return await over;
}

/** Runs something that waits for seconds, on timers and a clock of the test, which pass meanwhile. */
export async function whileTimePasses<T>(run: () => Promise<T>): Promise<T> {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  try {
    return await ended(run());
  } finally {
    jest.useRealTimers();
  }
}

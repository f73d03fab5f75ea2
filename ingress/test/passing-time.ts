/** Runs something that waits for seconds, on timers and a clock of the test, which pass meanwhile. */
export async function whileTimePasses<T>(run: () => Promise<T>): Promise<T> {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  try {
    let isOver = false;
    const running = run().finally(() => {
      isOver = true;
    });
    running.catch(() => undefined);
    while (!isOver) await jest.advanceTimersByTimeAsync(20);
    return await running;
  } finally {
    jest.useRealTimers();
  }
}

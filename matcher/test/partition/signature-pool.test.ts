import { publicKeyObject } from '@pm/domain/signoff/keys';
import { SignaturePool } from '../../src/partition/signature-pool.io.ts';
import { keys } from './sealed-records.ts';

const signedBytes = {
  key: publicKeyObject(keys.owner.publicKey),
  bytes: Buffer.alloc(8),
  signature: Buffer.alloc(64),
};

/** A pool whose answers the test gives. */
function openPool() {
  const answers: ((holds: boolean | null) => void)[] = [];
  let late = 0;
  const pool = new SignaturePool({
    onLate: () => {
      late += 1;
    },
    verify: () => new Promise((resolve) => answers.push(resolve)),
  });
  return { pool, answers, late: () => late };
}

const aWhileMs = 1_000;

describe('checks of signatures in the thread pool', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  test('give what the pool answers', async () => {
    const { pool, answers, late } = openPool();
    const checks = [pool.check(signedBytes), pool.check(signedBytes)];
    answers[1]?.(false);
    answers[0]?.(true);
    expect(await Promise.all(checks)).toEqual([true, false]);
    await jest.advanceTimersByTimeAsync(aWhileMs);
    expect(late()).toBe(0);
  });

  test('that are late are given up, and none begins until all of them have ended', async () => {
    const { pool, answers, late } = openPool();
    const checks = [pool.check(signedBytes), pool.check(signedBytes)];
    await jest.advanceTimersByTimeAsync(aWhileMs);
    expect(await Promise.all(checks)).toEqual([null, null]);
    expect(pool.check(signedBytes)).toBeNull();
    answers[0]?.(true);
    await jest.advanceTimersByTimeAsync(0);
    expect(pool.check(signedBytes)).toBeNull();
    answers[1]?.(true);
    await jest.advanceTimersByTimeAsync(0);
    const again = pool.check(signedBytes);
    answers[2]?.(true);
    expect([await again, answers.length, late()]).toEqual([true, 3, 1]);
  });

  test('that follow each other are each given their time', async () => {
    const { pool, answers, late } = openPool();
    for (let count = 0; count < 20; count += 1) {
      const check = pool.check(signedBytes);
      await jest.advanceTimersByTimeAsync(100);
      answers[count]?.(true);
      expect(await check).toBe(true);
    }
    expect(late()).toBe(0);
  });
});

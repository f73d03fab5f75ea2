import { setTimeout as wait } from 'node:timers/promises';
import { runRounds } from '../../src/rounds/index.ts';

/** Long enough for every round that is due. */
const aWhileMs = 60;

test('rounds follow each other, one at a time, also after one that failed', async () => {
  let atOnce = 0;
  let done = 0;
  const failures: unknown[] = [];
  const rounds = runRounds({
    async round() {
      atOnce += 1;
      expect(atOnce).toBe(1);
      await wait(2);
      atOnce -= 1;
      done += 1;
      if (done === 2) throw new Error('the second');
      return 1;
    },
    onFailure(error) {
      failures.push(error);
      return 1;
    },
  });
  while (done < 4) await wait(5);
  await rounds.close();
  expect(failures).toEqual([new Error('the second')]);
});

test('closing waits for the round under way and starts no other', async () => {
  let begun = 0;
  let ended = 0;
  const rounds = runRounds({
    async round() {
      begun += 1;
      await wait(20);
      ended += 1;
      return 0;
    },
    onFailure: () => 0,
  });
  await rounds.close();
  expect([begun, ended]).toEqual([1, 1]);
  await wait(aWhileMs);
  expect(begun).toBe(1);
});

test('the first round waits for its pause, and does not come after a close', async () => {
  let begun = 0;
  const start = (firstMs: number) =>
    runRounds({
      firstMs,
      async round() {
        begun += 1;
        return 10_000;
      },
      onFailure: () => 0,
    });
  const early = start(5);
  expect(begun).toBe(0);
  while (begun === 0) await wait(5);
  await early.close();
  const late = start(aWhileMs / 2);
  await late.close();
  await wait(aWhileMs);
  expect(begun).toBe(1);
});

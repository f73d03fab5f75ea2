import { setTimeout as wait } from 'node:timers/promises';
import { JoinedCalls } from '../../src/tables/joined-calls.io.ts';

/** Records the parts of each call, and answers with their sum after a moment. */
function open(gatherMs?: number) {
  const calls: number[][] = [];
  const run = async (parts: readonly number[]) => {
    calls.push([...parts]);
    await wait(5);
    return parts.reduce((sum, part) => sum + part, 0);
  };
  return { calls, joined: new JoinedCalls(run, gatherMs === undefined ? {} : { gatherMs }) };
}

test('calls that come while one is under way are the next', async () => {
  const { calls, joined } = open();
  const first = joined.call(1);
  await wait(0);
  expect(await Promise.all([first, joined.call(2), joined.call(3)])).toEqual([1, 5, 5]);
  expect(calls).toEqual([[1], [2, 3]]);
});

test('the first call waits for others, and all are one', async () => {
  const { calls, joined } = open(40);
  const asked = [joined.call(1)];
  await wait(0);
  asked.push(joined.call(2), joined.call(3));
  expect(await Promise.all(asked)).toEqual([6, 6, 6]);
  expect(await joined.call(4)).toBe(4);
  expect(calls).toEqual([[1, 2, 3], [4]]);
});

test('a call that fails fails its callers alone', async () => {
  let isFirst = true;
  const joined = new JoinedCalls(async (parts: readonly number[]) => {
    if (isFirst) {
      isFirst = false;
      throw new Error('the first');
    }
    return parts.length;
  });
  const failed = joined.call(1);
  await expect(failed).rejects.toThrow('the first');
  expect(await joined.call(2)).toBe(1);
});

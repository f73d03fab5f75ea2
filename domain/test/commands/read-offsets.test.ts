import { ReadOffsets } from '../../src/commands/read-offsets.io.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const open = () => new ReadOffsets(new Map([[0, 10]]), 100);

test('what is read already is reached at once, the offsets before the first one too', async () => {
  const offsets = open();
  expect(await offsets.reach(0, 10)).toBe(true);
  offsets.note(0, 12);
  expect(await offsets.reach(0, 12)).toBe(true);
});

test('a wait ends when its own partition is read as far, not before', async () => {
  const offsets = open();
  let isReached = false;
  const reached = offsets.reach(0, 12).then((result) => {
    isReached = result;
  });
  offsets.note(0, 11);
  offsets.note(1, 99);
  await Promise.resolve();
  expect(isReached).toBe(false);
  offsets.note(0, 13);
  await reached;
  expect(isReached).toBe(true);
});

test('a wait ends in time where nothing is read', async () => {
  const reached = open().reach(0, 11);
  jest.advanceTimersByTime(100);
  expect(await reached).toBe(false);
  expect(jest.getTimerCount()).toBe(0);
});

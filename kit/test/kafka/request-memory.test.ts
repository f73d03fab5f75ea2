import { RequestMemory } from '../../src/kafka/request-memory.ts';

test('a piece is used again once it was given back, and by its own broker only', () => {
  const memory = new RequestMemory();
  const first = memory.take('1', 20_000);
  expect(memory.take('1', 20_000)).not.toBe(first);
  memory.giveBack('1', first);
  expect(memory.take('2', 20_000)).not.toBe(first);
  expect(memory.take('1', 30_000)).toBe(first);
});

test('a piece that is too small is replaced, and one beyond a mebibyte is not kept', () => {
  const memory = new RequestMemory();
  const small = memory.take('1', 1);
  memory.giveBack('1', small);
  const large = memory.take('1', small.length + 1);
  expect(large.length).toBeGreaterThan(small.length);
  memory.giveBack('1', large);
  const huge = memory.take('1', 3_000_000);
  memory.giveBack('1', huge);
  expect(memory.take('1', 3_000_000)).not.toBe(huge);
});

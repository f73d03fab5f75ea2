import { KeyedMutex, waitingTasksMax } from '../../src/commands/keyed-mutex.io.ts';

test('works of one name follow each other, also after one that fails; other names do not wait', async () => {
  const turns = new KeyedMutex();
  const seen: string[] = [];
  let goOn: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const first = turns.run('a', async () => {
    await held;
    seen.push('first');
    throw new Error('it failed');
  });
  const second = turns.run('a', async () => seen.push('second'));
  await turns.run('b', async () => seen.push('other'));
  expect(seen).toEqual(['other']);
  goOn();
  await expect(first).rejects.toThrow('it failed');
  await second;
  expect(seen).toEqual(['other', 'first', 'second']);
});

test('too many works are refused until some are done', async () => {
  const turns = new KeyedMutex();
  let goOn: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const works = Array.from({ length: waitingTasksMax }, () => turns.run('a', () => held));
  expect(() => turns.run('b', () => held)).toThrow('too_many_changes');
  goOn();
  await Promise.all(works);
  expect(await turns.run('b', async () => 1)).toBe(1);
});

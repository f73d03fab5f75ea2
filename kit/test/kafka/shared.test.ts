import { Shared } from '../../src/kafka/shared.io.ts';
import { Turns } from '../../src/kafka/waiting.io.ts';
import { createDeferred, until } from './deferred.ts';

function sharedOf(lingerMs: number) {
  const events: string[] = [];
  let opened = 0;
  const shared = new Shared({
    open: async () => {
      opened += 1;
      events.push(`open ${opened}`);
      return opened;
    },
    close: async (one: number) => void events.push(`close ${one}`),
    lingerMs,
  });
  return { shared, events };
}

test('users share one, which is closed with the last of them', async () => {
  const { shared, events } = sharedOf(0);
  expect(await Promise.all([shared.join(), shared.join()])).toEqual([1, 1]);
  await shared.leave();
  expect(events).toEqual(['open 1']);
  await shared.leave();
  expect(events).toEqual(['open 1', 'close 1']);
  expect(await shared.join()).toBe(2);
});

test('one that lingers is there for the next user, and closed when none comes', async () => {
  const { shared, events } = sharedOf(20);
  await shared.join();
  await shared.leave();
  expect(await shared.join()).toBe(1);
  await shared.closeUnused();
  expect(events).toEqual(['open 1']);
  await shared.leave();
  await until(() => events.includes('close 1'), 'it is closed');
  await shared.join();
  await shared.leave();
  await shared.closeUnused();
  expect(events).toEqual(['open 1', 'close 1', 'open 2', 'close 2']);
});

test('one that could not be opened is opened again for the next user', async () => {
  let tries = 0;
  const open = async () => {
    tries += 1;
    if (tries === 1) throw new Error('away');
    return tries;
  };
  const shared = new Shared({ open, close: async () => {} });
  await expect(shared.join()).rejects.toThrow('away');
  await shared.leave();
  expect(await shared.join()).toBe(2);
});

test('no more tasks run at the same time than there are turns, in the order of their calls', async () => {
  const turns = new Turns(2);
  const gates = [createDeferred(), createDeferred(), createDeferred(), createDeferred()];
  const begun: number[] = [];
  const run = (index: number) =>
    turns.run(async () => {
      begun.push(index);
      await gates[index]?.promise;
      if (index === 1) throw new Error('failed');
    });
  const all = gates.map((_, index) => run(index));
  await until(() => begun.length === 2, 'two run');
  gates[1]?.resolve();
  await expect(all[1]).rejects.toThrow('failed');
  await until(() => begun.length === 3, 'the next one runs');
  expect(begun).toEqual([0, 1, 2]);
  for (const gate of gates) gate.resolve();
  await Promise.allSettled(all);
  expect(begun).toEqual([0, 1, 2, 3]);
});

import { ClientConcurrencyLimit } from '../src/client-concurrency-limit.ts';

const waitMs = 60_000;

/** Runs a task in a slot; null when it has none. */
async function run<T>(
  slots: ClientConcurrencyLimit,
  name: string,
  task: () => Promise<T>,
): Promise<T | null> {
  const end = await slots.enter(name);
  if (end === null) return null;
  try {
    return await task();
  } finally {
    end();
  }
}

/** Tasks that end when they are told to. */
class Tasks {
  readonly running: string[] = [];
  readonly #ends = new Map<string, () => void>();

  of(name: string): () => Promise<string> {
    return () => {
      this.running.push(name);
      return new Promise((resolve) => {
        this.#ends.set(name, () => resolve(name));
      });
    };
  }

  async end(name: string): Promise<void> {
    this.running.splice(this.running.indexOf(name), 1);
    this.#ends.get(name)?.();
    await settled();
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a client has so many requests at once, and they follow each other in order', async () => {
  const [slots, tasks] = [
    new ClientConcurrencyLimit({ atOnce: 2, waiting: 10, waitMs }),
    new Tasks(),
  ];
  const results = ['1', '2', '3', '4'].map((name) => run(slots, 'a', tasks.of(name)));
  await settled();
  expect(tasks.running).toEqual(['1', '2']);
  await tasks.end('2');
  expect(tasks.running).toEqual(['1', '3']);
  await tasks.end('1');
  await tasks.end('3');
  await tasks.end('4');
  expect(await Promise.all(results)).toEqual(['1', '2', '3', '4']);
  expect(slots.size).toBe(0);
});

test('a client whose requests wait does not delay those of others', async () => {
  const [slots, tasks] = [
    new ClientConcurrencyLimit({ atOnce: 1, waiting: 10, waitMs }),
    new Tasks(),
  ];
  const names = ['flood 0', 'flood 1', 'flood 2', 'flood 3'];
  const flood = names.map((name) => run(slots, 'flood', tasks.of(name)));
  const good = run(slots, 'good', tasks.of('good'));
  await settled();
  expect(tasks.running).toEqual(['flood 0', 'good']);
  for (const name of ['good', ...names]) await tasks.end(name);
  expect(await Promise.all([...flood, good])).toEqual([...names, 'good']);
});

test('what would wait too long is refused at once', async () => {
  const [slots, tasks] = [
    new ClientConcurrencyLimit({ atOnce: 1, waiting: 2, waitMs }),
    new Tasks(),
  ];
  const results = ['1', '2', '3'].map((name) => run(slots, 'a', tasks.of(name)));
  expect(await run(slots, 'a', tasks.of('4'))).toBeNull();
  await tasks.end('1');
  results.push(run(slots, 'a', tasks.of('5')));
  expect(tasks.running).toEqual(['2']);
  for (const name of ['2', '3', '5']) await tasks.end(name);
  expect(await Promise.all(results)).toEqual(['1', '2', '3', '5']);
});

test('what has waited too long is not carried out any more', async () => {
  const [slots, tasks] = [
    new ClientConcurrencyLimit({ atOnce: 1, waiting: 2, waitMs: 5 }),
    new Tasks(),
  ];
  const first = run(slots, 'a', tasks.of('first'));
  expect(await run(slots, 'a', tasks.of('late'))).toBeNull();
  await tasks.end('first');
  expect(await first).toBe('first');
  expect(tasks.running).toEqual([]);
  expect(slots.size).toBe(0);
});

test('a request that fails passes its place on', async () => {
  const [slots, tasks] = [
    new ClientConcurrencyLimit({ atOnce: 1, waiting: 2, waitMs }),
    new Tasks(),
  ];
  const failed = run(slots, 'a', async () => {
    throw new Error('gone');
  });
  const next = run(slots, 'a', tasks.of('next'));
  await expect(failed).rejects.toThrow('gone');
  expect(tasks.running).toEqual(['next']);
  await tasks.end('next');
  expect(await next).toBe('next');
});

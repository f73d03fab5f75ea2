import { ClientTurns } from '../../src/gateway/client-turns.ts';

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
  const [turns, tasks] = [new ClientTurns({ atOnce: 2, waiting: 10 }), new Tasks()];
  const results = ['1', '2', '3', '4'].map((name) => turns.run('a', tasks.of(name)));
  expect(tasks.running).toEqual(['1', '2']);
  await tasks.end('2');
  expect(tasks.running).toEqual(['1', '3']);
  await tasks.end('1');
  await tasks.end('3');
  await tasks.end('4');
  expect(await Promise.all(results)).toEqual(['1', '2', '3', '4']);
  expect(turns.size).toBe(0);
});

test('a client whose requests wait does not delay those of others', () => {
  const [turns, tasks] = [new ClientTurns({ atOnce: 1, waiting: 10 }), new Tasks()];
  for (let count = 0; count < 10; count += 1) void turns.run('flood', tasks.of(`flood ${count}`));
  void turns.run('good', tasks.of('good'));
  expect(tasks.running).toEqual(['flood 0', 'good']);
});

test('what would wait too long is refused at once', async () => {
  const [turns, tasks] = [new ClientTurns({ atOnce: 1, waiting: 2 }), new Tasks()];
  for (const name of ['1', '2', '3']) void turns.run('a', tasks.of(name));
  expect(await turns.run('a', tasks.of('4'))).toBeNull();
  await tasks.end('1');
  void turns.run('a', tasks.of('5'));
  expect(tasks.running).toEqual(['2']);
});

test('a request that fails passes its place on', async () => {
  const [turns, tasks] = [new ClientTurns({ atOnce: 1, waiting: 2 }), new Tasks()];
  const failed = turns.run('a', async () => {
    throw new Error('gone');
  });
  void turns.run('a', tasks.of('next'));
  await expect(failed).rejects.toThrow('gone');
  expect(tasks.running).toEqual(['next']);
});

import type { OrderId } from '@pm/schemas/ids';
import { OrderSearches } from '../../src/cancels/order-searches.io.ts';

const forever = 3_600_000;
const limits = {
  atOnce: 4,
  holdMs: forever,
  perWave: 2,
  withinMs: forever,
  waiting: { total: 25, reserve: 0, perWallet: 5, perClient: 10 },
};
const caller = (wallet: string, client = wallet) => ({ wallet, client });
const idsOf = (count: number) => Array.from({ length: count }, (_, at) => `id ${at}` as OrderId);
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Searches whose ids are noted when they are asked for, and found at once. */
function openSearches(changes: Partial<typeof limits> = {}) {
  const searches = new OrderSearches({ ...limits, ...changes });
  const asked: string[] = [];
  const run = (wallet: string, count: number, client = wallet) =>
    searches.run(caller(wallet, client), idsOf(count), async (wave) => {
      asked.push(...wave.map(() => wallet));
      return wave;
    });
  return { asked, run };
}

test('every id is asked for, in waves, and found in the order of the request', async () => {
  const { asked, run } = openSearches({ holdMs: 0 });
  expect(await run('one', 21)).toEqual(idsOf(21));
  expect(asked).toHaveLength(21);
});

test('no more ids are asked for in a time than its places', async () => {
  const { asked, run } = openSearches();
  for (const wallet of ['one', 'two', 'three']) void run(wallet, 5);
  await settled();
  // All of them were found long since.
  expect(asked).toHaveLength(4);
});

test('a flood of searches delays that of another client by one wave', async () => {
  const { asked, run } = openSearches({
    holdMs: 1,
    waiting: { ...limits.waiting, total: 100, perClient: 75 },
  });
  const flood = [...'abcdefgh'].map((wallet) => run(wallet, 5, 'flood'));
  await run('good', 2);
  // Two waves of two ids had places, one more was before it, one is the next in rotation.
  expect(asked.filter((wallet) => wallet !== 'good').length).toBeLessThanOrEqual(8);
  await Promise.all(flood);
  expect(asked).toHaveLength(42);
});

test('a caller with too many searches is refused at once, and others are not', async () => {
  const { run } = openSearches();
  // One request counts for what a wallet may have, however many ids it names.
  void run('one', 50, 'a');
  expect(await run('one', 1, 'a')).toBeNull();
  void run('two', 5, 'a');
  expect(await run('three', 1, 'a')).toBeNull();
  void run('four', 5, 'b');
  expect(await run('four', 1, 'b')).toBeNull();
});

test('a search that takes too long ends with the ids of the waves that had their turn', async () => {
  jest.useFakeTimers();
  try {
    const { asked, run } = openSearches({ withinMs: 1_000 });
    const found = run('one', 20);
    const behind = run('two', 3);
    await jest.advanceTimersByTimeAsync(1_000);
    // Four ids have places, the others would have to wait for an hour.
    expect((await found)?.length).toBeLessThan(20);
    expect([...((await found) ?? []), ...((await behind) ?? [])]).toHaveLength(4);
    expect(asked).toHaveLength(4);
  } finally {
    jest.useRealTimers();
  }
});

test('places are free again when a search fails', async () => {
  const searches = new OrderSearches({ ...limits, holdMs: 0 });
  for (let round = 0; round < 10; round += 1) {
    const failing = searches.run(caller('one'), idsOf(5), async () => {
      throw new Error('not asked');
    });
    await expect(failing).rejects.toThrow('not asked');
  }
  expect(await searches.run(caller('one'), idsOf(5), async (wave) => wave)).toEqual(idsOf(5));
});

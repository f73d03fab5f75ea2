import { CoherentCache } from '../../src/books/coherent-cache.io.ts';

const opened = (maxEntries = 10) => {
  const store = new CoherentCache<string>(maxEntries);
  store.open();
  return store;
};

/** A fetch whose answer comes when the test says so. */
function later() {
  const requested: string[][] = [];
  const settle: { resolve: (values: (string | null)[]) => void; reject: (error: Error) => void }[] =
    [];
  const fetch = (missing: readonly string[]) => {
    requested.push([...missing]);
    return new Promise<(string | null)[]>((resolve, reject) => settle.push({ resolve, reject }));
  };
  return { requested, settle, fetch };
}

describe('the coherent store', () => {
  it('loads missing keys in one call, each once, and returns values in order', async () => {
    const store = opened();
    const fetch = async (missing: readonly string[]) =>
      missing.map((key) => (key === 'none' ? null : key.toUpperCase()));
    expect(await store.load(['a', 'none', 'a', 'b'], fetch)).toEqual(['A', null, 'A', 'B']);
    expect([store.get('a'), store.get('none'), store.size]).toEqual(['A', undefined, 2]);
  });

  it('shares a load that is under way', async () => {
    const store = opened();
    const { requested, settle, fetch } = later();
    const both = Promise.all([store.load(['a'], fetch), store.load(['a'], fetch)]);
    settle[0]?.resolve(['A']);
    expect(await both).toEqual([['A'], ['A']]);
    expect(requested).toEqual([['a']]);
  });

  it('keeps nothing that was invalidated while it was on its way', async () => {
    const store = opened();
    const { requested, settle, fetch } = later();
    const old = store.load(['a'], fetch);
    store.invalidate('a');
    const fresh = store.load(['a'], fetch);
    settle[1]?.resolve(['new']);
    expect(await fresh).toEqual(['new']);
    settle[0]?.resolve(['old']);
    expect(await old).toEqual(['old']);
    expect([requested.length, store.get('a')]).toEqual([2, 'new']);
  });

  it('keeps nothing loaded before it was closed or opened again', async () => {
    const store = opened();
    const { settle, fetch } = later();
    const old = store.load(['a'], fetch);
    store.close();
    store.open();
    settle[0]?.resolve(['old']);
    await old;
    expect(store.get('a')).toBeUndefined();
  });

  it('keeps nothing while it is closed', async () => {
    const store = new CoherentCache<string>(10);
    await store.load(['a'], async () => ['A']);
    expect([store.size, store.isOpen]).toEqual([0, false]);
  });

  it('forgets the oldest when it is full', async () => {
    const store = opened(2);
    for (const key of ['a', 'b', 'c']) await store.load([key], async () => [key]);
    expect([store.get('a'), store.get('b'), store.get('c')]).toEqual([undefined, 'b', 'c']);
  });

  it('passes a failure on and tries again', async () => {
    const store = opened();
    const { settle, fetch } = later();
    const failing = store.load(['a'], fetch);
    settle[0]?.reject(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    expect(await store.load(['a'], async () => ['A'])).toEqual(['A']);
  });
});

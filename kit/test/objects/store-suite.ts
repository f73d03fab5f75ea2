import { randomBytes } from 'node:crypto';
import type { ObjectStore } from '../../src/objects/index.ts';

/** A store under test, and another opening of the same place. */
export interface StoreUnderTest {
  open(): Promise<ObjectStore>;
}

/** Tests of the behaviour that all kinds of stores have in common. */
export function describeStore(kind: string, place: StoreUnderTest): void {
  describe(`${kind}: every store`, () => {
    let store: ObjectStore;
    const bytesOf = (text: string) => Buffer.from(text);

    beforeAll(async () => {
      store = await place.open();
    });
    afterAll(() => store?.close());

    test('returns the bytes that were put, of all parts in their order', async () => {
      await store.put('suite/parts/1.object', [bytesOf('one '), bytesOf(''), bytesOf('two')]);
      expect((await store.get('suite/parts/1.object'))?.toString()).toBe('one two');
    });

    test('has null for an object that was never put', async () => {
      expect(await store.get('suite/nothing/1.object')).toBeNull();
      expect(await store.list('suite/nothing/')).toEqual([]);
    });

    test('takes an empty object', async () => {
      await store.put('suite/empty/1.object', []);
      expect(await store.get('suite/empty/1.object')).toEqual(Buffer.alloc(0));
    });

    test('replaces an object of the same name', async () => {
      await store.put('suite/again/1.object', [bytesOf('a longer first content')]);
      await store.put('suite/again/1.object', [bytesOf('second')]);
      expect((await store.get('suite/again/1.object'))?.toString()).toBe('second');
    });

    test('lists the objects of a folder in the order of their names, and none of folders in it', async () => {
      const names = ['suite/list/a.object', 'suite/list/b.object', 'suite/list/10.object'];
      for (const name of [...names, 'suite/list/deeper/c.object', 'suite/listed/d.object'])
        await store.put(name, [bytesOf(name)]);
      expect(await store.list('suite/list/')).toEqual([...names].sort());
    });

    test('lists more objects than a page of S3 has', async () => {
      const names = Array.from({ length: 1_010 }, (_, index) => `suite/pages/${index}.object`);
      for (let from = 0; from < names.length; from += 101)
        await Promise.all(names.slice(from, from + 101).map((name) => store.put(name, [])));
      expect(await store.list('suite/pages/')).toEqual([...names].sort());
    });

    test('removes an object, and nothing where there is none', async () => {
      await store.put('suite/delete/1.object', [bytesOf('x')]);
      await store.delete('suite/delete/1.object');
      await store.delete('suite/delete/1.object');
      expect(await store.get('suite/delete/1.object')).toBeNull();
    });

    test('carries 20 MB in parts through another opening of the same place', async () => {
      const parts = [randomBytes(160), randomBytes(20_000_000), randomBytes(80)];
      await store.put('suite/large/1.object', parts);
      const other = await place.open();
      const found = await other.get('suite/large/1.object');
      other.close();
      expect(found?.equals(Buffer.concat(parts))).toBe(true);
    });

    test('has one whole content after two writers of one name', async () => {
      const contents = [randomBytes(3_000_000), randomBytes(2_000_000)];
      await Promise.all(contents.map((content) => store.put('suite/race/1.object', [content])));
      const found = await store.get('suite/race/1.object');
      expect(contents.some((content) => found?.equals(content))).toBe(true);
    });

    test.each([
      '',
      'a',
      '../a.object',
      'a/../b.object',
      '/a.object',
      'a//b.object',
      'a.b/c',
      'é.object',
    ])('refuses the name "%s"', async (name) => {
      await expect(store.put(name, [])).rejects.toThrow('name of an object');
      await expect(store.get(name)).rejects.toThrow('name of an object');
    });

    test('refuses a folder that is none', async () => {
      await expect(store.list('suite')).rejects.toThrow('folder of objects');
      await expect(store.list('../')).rejects.toThrow('folder of objects');
    });
  });
}

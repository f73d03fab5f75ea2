import { SealedObjects } from '../../src/objects/sealed-objects.io.ts';
import { openSignOffKey, verifierFor } from '../../src/signoff/keys.ts';
import { MemoryObjects } from './memory-objects.ts';

const name = 'snapshots/p1/7.snapshot';
const content = Buffer.from('a state that must come back as it was');
const key = openSignOffKey(Buffer.alloc(32, 1));

async function stored(): Promise<{ store: MemoryObjects; sealed: SealedObjects; bytes: Buffer }> {
  const store = new MemoryObjects();
  const sealed = new SealedObjects(store, key);
  await sealed.put(name, [content.subarray(0, 5), content.subarray(5)]);
  return { store, sealed, bytes: store.contents.get(name) ?? Buffer.alloc(0) };
}

describe('sealed objects', () => {
  test('return the content of all parts', async () => {
    const { sealed } = await stored();
    expect(await sealed.get(name)).toEqual(content);
    expect(await sealed.get('snapshots/p1/8.snapshot')).toBe('absent');
  });

  test('with any bit flipped or any end cut off are not proved', async () => {
    const { store, sealed, bytes } = await stored();
    for (let at = 0; at < bytes.length; at += 1) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      store.contents.set(name, flipped);
      expect(await sealed.get(name)).toBe('unproven');
      store.contents.set(name, bytes.subarray(0, at));
      expect(await sealed.get(name)).toBe('unproven');
    }
    store.contents.set(name, Buffer.concat([bytes, Buffer.alloc(1)]));
    expect(await sealed.get(name)).toBe('unproven');
  });

  test('under another name are not proved', async () => {
    const { store, sealed, bytes } = await stored();
    store.contents.set('snapshots/p2/7.snapshot', bytes);
    expect(await sealed.get('snapshots/p2/7.snapshot')).toBe('unproven');
  });

  test('of another key are not proved', async () => {
    const { store } = await stored();
    const other = new SealedObjects(store, openSignOffKey(Buffer.alloc(32, 2)));
    expect(await other.get(name)).toBe('unproven');
  });

  test('of a former key count while it counts, and only whole', async () => {
    const { store, bytes } = await stored();
    const former = new Set([key.keyId.toString('hex')]);
    const others = (keyId: Buffer) =>
      former.has(keyId.toString('hex')) ? verifierFor(key.publicKey) : null;
    const next = new SealedObjects(store, openSignOffKey(Buffer.alloc(32, 2)), others);
    expect(await next.get(name)).toEqual(content);
    store.contents.set(name, Buffer.from(bytes).fill((bytes[3] ?? 0) ^ 1, 3, 4));
    expect(await next.get(name)).toBe('unproven');
    store.contents.set(name, bytes);
    former.clear();
    expect(await next.get(name)).toBe('unproven');
  });
});

import { setTimeout as wait } from 'node:timers/promises';
import { token } from '../in-memory.ts';
import type { Seen } from './stream-client.ts';
import { StreamWorld } from './stream-world.ts';

const yes = token(1, 0);

let world: StreamWorld;
afterEach(() => world.close());

async function openPaused() {
  const client = await world.open();
  client.send({ op: 'subscribe', id: 1, channel: 'book', tokens: [yes] });
  await client.of('snapshot');
  client.socket.pause();
  return client;
}

const changes = 20_000;

/** Puts changes on one side of a book, and returns the sizes in shares by price in hundredths. */
async function putChanges(): Promise<ReadonlyMap<number, number>> {
  const expected = new Map<number, number>();
  for (let seq = 1; seq <= changes; seq += 1) {
    const price = ((seq * 7) % 90) + 1;
    const size = seq % 11 === 0 ? 0 : seq;
    const level = { side: 'BUY', price: price * 100, sizeMicro: size * 1_000_000 } as const;
    world.feed.setLevels(1, [level]);
    if (size === 0) expected.delete(price);
    else expected.set(price, size);
    if (seq % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return expected;
}

function applyTo(book: Map<number, number>, levels: unknown): void {
  for (const level of levels as { price: string; size: string }[]) {
    const price = Math.round(Number(level.price) * 100);
    if (level.size === '0') book.delete(price);
    else book.set(price, Number(level.size));
  }
}

test('a reader that stops for a while gets merged deltas and has the same book', async () => {
  world = await new StreamWorld(200_000).start();
  const client = await openPaused();
  const expected = await putChanges();
  client.socket.resume();
  const book = new Map<number, number>();
  let [last, merged] = [0, 0];
  while (last < changes) {
    const delta = await client.next(({ type }) => type === 'delta');
    if (delta['prev'] !== last) throw new Error(`${String(delta['prev'])} after ${last}`);
    last = Number(delta['seq']);
    if (delta['merged'] === true) merged += 1;
    applyTo(book, delta['levels']);
  }
  expect(merged).toBeGreaterThan(0);
  expect([...book].sort()).toEqual([...expected].sort());
}, 60_000);

test('a reader past the bound is closed with 4008 and the newest messages that were sent', async () => {
  world = await new StreamWorld(20_000).start();
  const client = await openPaused();
  // Every price once: merging saves nothing.
  for (let seq = 1; seq < 9_999 && world.closes.length === 0; seq += 1) {
    const levels = Array.from({ length: 50 }, (_, index) => ({
      side: 'BUY' as const,
      price: ((seq * 50 + index) % 9_999) + 1,
      sizeMicro: 1_000_000,
    }));
    world.feed.setLevels(1, levels);
    if (seq % 50 === 0) await wait(1);
  }
  expect(world.closes).toEqual(['slowReader']);
  client.socket.resume();
  const closing = await client.of('closing');
  const deltas = client.seen.filter(({ type }) => type === 'delta');
  expect(closing).toMatchObject({
    code: 4008,
    resume: [{ channel: 'book', key: yes, seq: (deltas.at(-1) as Seen)['seq'] }],
  });
  expect(await client.ended()).toBe(4008);
}, 60_000);

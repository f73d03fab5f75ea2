import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { token } from '../../query-api/test/in-memory.ts';
import { askEveryBytes, unreadMaxBytes } from '../src/protocol/read-window.ts';
import { ScriptedSocket } from './scripted-socket.ts';
import type { Seen } from './stream-client.ts';
import { StreamWorld } from './stream-world.ts';

const yes = token(1, 0);

let world: StreamWorld;
afterEach(() => world.close());

/** A reader of a book that stops after its snapshot. */
function openStalled(): ScriptedSocket {
  const socket = new ScriptedSocket();
  world.hub.add(socket.asSocket, 'address');
  socket.receive({ op: 'subscribe', id: 1, channel: 'book', tokens: [yes] });
  expect(socket.of('snapshot')).toHaveLength(1);
  socket.stall();
  return socket;
}

const changes = 20_000;

/** Puts changes on one side of a book, and returns the sizes in shares by price in hundredths. */
function putChanges(): ReadonlyMap<number, number> {
  const expected = new Map<number, number>();
  for (let seq = 1; seq <= changes; seq += 1) {
    const price = ((seq * 7) % 90) + 1;
    const size = seq % 11 === 0 ? 0 : seq;
    const level = { side: 'BUY', price: price * 100, sizeMicro: size * 1_000_000 } as const;
    world.feed.setLevels(1, [level]);
    if (size === 0) expected.delete(price);
    else expected.set(price, size);
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
  const socket = openStalled();
  const expected = putChanges();
  socket.resume();
  while (socket.of('delta').at(-1)?.['seq'] !== changes) await setImmediate();
  const book = new Map<number, number>();
  let [last, merged] = [0, 0];
  for (const delta of socket.of('delta')) {
    if (delta['prev'] !== last) throw new Error(`${String(delta['prev'])} after ${last}`);
    last = Number(delta['seq']);
    if (delta['merged'] === true) merged += 1;
    applyTo(book, delta['levels']);
  }
  expect(merged).toBeGreaterThan(0);
  expect([...book].sort()).toEqual([...expected].sort());
});

test('a reader past the bound is closed with 4008 and the newest messages that were sent', async () => {
  world = await new StreamWorld(20_000).start();
  const socket = openStalled();
  // Every price once: merging saves nothing. A record has 50 levels of some 40 bytes; a socket takes 64 kB at once.
  for (let record = 0; record < 100 && world.closes.length === 0; record += 1) {
    const levels = Array.from({ length: 50 }, (_, at) => ({
      side: 'BUY' as const,
      price: record * 50 + at + 1,
      sizeMicro: 1_000_000,
    }));
    world.feed.setLevels(1, levels);
  }
  expect(world.closes).toEqual(['slowReader']);
  expect(socket.closed).toBe(4008);
  socket.resume();
  const [closing] = socket.of('closing');
  expect(closing).toMatchObject({
    code: 4008,
    resume: [{ channel: 'book', key: yes, seq: (socket.of('delta').at(-1) as Seen)['seq'] }],
  });
});

test('a reader behind large buffers is sent no more than the window, and the rest when it reads', async () => {
  world = await new StreamWorld(50_000_000).start();
  const socket = new ScriptedSocket();
  world.hub.add(socket.asSocket, 'address');
  socket.receive({ op: 'subscribe', id: 1, channel: 'book', tokens: [yes] });
  const pings: Buffer[] = [];
  socket.ping = (payload = Buffer.alloc(0)) => void pings.push(payload);
  putChanges();
  const bytes = () => socket.seen.reduce((sum, one) => sum + JSON.stringify(one).length, 0);
  await wait(20);
  expect(bytes()).toBeGreaterThan(unreadMaxBytes - askEveryBytes);
  expect(bytes()).toBeLessThan(unreadMaxBytes + askEveryBytes);
  expect(socket.of('delta').at(-1)?.['seq']).toBeLessThan(changes);
  for (let at = 0; at < pings.length; at += 1) socket.emit('pong', pings[at]);
  expect(socket.of('delta').at(-1)?.['seq']).toBe(changes);
});

test('a reader that takes nothing of what it asked for again is closed, and its place is free', async () => {
  world = await new StreamWorld(200_000).start();
  for (let record = 0; record < 2_000; record += 1)
    world.feed.setLevels(1, [{ side: 'BUY', price: (record % 9_000) + 1, sizeMicro: record + 1 }]);
  const socket = new ScriptedSocket();
  world.hub.add(socket.asSocket, 'address');
  socket.stall();
  socket.receive({ op: 'subscribe', id: 1, channel: 'book', tokens: [yes], from: { seq: 0 } });
  while (world.queued.bytes < 50_000) await setImmediate();
  expect(world.places.taken).toBe(1);
  while (world.closes.length === 0 && world.aheadMs < 60_000) {
    world.aheadMs += 1_000;
    world.hub.beat();
    await wait(1);
  }
  expect(world.aheadMs).toBeGreaterThanOrEqual(30_000);
  expect(world.closes).toEqual(['slowReader']);
  expect([world.places.taken, world.queued.bytes]).toEqual([0, 0]);
});

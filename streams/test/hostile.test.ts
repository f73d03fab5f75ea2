import { setTimeout as wait } from 'node:timers/promises';
import { Random } from '@pm/kit/random';
import { exampleOf } from '@pm/schemas/http/example-of';
import { familyStreamNames, streamChannelNames } from '@pm/schemas/streams/channels';
import { clientFrames } from '@pm/schemas/streams/client-frames';
import { familyFrames } from '@pm/schemas/streams/family-frames';
import { heapInUse } from '../../kit/test/hostile/heap.ts';
import { runLength } from '../../kit/test/long-runs.ts';
import { token } from '../../query-api/test/in-memory.ts';
import { type FamilyClient, FamilyWorld, goodAuth } from './family-world.ts';
import { StreamClient } from './stream-client.ts';
import { StreamWorld } from './stream-world.ts';

const frames = runLength({ test: 1_000, deep: 10_000 });
/** Growth of the heap that remains after a collection: by what is made once, and by frames. */
const heapGrowthMaxBytes = 4 * 1024 * 1024 + frames * 1_600;

const odd: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  1e308,
  2 ** 53,
  '',
  '\u0000',
  '0x',
  'x'.repeat(2_000),
  [],
  {},
  [[[[[[]]]]]],
  { __proto__: 1 },
  ['__proto__', 'constructor'],
  { toString: 1 },
];

/** Also `__proto__` becomes a field of its own. */
const plain = { enumerable: true, writable: true, configurable: true } as const;

const shapes = Object.values(clientFrames).map((schema) => exampleOf(schema) as object);

/** A frame that is nearly right: fields of an example changed, dropped or added. */
function spoiled(random: Random): string {
  const frame: Record<string, unknown> = { ...random.pick(shapes) };
  for (let changes = random.integer(0, 3); changes > 0; changes -= 1) {
    const name = random.pick([
      ...Object.keys(frame),
      'tokens',
      'from',
      'channel',
      '__proto__',
      'id',
    ]);
    const way = random.below(4);
    if (way === 0) delete frame[name];
    else if (way === 1) frame[name] = random.pick([...streamChannelNames]);
    else if (way === 2) frame[name] = [token(1, 0), random.pick(odd)];
    else Object.defineProperty(frame, name, { ...plain, value: random.pick(odd) });
  }
  return JSON.stringify(frame);
}

function garbage(random: Random): string {
  const bytes = Buffer.from(
    Array.from({ length: random.integer(0, 200) }, () => random.below(256)),
  );
  const text = spoiled(random);
  return random.chance(0.5) ? text.slice(0, random.below(text.length)) : bytes.toString('latin1');
}

/** Sends hostile frames over one connection after the other, each of another address; returns how many were closed. */
async function attack(world: StreamWorld, random: Random): Promise<number> {
  let client = await StreamClient.open(world.url, addressOf(0));
  let closed = 0;
  for (let sent = 0; sent < frames; sent += 1) {
    if (client.socket.readyState !== client.socket.OPEN) {
      closed += 1;
      if (client.problem !== null) throw client.problem;
      client = await StreamClient.open(world.url, addressOf(closed));
    }
    client.send(random.chance(0.6) ? spoiled(random) : garbage(random));
    world.aheadMs += 55;
    if (sent % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  client.socket.terminate();
  return closed;
}

const addressOf = (index: number) => ({
  'x-forwarded-for': `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
});

/** Frames of the family that are nearly right, of any of its streams. */
const familyShapes = Object.values(familyFrames)
  .flatMap((frames) => Object.values(frames).map((schema) => exampleOf(schema)))
  .filter((example) => typeof example === 'object' && example !== null);
const familyFields = ['type', 'operation', 'action', 'assets_ids', 'markets', 'auth', 'filters'];
const familyValues = [
  'market',
  'USER',
  'subscribe',
  'unsubscribe',
  [token(1, 0), token(9, 1), 'x'],
  [{ topic: 'activity', type: '*', filters: '{"event_slug":"event-1"}' }],
  [{ topic: 'comments', filters: { [`${'n'.repeat(50)}`]: 1 } }],
  goodAuth,
];

function spoiledOfFamily(random: Random): string {
  const frame: Record<string, unknown> = { ...random.pick(familyShapes) };
  for (let changes = random.integer(0, 3); changes > 0; changes -= 1) {
    const name = random.pick([...Object.keys(frame), ...familyFields, '__proto__']);
    const value: unknown = random.pick([...odd, ...familyValues]);
    if (random.chance(0.2)) delete frame[name];
    else Object.defineProperty(frame, name, { ...plain, value });
  }
  return JSON.stringify(frame);
}

/** Sends hostile frames to the streams of the family; returns how many connections were opened. */
async function attackFamily(world: FamilyWorld, random: Random): Promise<number> {
  let opened = 0;
  let client: FamilyClient | null = null;
  for (let sent = 0; sent < frames; sent += 1) {
    if (client === null || client.socket.readyState !== client.socket.OPEN) {
      if (client !== null && client.problem !== null) throw new Error(client.problem);
      opened += 1;
      client = await world.open(`/ws/${random.pick(familyStreamNames)}`, addressOf(opened));
    }
    const text = spoiledOfFamily(random);
    client.send(random.chance(0.8) ? text : text.slice(0, random.below(text.length)));
    world.aheadMs += 55;
    if (sent % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
    // The data that the connections read changes meanwhile.
    if (sent % 50 === 0)
      world.feed.setLevels(1, [{ side: 'BUY', price: (sent % 90) + 1, sizeMicro: sent }]);
  }
  client?.socket.terminate();
  return opened;
}

let world: StreamWorld | FamilyWorld;
afterEach(() => world.close());

test(`${frames} hostile frames on the streams of the family: nothing breaks or stays`, async () => {
  const family = await new FamilyWorld().start();
  world = family;
  const before = await heapInUse();
  expect(await attackFamily(family, new Random(20_260_602))).toBeGreaterThan(frames / 100);
  const fresh = await family.open('/ws/market');
  fresh.send({ type: 'market', assets_ids: [token(1, 0)] });
  expect(await fresh.of('book')).toMatchObject({ sequence: 1 });
  expect((await heapInUse()) - before).toBeLessThan(heapGrowthMaxBytes);
  fresh.socket.terminate();
  const endMs = Date.now() + 10_000;
  while (family.hub.connections > 0 && Date.now() < endMs) await wait(10);
  const { counts, hub, queued } = family;
  expect([hub.subscriptions, counts.addresses, queued.bytes]).toEqual([0, 0, 0]);
}, 120_000);

test(`${frames} hostile frames: every frame is answered in declared forms, nothing breaks or stays`, async () => {
  const own = await new StreamWorld().start();
  world = own;
  const before = await heapInUse();
  expect(await attack(own, new Random(20_260_601))).toBeGreaterThan(frames / 100);
  const fresh = await own.open();
  fresh.send({ op: 'subscribe', id: 1, channel: 'book', tokens: [token(1, 0)] });
  expect(await fresh.of('snapshot')).toMatchObject({ seq: 0 });
  expect((await heapInUse()) - before).toBeLessThan(heapGrowthMaxBytes);
  fresh.socket.terminate();
  const endMs = Date.now() + 10_000;
  while (own.hub.connections > 0 && Date.now() < endMs) await wait(10);
  expect(own.hub.subscriptions).toBe(0);
  expect([own.counts.addresses, own.queued.bytes, own.places.taken]).toEqual([0, 0, 0]);
}, 120_000);

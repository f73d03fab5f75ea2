import { setTimeout as wait } from 'node:timers/promises';
import { Random } from '@pm/kit/random';
import { clientFrames, exampleOf, streamChannelNames } from '@pm/schemas';
import { token } from '../in-memory.ts';
import { StreamClient } from './stream-client.ts';
import { StreamWorld } from './stream-world.ts';

const frames = 10_000;
/** Growth of the heap that remains after a collection would be a leak; garbage of a run stays below it. */
const heapGrowthMaxBytes = 150 * 1024 * 1024;

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

let world: StreamWorld;
afterEach(() => world.close());

test('10,000 hostile frames: every frame is answered in declared forms, nothing breaks or stays', async () => {
  world = await new StreamWorld().start();
  const before = process.memoryUsage().heapUsed;
  expect(await attack(world, new Random(20_260_601))).toBeGreaterThan(100);
  const fresh = await world.open();
  fresh.send({ op: 'subscribe', id: 1, channel: 'book', tokens: [token(1, 0)] });
  expect(await fresh.of('snapshot')).toMatchObject({ seq: 0 });
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(heapGrowthMaxBytes);
  fresh.socket.terminate();
  const endMs = Date.now() + 10_000;
  while (world.hub.connections > 0 && Date.now() < endMs) await wait(10);
  expect(world.hub.subscriptions).toBe(0);
  expect(world.counts.addresses).toBe(0);
}, 120_000);

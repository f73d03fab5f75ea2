import { setTimeout as wait } from 'node:timers/promises';
import { silentLog } from '@pm/kit/log';
import { redisKeys } from '@pm/schemas/redis/keys';
import { KeyReadings, type KeyReadingsOptions } from '../../src/accounts/key-readings.io.ts';

/** A hash in memory, and topics that end where the test says. */
class World {
  readonly shown = new Map<string, string>();
  readonly ends = new Map([
    ['credentials', 1],
    ['agents', 1],
  ]);
  readonly processes: KeyReadings[] = [];
  isAway = false;
  onLook: () => void = () => {};

  #assertUp(): void {
    if (this.isAway) throw new Error('away');
  }

  /** A process that has read the topics up to here. */
  process(service: string, positions: Record<string, number>, waitMs = 1_000_000): KeyReadings {
    const redis = {
      hset: async (_key: string, name: string, text: string) => {
        this.#assertUp();
        this.shown.set(name, text);
        return 1;
      },
      hgetall: async () => {
        this.#assertUp();
        this.onLook();
        return Object.fromEntries(this.shown);
      },
      hdel: async (_key: string, ...names: string[]) => {
        for (const name of names) this.shown.delete(name);
        return names.length;
      },
    } as unknown as KeyReadingsOptions['redis'];
    const admin = {
      bounds: async (topic: string) => new Map([[0, { low: 0, high: this.ends.get(topic) ?? 0 }]]),
    };
    const followed = Object.keys(positions).map((topic) => ({
      topic,
      reader: { position: () => positions[topic] ?? 0, hurry: () => {} },
    }));
    const keys = redisKeys('test');
    const parts = { redis, keys, admin, followed, service, log: silentLog, waitMs };
    const readings = new KeyReadings(parts);
    readings.start();
    this.processes.push(readings);
    return readings;
  }
}

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => Promise.all(world.processes.map((one) => one.close())));

test('a revocation is answered when every process has read it, in whatever order they follow the topics', async () => {
  const [own, other] = [
    { credentials: 1, agents: 1 },
    { agents: 1, credentials: 1 },
  ];
  const readings = world.process('ingress', own);
  world.process('query-api', other);
  while (world.shown.size < 2) await wait(1);
  expect(await readings.behind()).toEqual([]);
  world.ends.set('credentials', 2);
  own.credentials = 2;
  let answered: unknown = 'waits';
  const done = readings.behind().then((behind) => {
    answered = behind;
  });
  const shownBefore = world.shown.size;
  await wait(60);
  expect([answered, shownBefore]).toEqual(['waits', 2]);
  other.credentials = 2;
  await done;
  expect(answered).toEqual([]);
});

test('a live process that does not read is named after the wait, and one that is gone is forgotten', async () => {
  world.shown.set('ingress-gone', '7 1 1');
  let times = 0;
  world.onLook = () => world.shown.set('query-api-stuck', `${times++} 1 1`);
  world.ends.set('credentials', 2);
  const readings = world.process('ingress', { credentials: 2, agents: 1 }, 100);
  while (world.shown.size < 2) await wait(1);
  expect(await readings.behind()).toEqual(['query-api-stuck']);
  expect(world.shown.has('ingress-gone')).toBe(false);
});

test('without the store nothing is known, and the answer says so', async () => {
  const readings = world.process('ingress', { credentials: 1, agents: 1 });
  while (world.shown.size < 1) await wait(1);
  world.isAway = true;
  expect(await readings.behind()).toBeNull();
  world.isAway = false;
});

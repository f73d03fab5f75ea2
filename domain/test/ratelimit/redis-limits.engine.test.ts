import { randomUUID } from 'node:crypto';
import { systemClock } from '@pm/kit/clock';
import { type LogFacts, silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { failedProofRules, rateRules } from '@pm/schemas/rate-limits';
import { redisKeys } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import { seeded } from '../../../kit/test/seeded.ts';
import { type Caller, limitTable } from '../../src/ratelimit/callers.ts';
import { countName, type Want } from '../../src/ratelimit/leases.ts';
import { RateLimiter } from '../../src/ratelimit/limiter.io.ts';
import { LimitsInUse } from '../../src/ratelimit/limits-in-use.io.ts';
import { RedisLimits } from '../../src/ratelimit/redis-limits.io.ts';
import { rulesFor } from './fixture.ts';
import { PlainStore } from './plain-store.ts';

const url = engineUrl('REDIS');
const keys = redisKeys(`kit-${randomUUID()}`);
const clients: RedisClient[] = [];

function connect(): RedisClient {
  const client = openRedis({ url, log: silentLog });
  clients.push(client);
  return client;
}

async function ready(client: RedisClient): Promise<RedisClient> {
  await client.ping();
  return client;
}

afterAll(async () => {
  const [client] = clients;
  const used = (await client?.keys(keys.limits('*'))) ?? [];
  if (used.length > 0) await client?.del(...used);
  for (const one of clients) one.disconnect();
});

/** Waits until the window has at least so much time left, milliseconds. */
async function inOneWindow(windowMs: number, neededMs: number): Promise<void> {
  const leftMs = windowMs - (Date.now() % windowMs);
  if (leftMs < neededMs) await new Promise((resolve) => setTimeout(resolve, leftMs + 20));
}

test('the script grants what the plain rule grants, want by want', async () => {
  const store = new RedisLimits(await ready(connect()), keys);
  const random = seeded(11);
  await inOneWindow(600_000, 5_000);
  const plain = new PlainStore(() => Date.now());
  const rules = rateRules.filter((rule) => rule.seconds === 600).slice(0, 4);
  const callers: Caller[] = [1, 2, 3].map((id) => ({ kind: 'address', id: `differs ${id}` }));
  for (let round = 0; round < 60; round += 1) {
    const takes = Array.from({ length: 1 + random(90) }, () => ({
      caller: callers[random(3)] as Caller,
      wants: rules
        .slice(random(3))
        .map((rule): Want => ({ rule, limit: 300, need: 1 + random(4), more: random(3) })),
    }));
    const given = await Promise.all(takes.map(({ caller, wants }) => store.take(caller, wants)));
    const expected = takes.map(({ caller, wants }) => plain.takeNow(caller, wants));
    expect(given.map((one) => one.grants)).toEqual(expected.map((one) => one.grants));
  }
});

test('two processes at twice the load accept what one rule allows, within 1 %', async () => {
  const open = async () =>
    new RateLimiter({
      store: new RedisLimits(await ready(connect()), keys),
      limits: limitTable(1, { agent: 2, wallet: 2, network: 4, unfunded: 0.1 }),
      processes: 2,
      clock: systemClock,
      log: silentLog,
    });
  const processes = [await open(), await open()];
  for (const [method, path, limit] of [
    ['GET', '/book', 200],
    ['GET', '/version', 5_000],
    ['POST', '/order', 2_400],
  ] as const) {
    await inOneWindow(10_000, 8_000);
    const caller: Caller = { kind: 'key', id: `load ${path}` };
    const rules = rulesFor(method, path);
    let accepted = 0;
    for (let sent = 0; sent < 2 * limit; sent += 40) {
      const verdicts = Array.from({ length: 40 }, (_, index) =>
        processes[index % 2]?.take(caller, rules, 1),
      );
      for (const verdict of await Promise.all(verdicts)) if (verdict?.isAllowed) accepted += 1;
    }
    expect(accepted).toBeLessThanOrEqual(limit);
    expect(accepted).toBeGreaterThanOrEqual(0.99 * limit);
    const [one] = processes;
    const use = (await one?.uses(caller))?.find(({ rule }) => rule === rules.at(-1));
    expect(use?.rule.seconds === 600 || use?.remaining === 0).toBe(true);
  }
}, 30_000);

test('a process with wider limits takes nothing of the counts of one with narrower limits', async () => {
  const open = async (scale: number) =>
    new RateLimiter({
      store: new RedisLimits(await ready(connect()), keys),
      limits: limitTable(scale, { agent: 2, wallet: 2, network: 4, unfunded: 0.1 }),
      processes: 1,
      clock: systemClock,
      log: silentLog,
    });
  const [wide, narrow] = [await open(10_000), await open(1)];
  await inOneWindow(10_000, 3_000);
  const caller: Caller = { kind: 'address', id: '192.0.2.44' };
  const rules = rulesFor('GET', '/book');
  await wide.take(caller, rules, 1);
  expect(await narrow.take(caller, rules, 1)).toMatchObject({ isAllowed: true, remaining: 199 });
  const left = (await narrow.uses(caller)).find(({ rule }) => rule === rules.at(-1));
  expect(left?.remaining).toBe(199);
});

test('processes with different limits say so once, those with the same limits say nothing', async () => {
  const redis = await ready(connect());
  const open = (limits: string) => {
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (facts: LogFacts) => void warnings.push(facts) };
    return { warnings, process: new LimitsInUse(limits, { redis, keys, log }) };
  };
  const [one, same, other] = [open('scale 1'), open('scale 1'), open('scale 10000')];
  for (const { process } of [one, same]) await process.name();
  expect([...one.warnings, ...same.warnings]).toEqual([]);
  for (let round = 0; round < 3; round += 1)
    for (const { process } of [other, one, same]) await process.name();
  for (const { warnings } of [one, same, other]) expect(warnings).toHaveLength(1);
  expect(one.warnings).toEqual([{ own: 'scale 1', others: ['scale 10000'] }]);
  for (const { process } of [one, same, other]) process.close();
  await redis.del(keys.limitsInUse);
});

test('counts live on one hash per caller that expires by itself', async () => {
  const client = await ready(connect());
  const store = new RedisLimits(client, keys);
  const [rule] = rateRules;
  if (rule === undefined) throw new Error('there are rules');
  const caller: Caller = { kind: 'address', id: '192.0.2.9' };
  await store.take(caller, [{ rule, limit: 10, need: 3, more: 2 }]);
  const key = keys.limits('address:192.0.2.9');
  const left = await client.pttl(key);
  expect(left).toBeGreaterThan(600_000);
  expect(left).toBeLessThanOrEqual(660_000);
  expect((await store.used(caller)).used.get(countName(rule, 10))).toBe(5);
});

test('claims, of which a client can make up any number, are forgotten after their window', async () => {
  const client = await ready(connect());
  const store = new RedisLimits(client, keys);
  const [rule] = failedProofRules;
  if (rule === undefined) throw new Error('failed proofs are counted');
  const wants = [{ rule, limit: 10, need: 1, more: 0 }];
  await store.take({ kind: 'claim', id: '192.0.2.9 key' }, wants);
  const left = await client.pttl(keys.limits('claim:192.0.2.9 key'));
  expect(left).toBeGreaterThan(60_000);
  expect(left).toBeLessThanOrEqual(70_000);
});

test('without a connection it rejects at once instead of waiting', async () => {
  const client = openRedis({ url: 'redis://127.0.0.1:1', log: silentLog });
  clients.push(client);
  const store = new RedisLimits(client, keys);
  const began = performance.now();
  await expect(store.take({ kind: 'key', id: 'k' }, [])).rejects.toMatchObject({
    code: 'redis_unavailable',
  });
  expect(performance.now() - began).toBeLessThan(1_000);
});

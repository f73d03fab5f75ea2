import { type RateRule, rateRules } from '@pm/schemas/rate-limits';
import { seeded } from '../../../kit/test/seeded.ts';
import type { Caller } from '../../src/ratelimit/callers.ts';
import { leasedShare } from '../../src/ratelimit/leases.ts';
import type { RateLimiter } from '../../src/ratelimit/limiter.io.ts';
import { openLimiter, rulesFor, Tally, TestClock } from './fixture.ts';
import { PlainStore } from './plain-store.ts';

const someone: Caller = { kind: 'address', id: '192.0.2.1' };
const key: Caller = { kind: 'key', id: 'k' };

describe('accepted counts at twice the load', () => {
  const loads = [
    ['GET', '/book', 'book.10', 1],
    ['POST', '/books', 'books.10', 1],
    ['GET', '/prices-history', 'prices-history.10', 1],
    ['GET', '/events', 'events.10', 1],
    ['POST', '/order', 'orders.10', 1],
    ['DELETE', '/order', 'cancel-order.10', 1],
    ['POST', '/orders', 'orders.10', 15],
    ['GET', '/version', 'clob.10', 1],
  ] as const;

  test.each(loads)(
    '%s %s stays within 1 %% of %s, never above',
    async (method, path, field, items) => {
      const [clock, random] = [new TestClock(), seeded(7)];
      const store = new PlainStore(clock.nowMs);
      const processes = [1, 2, 3].map(() => openLimiter(store, clock, 3));
      const rules = rulesFor(method, path);
      const limit = rateRules.find((rule) => rule.field === field)?.limit ?? 0;
      const tally = new Tally();
      const first = Math.floor(clock.nowMs() / 10_000);
      const requests = Math.ceil((2 * limit) / items);
      for (let window = 0; window < 3; window += 1) {
        for (let sent = 0; sent < requests; ) {
          const together = Math.min(requests - sent, 1 + random(8));
          const asked = Array.from({ length: together }, async () => {
            const process = processes[random(processes.length)];
            const verdict = await process?.take(key, rules, items);
            if (verdict?.isAllowed) tally.add(key, rules, { items, nowMs: clock.nowMs() });
          });
          await Promise.all(asked);
          sent += together;
          clock.pass((together * 10_000) / requests);
        }
      }
      for (let window = first; window < first + 3; window += 1) {
        const accepted = tally.of(key, field, window);
        expect(accepted).toBeLessThanOrEqual(limit);
        expect(accepted).toBeGreaterThanOrEqual(limit * 0.99 - (items - 1));
      }
    },
  );
});

test('no history of callers, routes, processes and times gives anybody more than any rule', async () => {
  for (let seed = 1; seed <= 20; seed += 1) await playHistory(seed);
}, 30_000);

async function playHistory(seed: number): Promise<void> {
  const [clock, random] = [new TestClock(), seeded(seed)];
  const store = new PlainStore(clock.nowMs);
  const processes = [openLimiter(store, clock, 2), openLimiter(store, clock, 2)];
  const callers = [someone, key, { kind: 'agent', id: 'a' } as const];
  const places = [
    rulesFor('GET', '/'),
    rulesFor('GET', '/book'),
    rulesFor('POST', '/books'),
    rulesFor('POST', '/orders'),
  ];
  const tally = new Tally();
  for (let step = 0; step < 1_500; step += 1) {
    const [caller, rules] = [callers[random(3)] ?? key, places[random(4)] ?? []];
    const [process, items] = [processes[random(2)], 1 + random(20)];
    const verdict = await process?.take(caller, rules, items);
    if (verdict?.isAllowed) tally.add(caller, rules, { items, nowMs: clock.nowMs() });
    clock.pass(random(30));
  }
  for (const [name, count] of tally.counts) {
    const [caller = '', field] = name.split(' ');
    const limit = rateRules.find((rule) => rule.field === field)?.limit ?? 0;
    expect([name, count <= limit * (caller.startsWith('agent') ? 2 : 1)]).toEqual([name, true]);
  }
}

test('a request that one rule refuses takes nothing of the others', async () => {
  const clock = new TestClock();
  const store = new PlainStore(clock.nowMs);
  const limiter = openLimiter(store, clock);
  const health = rulesFor('GET', '/');
  for (let sent = 0; sent < 500; sent += 1) await limiter.take(someone, health, 1);
  let others = 0;
  for (let sent = 0; sent < 6_000; sent += 1) {
    if ((await limiter.take(someone, rulesFor('GET', '/version'), 1)).isAllowed) others += 1;
  }
  expect(others).toBe(5_000 - 50);
});

test('a request that the store refuses takes nothing of what is leased', async () => {
  const clock = new TestClock();
  const store = new PlainStore(clock.nowMs);
  const [limiter, other] = [openLimiter(store, clock, 2), openLimiter(store, clock, 2)];
  await limiter.take(someone, rulesFor('GET', '/'), 1);
  const checks = 1 + (await acceptedOf(other, rulesFor('GET', '/')));
  const { calls } = store;
  expect((await limiter.take(someone, rulesFor('GET', '/'), 1)).isAllowed).toBe(false);
  expect(store.calls).toBe(calls + 1);
  const version = rulesFor('GET', '/version');
  const others = (await acceptedOf(limiter, version)) + (await acceptedOf(other, version));
  expect(checks + others).toBe(5_000);
});

test('what was leased in one window is void in the next', async () => {
  const clock = new TestClock();
  const limiter = openLimiter(new PlainStore(clock.nowMs), clock);
  const version = rulesFor('GET', '/version');
  await limiter.take(someone, version, 1);
  clock.pass(10_000);
  expect(await acceptedOf(limiter, version)).toBe(5_000);
});

async function acceptedOf(limiter: RateLimiter, rules: readonly RateRule[]): Promise<number> {
  let accepted = 0;
  while ((await limiter.take(someone, rules, 1)).isAllowed) accepted += 1;
  return accepted;
}

test('a batch takes as much as its orders or nothing', async () => {
  const clock = new TestClock();
  const limiter = openLimiter(new PlainStore(clock.nowMs), clock);
  const batches = rulesFor('POST', '/orders');
  for (let sent = 0; sent < 159; sent += 1) await limiter.take(key, batches, 15);
  expect((await limiter.take(key, rulesFor('POST', '/order'), 1)).isAllowed).toBe(true);
  expect(await limiter.take(key, batches, 15)).toMatchObject({ isAllowed: false, remaining: 14 });
  expect((await limiter.take(key, batches, 14)).isAllowed).toBe(true);
  expect((await limiter.take(key, rulesFor('POST', '/order'), 1)).isAllowed).toBe(false);
});

test('sustained trading ends at the long limit and cancels go on', async () => {
  const clock = new TestClock();
  const limiter = openLimiter(new PlainStore(clock.nowMs), clock);
  let placed = 0;
  for (let window = 0; window < 12; window += 1) {
    for (let sent = 0; sent < 2_400; sent += 1) {
      if ((await limiter.take(key, rulesFor('POST', '/order'), 1)).isAllowed) placed += 1;
    }
    clock.pass(10_000);
  }
  expect(placed).toBe(24_000);
  const refused = await limiter.take(key, rulesFor('POST', '/order'), 1);
  expect(refused).toMatchObject({ isAllowed: false, resetSeconds: 480 });
  expect((await limiter.take(key, rulesFor('DELETE', '/order'), 1)).isAllowed).toBe(true);
});

test('most requests of a large limit and all refusals need no store', async () => {
  const clock = new TestClock();
  const store = new PlainStore(clock.nowMs);
  const limiter = openLimiter(store, clock);
  for (let sent = 0; sent < 5_000; sent += 1)
    await limiter.take(someone, rulesFor('GET', '/version'), 1);
  expect(store.calls).toBe(5_000 / (5_000 * leasedShare));
  for (let sent = 0; sent < 100; sent += 1)
    await limiter.take(someone, rulesFor('GET', '/version'), 1);
  expect(store.calls).toBe(5_000 / (5_000 * leasedShare));
});

describe('while the store is away', () => {
  test('each process lets its share pass and no more, then counts with the others again', async () => {
    const clock = new TestClock();
    const store = new PlainStore(clock.nowMs);
    const limiter = openLimiter(store, clock, 2);
    store.isAway = true;
    let accepted = 0;
    for (let sent = 0; sent < 400; sent += 1) {
      const verdict = await limiter.take(someone, rulesFor('GET', '/book'), 1);
      if (verdict.isAllowed) accepted += 1;
      else expect(verdict).toMatchObject({ limit: 100, remaining: 0, resetSeconds: 10 });
    }
    expect(accepted).toBe(100);
    expect(limiter.isShared).toBe(false);
    clock.pass(10_000);
    expect(await limiter.take(someone, rulesFor('GET', '/book'), 1)).toMatchObject({
      isAllowed: true,
    });
    store.isAway = false;
    clock.pass(1_000);
    await limiter.take(someone, rulesFor('GET', '/book'), 1);
    await new Promise(setImmediate);
    expect(limiter.isShared).toBe(true);
    expect(await limiter.take(someone, rulesFor('GET', '/book'), 1)).toMatchObject({ limit: 200 });
  });

  test('no request waits for it and it is tried once a second', async () => {
    const clock = new TestClock();
    const store = new PlainStore(clock.nowMs);
    const limiter = openLimiter(store, clock);
    store.isAway = true;
    await limiter.take(someone, rulesFor('GET', '/book'), 1);
    for (let sent = 0; sent < 50; sent += 1) {
      expect(limiter.take(someone, rulesFor('GET', '/book'), 1)).not.toBeInstanceOf(Promise);
    }
    expect(store.calls).toBe(1);
  });
});

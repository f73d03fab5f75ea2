import { rateRules } from '@pm/schemas/rate-limits';
import { streamLimits } from '@pm/schemas/streams/limits';
import { rateLimitReads } from '../../src/ratelimit/wire.io.ts';
import { openLimiter, rulesFor, TestClock } from './fixture.ts';
import { PlainStore } from './plain-store.ts';

test('a caller sees each of its buckets with the units left, and no other caller’s', async () => {
  const clock = new TestClock();
  const limiter = openLimiter(new PlainStore(clock.nowMs), clock);
  const reads = rateLimitReads(limiter);
  const key = { kind: 'key', id: 'firm' } as const;
  for (let sent = 0; sent < 7; sent += 1) await limiter.take(key, rulesFor('GET', '/book'), 1);
  const { caller, enabled, limits } = await reads.ofKey('firm', '192.0.2.9');
  // Rules that count for wallets alone do not apply to a key.
  const listed = rateRules.filter(({ scope }) => scope.countedFor !== 'wallet');
  expect([caller, enabled, limits.length]).toEqual(['key', true, listed.length]);
  expect(limits.find(({ scope }) => scope === 'book')).toEqual({
    scope: 'book',
    routes: ['GET /book'],
    unit: 'requests',
    window_seconds: 10,
    limit: 200,
    remaining: 193,
    resets_at: Math.floor(clock.nowMs() / 1000) + 10,
  });
  const others = [await reads.ofKey('another', '192.0.2.9'), await reads.ofAddress('192.0.2.1')];
  for (const other of others) {
    expect(other.limits.find(({ scope }) => scope === 'book')?.remaining).toBe(200);
  }
});

test('without the store it returns the counts of this process', async () => {
  const clock = new TestClock();
  const store = new PlainStore(clock.nowMs);
  const limiter = openLimiter(store, clock);
  store.isAway = true;
  const caller = { kind: 'address', id: '192.0.2.1' } as const;
  for (let sent = 0; sent < 7; sent += 1) await limiter.take(caller, rulesFor('GET', '/book'), 1);
  const { limits } = await rateLimitReads(limiter).ofAddress('192.0.2.1');
  expect(limits.find(({ scope }) => scope === 'book')?.remaining).toBe(193);
});

test('without limits the list is empty', async () => {
  const answer = await rateLimitReads(null).ofAddress('192.0.2.1');
  expect(answer).toEqual({ caller: 'address', enabled: false, limits: [], streams: streamLimits });
});

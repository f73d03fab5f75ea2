import type { Caller } from '../../src/ratelimit/callers.ts';
import { type Charge, takeAll } from '../../src/ratelimit/charges.io.ts';
import type { Want } from '../../src/ratelimit/leases.ts';
import type { RateLimiter } from '../../src/ratelimit/limiter.io.ts';
import { openLimiter, rulesFor, TestClock } from './fixture.ts';
import { PlainStore } from './plain-store.ts';

const key: Caller = { kind: 'key', id: 'k' };
const address: Caller = { kind: 'address', id: '192.0.2.0' };
const version = rulesFor('GET', '/version');
const health = rulesFor('GET', '/');
const charges: readonly Charge[] = [
  { caller: key, rules: version },
  { caller: address, rules: health },
];
const [clobMax, windowMs] = [5_000, 10_000];

/** Answers for health checks when the test lets it. */
class GatedStore extends PlainStore {
  gate: Promise<void> = Promise.resolve();

  override async take(caller: Caller, wants: readonly Want[]) {
    const granted = this.takeNow(caller, wants);
    if (wants.some(({ rule }) => rule.scope.name === 'health')) await this.gate;
    return granted;
  }
}

async function acceptedOf(limiter: RateLimiter, caller: Caller, rules: Charge['rules']) {
  let accepted = 0;
  while ((await limiter.take(caller, rules, 1)).isAllowed) accepted += 1;
  return accepted;
}

/** A process that does not know that another one has used the health checks of the address up. */
async function openUnaware() {
  const clock = new TestClock();
  const store = new GatedStore(clock.nowMs);
  const [limiter, other] = [openLimiter(store, clock, 2), openLimiter(store, clock, 2)];
  const taken = await takeAll(limiter, charges, 1);
  expect(taken.isAllowed).toBe(true);
  await acceptedOf(other, address, health);
  return { clock, store, limiter, other };
}

test('a request that one caller may not send takes nothing of the others, and gives it nothing', async () => {
  const { limiter, other } = await openUnaware();
  expect((await takeAll(limiter, charges, 1)).isAllowed).toBe(false);
  expect(await acceptedOf(limiter, address, health)).toBe(0);
  const ofKey = (one: RateLimiter) => acceptedOf(one, key, version);
  expect((await ofKey(limiter)) + (await ofKey(other))).toBe(clobMax - 1);
});

test.each([key, address])(
  'a refusal that comes in a later window returns nothing to it: $kind',
  async (caller) => {
    const { clock, store, limiter, other } = await openUnaware();
    let refuse = () => {};
    store.gate = new Promise((resolve) => {
      refuse = resolve;
    });
    const refused = takeAll(limiter, charges, 1);
    clock.pass(windowMs);
    expect((await limiter.take(caller, version, 1)).isAllowed).toBe(true);
    refuse();
    expect((await refused).isAllowed).toBe(false);
    const ofCaller = (one: RateLimiter) => acceptedOf(one, caller, version);
    expect((await ofCaller(limiter)) + (await ofCaller(other))).toBe(clobMax - 1);
  },
);

import { clockLeapMaxMs } from '@pm/schemas/log/log-rules';
import { TickTime } from '../../src/partition/tick-time.ts';

const startMs = 1_800_000_000_000;
const hourMs = 3_600_000;

/** An owner that writes the time into a log which takes it by the rules. */
class Owner {
  readonly time = new TickTime();
  elapsedMs = 0;
  /** By how much the wall clock of its machine is ahead. */
  aheadMs = 0;
  logged = { timeMs: startMs, witnessMs: 0, isRead: true };

  /** Seconds pass, with two ticks each. Gives the clock of the partition, as its difference from the right time. */
  pass(seconds: number): number {
    for (let tick = 0; tick < 2 * seconds; tick += 1) {
      this.elapsedMs += 500;
      const timeMs = this.next();
      this.time.written(timeMs, this.elapsedMs);
      const latestMs = Math.max(this.logged.timeMs, this.logged.witnessMs) + clockLeapMaxMs;
      if (timeMs > latestMs) throw new Error('a leap');
      this.logged = { ...this.logged, timeMs: Math.max(this.logged.timeMs, timeMs) };
      this.time.seen(this.logged.timeMs, this.elapsedMs + 5);
    }
    return this.logged.timeMs - this.rightMs;
  }

  next(): number {
    const wallMs = this.rightMs + this.aheadMs;
    return this.time.at({ wallMs, monotonicMs: this.elapsedMs }, this.logged);
  }

  /** Ingress takes an order, which is applied 30 ms later. */
  order(ingressAheadMs = 0): void {
    this.time.accepted(this.rightMs + ingressAheadMs - 30, this.elapsedMs);
  }

  get rightMs(): number {
    return startMs + this.elapsedMs;
  }
}

test('an owner whose wall clock is set back by any distance goes on at the same pace', () => {
  for (const backMs of [1_500, 60_000, hourMs, 1_000 * hourMs]) {
    const owner = new Owner();
    owner.pass(5);
    owner.aheadMs = -backMs;
    expect(Math.abs(owner.pass(3_600))).toBeLessThan(100);
    owner.aheadMs = 0;
    expect(owner.pass(10)).toBe(0);
  }
});

test('an owner whose wall clock is set forth by an hour goes on at the same pace, and when it is set back again', () => {
  const owner = new Owner();
  owner.pass(5);
  for (const aheadMs of [hourMs, 0, hourMs, -hourMs, 0]) {
    owner.aheadMs = aheadMs;
    expect(Math.abs(owner.pass(60))).toBeLessThan(100);
    owner.order();
    expect(Math.abs(owner.pass(60))).toBeLessThan(100);
  }
});

test('a partition that ingress and its owner have moved an hour ahead stands until the right time has come', () => {
  const owner = new Owner();
  owner.pass(5);
  owner.aheadMs = hourMs;
  owner.logged = { ...owner.logged, witnessMs: owner.rightMs + hourMs };
  expect(owner.pass(5)).toBe(hourMs);
  owner.aheadMs = 0;
  owner.order();
  const standsAtMs = owner.logged.timeMs;
  owner.pass(1_800);
  expect(owner.logged.timeMs).toBe(standsAtMs);
  owner.order();
  expect(owner.pass(1_900)).toBe(0);
});

test('an owner that follows a silence of seconds is right at once, after a night with a witness', () => {
  const owner = new Owner();
  owner.elapsedMs = 6_000;
  expect(owner.pass(1)).toBe(0);
  owner.elapsedMs += 8 * hourMs;
  const other = new Owner();
  other.logged = owner.logged;
  other.elapsedMs = owner.elapsedMs;
  other.pass(1);
  expect(other.logged.timeMs).toBeLessThan(other.rightMs - hourMs);
  other.logged = { ...other.logged, witnessMs: other.rightMs };
  expect(other.pass(1)).toBe(0);
});

test('an owner whose log was away for a minute goes on where the log is, until a witness says how late it is', () => {
  for (const aheadMs of [0, -hourMs, hourMs]) {
    const owner = new Owner();
    owner.pass(5);
    owner.aheadMs = aheadMs;
    for (let lost = 0; lost < 120; lost += 1) {
      owner.elapsedMs += 500;
      owner.time.written(owner.next(), owner.elapsedMs);
    }
    owner.pass(1);
    expect(owner.logged.timeMs).toBeLessThan(owner.rightMs - 50_000);
    owner.logged = { ...owner.logged, witnessMs: owner.rightMs };
    owner.order();
    expect(Math.abs(owner.pass(1))).toBeLessThan(100);
  }
});

test('an owner that has read none of its ticks for a minute goes on at the same pace', () => {
  const owner = new Owner();
  owner.pass(5);
  owner.logged = { ...owner.logged, isRead: false };
  for (let count = 0; count < 120; count += 1) {
    owner.elapsedMs += 500;
    expect(owner.next()).toBe(owner.rightMs);
    owner.time.written(owner.next(), owner.elapsedMs);
  }
});

test('an owner with a wrong wall clock catches up with ingress after a silence of seconds', () => {
  for (const aheadMs of [-hourMs, hourMs]) {
    const owner = new Owner();
    owner.elapsedMs = 6_000;
    owner.aheadMs = aheadMs;
    owner.pass(1);
    expect(owner.logged.timeMs).toBeLessThan(owner.rightMs - 2_000);
    owner.order();
    expect(Math.abs(owner.pass(1))).toBeLessThan(100);
  }
});

test('an ingress that is an hour off moves no clock, whatever the owner has', () => {
  for (const ingressAheadMs of [hourMs, -hourMs]) {
    const owner = new Owner();
    owner.pass(5);
    owner.order(ingressAheadMs);
    expect(owner.pass(5)).toBe(0);
  }
  const owner = new Owner();
  owner.pass(5);
  owner.aheadMs = -2 * hourMs;
  owner.order(hourMs);
  expect(Math.abs(owner.pass(5))).toBeLessThan(100);
});

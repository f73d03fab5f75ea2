import type { CommandResult } from '@pm/domain/commands/result-waiters';
import type { ApiKeyId, HeartbeatId } from '@pm/schemas/ids';
import type { Command } from '@pm/schemas/log/orders';
import { runLength, seedsFrom } from '../../../kit/test/long-runs.ts';
import { seeded } from '../../../kit/test/seeded.ts';
import { holderOf, SessionProcess, SessionsTopic } from '../sessions-fixture.ts';

const seeds = seedsFrom(1, runLength({ test: 6, deep: 12 }));
const clientsTotal = 8;
const orderPartitions = 2;
const simulatedMs = 150_000;
/** Age limit of the book on both sides. */
const ageLimitMs = 2_000;

interface Resting {
  readonly key: string;
  readonly acceptedAtMs: number;
}

type Entry =
  | { readonly kind: 'tick'; readonly timeMs: number }
  | { readonly kind: 'order'; readonly order: Resting }
  | { readonly kind: 'cancel'; readonly command: Command; answer(outcome: CommandResult): void };

/** One matching partition: a log, and an owner that may be away. */
class Matching {
  clockMs = Date.now();
  heardAtMs = Date.now();
  isAway = false;
  resting: Resting[] = [];
  readonly onCanceled: (order: Resting) => void;
  readonly #log: Entry[] = [];

  constructor(onCanceled: (order: Resting) => void) {
    this.onCanceled = onCanceled;
  }

  append(entry: Entry): void {
    this.#log.push(entry);
    if (!this.isAway) this.#work();
  }

  tick(): void {
    if (!this.isAway) this.append({ kind: 'tick', timeMs: Date.now() });
  }

  comeBack(): void {
    this.isAway = false;
    this.#work();
  }

  #work(): void {
    for (let entry = this.#log.shift(); entry !== undefined; entry = this.#log.shift()) {
      this.heardAtMs = Date.now();
      if (entry.kind === 'tick') this.clockMs = Math.max(this.clockMs, entry.timeMs);
      else if (entry.kind === 'cancel') entry.answer(this.#cancel(entry.command));
      else if (Math.abs(entry.order.acceptedAtMs - this.clockMs) <= ageLimitMs) {
        this.resting.push(entry.order);
      }
    }
  }

  #cancel(command: Command): CommandResult {
    if (command.kind !== 'CancelOrders') throw new Error('only sessions are canceled here');
    const refused = (code: 'too_late' | 'too_many_open_orders') =>
      [{ index: 0, event: { kind: 'CommandRefused', command: 0, code, requestId: null } }] as const;
    const place = { partition: 0, inOffset: 0 };
    if (this.clockMs - command.acceptedAtMs > ageLimitMs) {
      return { kind: 'executed', place, events: refused('too_late') };
    }
    const key = command.apiKey?.toString('hex') ?? '';
    const asked = this.resting.filter((order) => order.key === key);
    const canceled = asked.slice(0, 3);
    this.resting = this.resting.filter((order) => !canceled.includes(order));
    for (const order of canceled) this.onCanceled(order);
    const events = asked.length > canceled.length ? refused('too_many_open_orders') : [];
    return { kind: 'executed', place, events };
  }
}

/** The true state of a key by the topic alone: a fold of its own, slow and simple. */
class Truth {
  readonly name: string;
  sequence = 0;
  phase = 'NONE';
  startedAtMs = 0;
  lastBeatMs = 0;

  constructor(name: string) {
    this.name = name;
  }
}

/** The whole: processes, clients, partitions and an omniscient judge, from one seed. */
class World {
  readonly random: (below: number) => number;
  readonly topic = new SessionsTopic(2);
  readonly truths = new Map<string, Truth>();
  readonly complaints: string[] = [];
  readonly missedAfterMs: number[] = [];
  readonly processes: SessionProcess[] = [];
  readonly partitions: Matching[];
  canceled = 0;
  accepted = 0;
  isQuiet = false;
  isHostile = false;
  /** Outages of the topic `sessions`. */
  readonly outages: { fromMs: number; toMs: number }[] = [];

  constructor(seed: number) {
    this.random = seeded(seed);
    this.topic.appendMs = () => this.random(40);
    this.topic.compactAfterMs = 20_000;
    this.topic.follow((record) => this.judgeRecord(record.value));
    this.partitions = Array.from(
      { length: orderPartitions },
      () => new Matching((order) => this.judgeCancel(order)),
    );
  }

  /** A miss that counts is right only if for 10 seconds in which beats could be taken none was. */
  judgeRecord(record: SessionsTopic['said'][number] | null): void {
    if (record === null || record.sequence === 0) return;
    const name = record.apiKey.toString('hex');
    const truth = this.truths.get(name) ?? new Truth(name);
    this.truths.set(name, truth);
    if (record.sequence <= truth.sequence) return;
    const before = truth.phase;
    truth.sequence = record.sequence;
    truth.phase = record.phase;
    if (record.phase === 'LIVE' && before !== 'MISSED') {
      if (before !== 'LIVE') truth.startedAtMs = Date.now();
      truth.lastBeatMs = Date.now();
    }
    if (record.phase === 'MISSED' && before === 'LIVE') {
      this.missedAfterMs.push(Date.now() - truth.lastBeatMs);
      this.stopCanceler(record.writer.toString('hex'));
    }
    if (record.phase === 'ENDED') this.judgeEnd(truth);
  }

  /** The worst moment to stop is between the miss and the cancels. */
  stopCanceler(self: string): void {
    if (!this.isHostile || this.random(2) === 0) return;
    const victim = this.processes.find(({ log }) => log.self === self);
    setTimeout(() => victim?.stop(), this.random(90));
    setTimeout(() => victim?.resume(), 1_000 + this.random(20_000));
  }

  judgeEnd({ name, lastBeatMs }: Truth): void {
    const quietMs = Date.now() - lastBeatMs - this.outageMsSince(lastBeatMs);
    if (quietMs < 10_000) this.complaints.push(`${name} ended after ${quietMs} ms of silence`);
    const left = this.partitions.flatMap(({ resting }) =>
      resting.filter(({ key }) => key === name),
    );
    const old = left.filter(({ acceptedAtMs }) => acceptedAtMs < Date.now() - 10_000);
    if (old.length > 0) this.complaints.push(`${name} ended with ${old.length} old orders`);
  }

  judgeCancel(order: Resting): void {
    this.canceled += 1;
    const truth = this.truths.get(order.key);
    if (truth?.phase === 'LIVE' && order.acceptedAtMs >= truth.startedAtMs) {
      this.complaints.push(`an order of the live session of ${order.key} was canceled`);
    }
  }

  outageMsSince(sinceMs: number): number {
    return this.outages.reduce((sum, { fromMs, toMs }) => {
      return sum + Math.max(0, Math.min(toMs, Date.now()) - Math.max(fromMs, sinceMs));
    }, 0);
  }

  openProcess(): void {
    const process = new SessionProcess(this.topic, {
      monotonicAheadMs: this.random(1_000_000_000),
      wallAheadMs: this.random(600) - 300,
      readMs: () => this.random(60),
      partitions: {
        numbers: [...Array(orderPartitions).keys()],
        isReady: (one) => Date.now() - (this.partitions[one]?.heardAtMs ?? 0) <= 2_000,
        at: (one) => ({ clockMs: this.partitions[one]?.clockMs ?? 0 }),
      },
      run: (partition, command) => this.run(process, partition, command),
    });
    this.processes.push(process);
  }

  /** A process may be stopped while its command is on its way: then it arrives when it goes on. */
  async run(process: SessionProcess, partition: number, command: Command): Promise<CommandResult> {
    const late = new Promise<CommandResult>((resolve) =>
      setTimeout(() => resolve({ kind: 'pending' }), 2_000),
    );
    const answer = new Promise<CommandResult>((resolve) => {
      setTimeout(async () => {
        await process.running;
        if (process.isDead) return;
        this.partitions[partition]?.append({ kind: 'cancel', command, answer: resolve });
      }, this.random(30));
    });
    return await Promise.race([late, answer]);
  }

  /** One of those that run. */
  somebody(): SessionProcess | undefined {
    const running = this.processes.filter(({ isDead, isStopped }) => !isDead && !isStopped);
    return running[this.random(running.length)];
  }

  /** A client that beats in time whatever happens, but for periods in which it is gone. */
  async live(number: number): Promise<void> {
    const chain: { id: HeartbeatId | null } = { id: null };
    while (!this.isQuiet) {
      await pause(2_000 + this.random(4_000));
      if (this.random(12) === 0) await pause(5_000 + this.random(30_000));
      for (let isDone = false; !isDone && !this.isQuiet; ) isDone = await this.beat(number, chain);
    }
  }

  /** True when a heartbeat was accepted; an order follows it. */
  async beat(number: number, chain: { id: HeartbeatId | null }): Promise<boolean> {
    const holder = holderOf(number);
    const { id } = chain;
    const claim = id === null ? ({ kind: 'start' } as const) : ({ kind: 'next', id } as const);
    const beating = this.somebody()?.desk.beat(holder, claim);
    const outcome = await Promise.race([beating, pause(2_500)]);
    if (outcome?.kind === 'wrong') chain.id = outcome.expected;
    else if (outcome?.kind !== 'accepted') await pause(500);
    if (outcome?.kind !== 'accepted') return false;
    chain.id = outcome.id;
    this.accepted += 1;
    this.place(holder.apiKey);
    return true;
  }

  place(apiKey: ApiKeyId): void {
    const order = { key: apiKey.replaceAll('-', ''), acceptedAtMs: Date.now() };
    const partition = this.partitions[this.random(orderPartitions)];
    setTimeout(() => partition?.append({ kind: 'order', order }), this.random(300));
  }

  /** Something goes wrong. */
  break(): void {
    const dice = this.random(10);
    const victim = this.somebody();
    const partition = this.partitions[this.random(orderPartitions)];
    if (dice <= 2) {
      victim?.kill();
      setTimeout(() => this.openProcess(), this.random(4_000));
    } else if (dice <= 5) {
      victim?.stop();
      setTimeout(() => victim?.resume(), this.random(25_000));
    } else if (dice <= 7 && partition !== undefined) {
      partition.isAway = true;
      setTimeout(() => partition.comeBack(), this.random(15_000));
    } else this.outage(this.random(20_000));
  }

  outage(forMs: number): void {
    if ((this.outages.at(-1)?.toMs ?? 0) >= Date.now()) return;
    this.outages.push({ fromMs: Date.now(), toMs: Date.now() + forMs });
    this.topic.open = pause(forMs);
  }

  heal(): void {
    this.isQuiet = true;
    for (const process of this.processes) process.resume();
    for (const partition of this.partitions) partition.comeBack();
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Advances the world; faults come every few seconds when there are any. */
async function simulate(world: World, withFaults: boolean): Promise<void> {
  world.isHostile = withFaults;
  for (let one = 0; one < 3; one += 1) world.openProcess();
  const ticks = setInterval(() => world.partitions.forEach((one) => void one.tick()), 500);
  for (let number = 1; number <= clientsTotal; number += 1) void world.live(number);
  for (let passedMs = 0; passedMs < simulatedMs; passedMs += 5_000) {
    if (withFaults && world.random(2) === 0) world.break();
    await jest.advanceTimersByTimeAsync(5_000);
  }
  world.isHostile = false;
  world.heal();
  await jest.advanceTimersByTimeAsync(60_000);
  clearInterval(ticks);
  for (const process of world.processes) process.kill();
}

describe('sessions under a judge who knows everything', () => {
  beforeEach(() => {
    const doNotFake = ['nextTick', 'queueMicrotask', 'performance', 'hrtime'] as const;
    jest.useFakeTimers({ now: 1_782_753_357_257, doNotFake: [...doNotFake] });
  });
  afterEach(() => jest.useRealTimers());

  test.each(seeds)(
    'nobody is canceled falsely, whatever dies, stops or is away; seed %d',
    async (seed) => {
      const world = new World(seed);
      await simulate(world, true);
      expect(world.complaints).toEqual([]);
      const phases = [...world.truths.values()].map(({ phase }) => phase);
      expect(phases).toEqual(phases.map(() => 'ENDED'));
      expect(world.partitions.flatMap(({ resting }) => resting)).toEqual([]);
      expect(world.canceled).toBeGreaterThan(10);
      expect(world.accepted).toBeGreaterThan(100);
    },
    60_000,
  );

  test('while all parts work a miss comes 13 to 14 seconds after the last heartbeat', async () => {
    const world = new World(99);
    await simulate(world, false);
    expect(world.complaints).toEqual([]);
    expect(world.missedAfterMs.length).toBeGreaterThan(clientsTotal);
    expect(Math.min(...world.missedAfterMs)).toBeGreaterThanOrEqual(13_000);
    expect(Math.max(...world.missedAfterMs)).toBeLessThan(14_000);
  }, 60_000);
});

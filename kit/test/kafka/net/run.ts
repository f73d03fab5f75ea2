import net from 'node:net';
import { Random } from '@pm/kit/random';
import type { LogClientLimits } from '../../../src/kafka/limits.ts';
import { Scheduler } from '../../time/scheduler.ts';
import { replace, withVirtualTimers } from '../../time/virtual-timers.ts';
import { BrokerServer } from './broker-server.ts';
import { ClientProcess, type World } from './client-process.ts';
import { Cluster } from './cluster.ts';
import { type Disturbed, planEpisode } from './episodes.ts';
import { limits } from './limits.ts';
import { Machine } from './machine.ts';
import { MemoryNetwork } from './memory-network.ts';
import { type Finding, Observer } from './observer.ts';
import { WireFaults } from './wire-faults.ts';

const startMs = Date.UTC(2026, 0, 1);
const warmUpMs = 3_000;
const episodeMs = 14_000;
/** Once nothing fails any more, everything is as it should be within this time. */
const settleMs = 12_000;
const handledWithinMs = 3_000;
const closedWithinMs = 14_000;
const quietMs = 4_000;
const appendMs = 70;
const microtasksMax = 20_000;
/**
 * kafkajs looks for requests that wait after each of a negative time, which is each millisecond on each connection: as
 * none waits here, it is enough now and then.
 */
const idleCheckMs = 500;

export interface RunOptions {
  readonly seed: number;
  /** Limits of the clients instead of the usual ones. */
  readonly limits?: Partial<LogClientLimits>;
  /** Kinds of events instead of those of the seed. */
  readonly kinds?: readonly string[] | undefined;
}

export interface RunResult {
  readonly seed: number;
  readonly kinds: readonly string[];
  readonly findings: readonly Finding[];
  readonly events: number;
  readonly trace: number;
}

/** One simulated cluster with its processes. */
class Simulation implements World {
  readonly scheduler: Scheduler;
  readonly observer: Observer;
  readonly cluster: Cluster;
  readonly network: MemoryNetwork;
  readonly faults: WireFaults;
  readonly server: BrokerServer;
  readonly limits: Partial<LogClientLimits>;
  readonly habits = { slow: 0, perRecordMs: 0, failing: 0 };
  readonly done = new Map<number, number>();
  isCalm = true;
  readonly all: ClientProcess[] = [];
  readonly #running: ClientProcess[] = [];
  #machines = 0;
  #appended = 0;
  #isOver = false;
  readonly #kinds: readonly string[] | undefined;

  constructor({ seed, limits: others = {}, kinds }: RunOptions) {
    this.#kinds = kinds;
    this.limits = { ...limits, ...others };
    this.scheduler = new Scheduler(seed, startMs);
    this.observer = new Observer(this.scheduler);
    this.cluster = new Cluster(this.scheduler);
    this.observer.cluster = this.cluster;
    this.network = new MemoryNetwork(this.scheduler);
    this.faults = new WireFaults(this.scheduler.random);
    this.server = new BrokerServer(this.cluster, this.faults, this.observer);
    for (const node of this.cluster.nodes) this.network.listen(node.host, this.server.of(node));
  }

  async run(): Promise<readonly string[]> {
    const { scheduler } = this;
    this.#begin(0);
    this.#begin(1);
    this.#append();
    this.#supervise();
    await this.#pass(scheduler.random.chance(0.8) ? warmUpMs : 200);
    this.isCalm = false;
    const kinds = planEpisode(this.#disturbed(), episodeMs, this.#kinds);
    await this.#pass(episodeMs);
    this.#calmDown();
    await this.#pass(settleMs);
    await this.#judgeProgress();
    this.#isOver = true;
    for (const process of this.#running) process.close();
    await this.#pass(closedWithinMs);
    await this.#judgeEnd();
    return kinds;
  }

  #begin(slot: number): void {
    this.#machines += 1;
    const process = new ClientProcess(this, new Machine(`p${this.#machines}`, this.scheduler));
    this.#running[slot] = process;
    this.all.push(process);
    process.start();
  }

  #disturbed(): Disturbed {
    const { cluster, network, faults, observer, server, habits, scheduler } = this;
    return {
      random: scheduler.random,
      cluster,
      network,
      faults,
      observer,
      server,
      habits,
      processes: () => this.#running,
      isCalm: () => this.isCalm,
      replace: (process, isKilled) => this.#replace(process, isKilled),
    };
  }

  #replace(process: ClientProcess, isKilled: boolean): void {
    const slot = this.#running.indexOf(process);
    if (slot < 0) return;
    if (isKilled) {
      process.machine.kill();
      this.network.cut(process.machine);
    } else process.close();
    this.#begin(slot);
  }

  #append(): void {
    const { random } = this.scheduler;
    for (const topic of ['orders', 'events'])
      for (const partition of this.cluster.partitionsOf(topic))
        for (let count = random.below(3); count > 0; count -= 1) {
          this.#appended += 1;
          this.cluster.append(partition, `r${this.#appended}`);
        }
    this.scheduler.after(appendMs, null, () => this.#append());
  }

  /** Processes that gave up are started again; all are watched from outside. */
  #supervise(): void {
    for (const process of [...this.#running])
      if (process.hasFailed && !this.#isOver) this.#replace(process, false);
    for (const process of this.all) {
      process.checkClose();
      if (process.machine.isAlive) this.observer.checkMembers(process.machine);
    }
    this.scheduler.after(100, null, () => this.#supervise());
  }

  #calmDown(): void {
    this.isCalm = true;
    Object.assign(this.habits, { slow: 0, perRecordMs: 0, failing: 0 });
    Object.assign(this.faults, { share: 0, errors: 0, noProducerIds: false });
    this.network.delayMs = 2;
    for (const node of this.cluster.nodes) if (!node.isSound) this.cluster.heal(node);
    for (const partition of this.cluster.partitions.values()) {
      Object.assign(partition, { error: 0, isDisputed: false, troubledMs: this.scheduler.nowMs });
    }
    this.server.calm();
  }

  async #judgeProgress(): Promise<void> {
    const ends = new Map(
      [...this.cluster.partitions].map(([key, one]) => [key, one.values.length]),
    );
    await this.#pass(handledWithinMs);
    const { observer, server } = this;
    for (const process of this.#running) this.#judgeProcess(process, ends);
    const ours = this.#running.map(({ group }) => group?.memberId);
    for (const one of server.group.members.keys())
      if (!ours.includes(one)) observer.broken('foreign member', `nobody is ${one}`);
    for (const [key, end] of ends) if (key.startsWith('orders/')) this.#judgeOrders(key, end);
  }

  #judgeProcess(process: ClientProcess, ends: ReadonlyMap<string, number>): void {
    const { observer } = this;
    const { machine, group } = process;
    for (const key of process.behind(ends)) observer.broken('not read', process.describe(key));
    const memberId = group?.memberId ?? null;
    if (memberId === null) observer.broken('no member', `${machine.name} is in no group`);
    for (const one of observer.speaking(machine))
      if (one !== memberId)
        observer.broken('two members', `${machine.name} is ${memberId} and speaks as ${one}`);
  }

  #judgeOrders(key: string, end: number): void {
    const partition = Number(key.slice('orders/'.length));
    const owners = this.#running.filter(({ group }) => group?.owned().includes(partition));
    const [owner] = owners;
    if (owner === undefined || owners.length > 1)
      this.observer.broken('not owned', `${key} has ${owners.length} owners`);
    else if ((owner.owned.get(partition)?.next ?? 0) < end)
      this.observer.broken('not handled', owner.describe(key));
  }

  async #judgeEnd(): Promise<void> {
    const { observer, network } = this;
    const before = new Map(this.all.map(({ machine }) => [machine, machine.events]));
    await this.#pass(quietMs);
    for (const { machine, hasEnded } of this.all) {
      if (!machine.isAlive) continue;
      if (!hasEnded)
        observer.broken('close takes too long', `the close of ${machine.name} does not end`);
      const open = network.openOf(machine);
      if (open > 0) observer.broken('open after close', `${machine.name} has ${open} connections`);
      const events = machine.events - (before.get(machine) ?? 0);
      if (events > 0) observer.broken('busy after close', `${machine.name} has ${events} events`);
    }
    this.#judgeWrites();
  }

  #judgeWrites(): void {
    for (const { acknowledged, refused } of this.all) {
      for (const { key, offset, value } of acknowledged) {
        const found = this.cluster.partition(key).values;
        if (found[offset] !== value)
          this.observer.broken('acknowledged and lost', `${value} in ${key}`);
        if (found.indexOf(value) !== found.lastIndexOf(value))
          this.observer.broken('written twice', `${value} in ${key}`);
      }
      for (const { key, value } of refused)
        if (this.cluster.partition(key).values.includes(value))
          this.observer.broken('written though refused', `${value} in ${key}`);
    }
  }

  async #pass(ms: number): Promise<void> {
    await this.scheduler.runUntil(this.scheduler.nowMs + ms);
  }
}

/** Runs a seed and says what it found. */
export async function runSeed(options: RunOptions): Promise<RunResult> {
  const { seed } = options;
  const simulation = new Simulation(options);
  const { scheduler, observer } = simulation;
  const kinds = await withVirtualTimers(scheduler, async () => {
    const restore = replaceProcessGlobals(simulation, seed);
    try {
      return await simulation.run();
    } finally {
      for (const one of restore) one();
    }
  });
  return {
    seed,
    kinds,
    findings: observer.findings,
    events: scheduler.events,
    trace: scheduler.trace,
  };
}

/** The share of looks at the clock that find the thread to have stood still, and for how long, milliseconds. */
const standstills = { share: 0.01, mostMs: 12 };

/**
 * Replaces the globals that each process has for itself: its clocks, its connections, its random numbers, and the
 * thread.
 */
function replaceProcessGlobals({ scheduler, network, observer }: Simulation, seed: number) {
  const chance = new Random(seed + 1);
  let newestMs = scheduler.nowMs;
  const monotonic = () => {
    const stoodMs = chance.chance(standstills.share) ? chance.next() * standstills.mostMs : 0;
    newestMs = Math.max(newestMs + stoodMs, scheduler.nowMs);
    return newestMs;
  };
  const machine = () => (scheduler.current instanceof Machine ? scheduler.current : null);
  const { queueMicrotask: queue, setTimeout: virtual } = globalThis;
  const unhurried = (run: () => void, ms = 0) =>
    virtual(run, ms < 0 ? idleCheckMs : Math.trunc(ms));
  const counted = (run: () => void) => {
    const own = machine();
    if (own !== null && isSpinning(own, scheduler.events))
      observer.broken('spins', `${own.name} never waits`);
    else queue(run);
  };
  return [
    replace(Date, 'now', () => Math.floor(scheduler.nowMs + (machine()?.skewMs ?? 0))),
    replace(performance, 'now', monotonic),
    replace(Math, 'random', () => chance.next()),
    replace(net, 'connect', network.connect.bind(network)),
    replace(globalThis, 'queueMicrotask', counted),
    replace(globalThis, 'setTimeout', unhurried),
  ];
}

function isSpinning({ microtasks }: Machine, event: number): boolean {
  microtasks.count = microtasks.event === event ? microtasks.count + 1 : 1;
  microtasks.event = event;
  return microtasks.count > microtasksMax;
}

import type { Fault } from '../../../src/fault/index.ts';
import {
  type LogClient,
  type LogProducer,
  type LogReader,
  openLogClient,
  type PartitionGroup,
  type RecordBatch,
} from '../../../src/kafka/index.ts';
import type { LogClientLimits } from '../../../src/kafka/limits.ts';
import { silentLog } from '../../../src/log/index.ts';
import type { Scheduler } from '../../time/scheduler.ts';
import type { Cluster, ClusterPartition } from './cluster.ts';
import { maxWaitMs, sessionMs, stallMs } from './limits.ts';
import type { Machine } from './machine.ts';
import type { Observer } from './observer.ts';

/** A partition as the code of the application sees it. */
interface OwnPartition {
  isAssigning: boolean;
  isHandling: boolean;
  isRevoking: boolean;
  isOurs: boolean;
  /** Since when it has had nothing to do. */
  idleSinceMs: number;
  /** The next offset; null before the first batch after a start at the commit. */
  next: number | null;
}

/** Behaviour of the application, by seed. */
export interface Habits {
  /** Share of batches and assignments that take seconds. */
  slow: number;
  /** Time that each record takes, milliseconds. */
  perRecordMs: number;
  /** Share of batches that fail. */
  failing: number;
}

const sampleMs = 100;
const reads = [0, 1];
/** From its call a close may take so long beside a pause of its process: handlers, the group, requests under way. */
const closeMaxMs = 12_000;
const silentAfterMs = 1_500;
/** Limits without anything in the way: for a record to be read or sent, and for a process to be heard as a member. */
const readWithinMs = 6_000;
const memberWithinMs = 9_000;

export interface World {
  readonly scheduler: Scheduler;
  readonly cluster: Cluster;
  readonly observer: Observer;
  readonly habits: Habits;
  readonly limits: Partial<LogClientLimits>;
  isCalm: boolean;
  /** Where an application begins a partition again. */
  readonly done: Map<number, number>;
}

/** A process with a client: a group, a reader and a producer of the sources, and an application on them. */
export class ClientProcess {
  readonly machine: Machine;
  readonly #world: World;
  #client: LogClient | null = null;
  #producer: LogProducer | null = null;
  group: PartitionGroup | null = null;
  reader: LogReader | null = null;
  readonly owned = new Map<number, OwnPartition>();
  readonly #nextRead = new Map<number, number>();
  readonly #openedMs: number;
  /** The newest report of each stall by topic. */
  readonly #stalledMs = new Map<string, number>();
  /** Records that were acknowledged. */
  readonly acknowledged: { key: string; offset: number; value: string }[] = [];
  readonly refused: { key: string; value: string }[] = [];
  #sent = 0;
  #isEnding = false;
  hasEnded = false;
  /** It gave up, or could not start: its supervisor starts another one. */
  hasFailed = false;
  closingMs: number | null = null;

  constructor(world: World, machine: Machine) {
    this.#world = world;
    this.machine = machine;
    this.#openedMs = world.scheduler.nowMs;
  }

  start(): void {
    this.machine.enter(() => void this.#open().catch((error: unknown) => this.#failed(error)));
    this.machine.enter(() => void this.#sample());
    this.machine.enter(() => void this.#write());
  }

  /** Ends in order. */
  close(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.closingMs = this.#world.scheduler.nowMs;
    this.machine.enter(() => void this.#close());
  }

  /** As an application does that has lost track of a partition, in several of its parts. */
  restore(partition: number, times: number): void {
    for (let nth = 0; nth < times; nth += 1)
      this.machine.enter(() => void this.group?.restore(partition), nth * 40);
  }

  get isOpen(): boolean {
    return this.group !== null && !this.#isEnding;
  }

  /** Whether its close takes too long; judged from outside, because it may hang. */
  checkClose(): void {
    if (this.closingMs === null || this.hasEnded || !this.machine.isAlive) return;
    const { nowMs } = this.#world.scheduler;
    if (nowMs - Math.max(this.closingMs, this.machine.disturbedMs) > closeMaxMs)
      this.#broken('close takes too long', `the close of ${this.machine.name} does not end`);
  }

  /** Partitions whose records were not handled up to these ends. */
  behind(ends: ReadonlyMap<string, number>): string[] {
    const reader = reads.filter(
      (partition) => this.position(partition) < (ends.get(`events/${partition}`) ?? 0),
    );
    return reader.map((partition) => `events/${partition}`);
  }

  position(partition: number): number {
    return this.#nextRead.get(partition) ?? 0;
  }

  async #open(): Promise<void> {
    const brokers = this.#world.cluster.nodes.map(({ host }) => `${host}:9092`);
    const { name } = this.machine;
    const client = openLogClient({
      brokers,
      clientId: name,
      log: silentLog,
      limits: this.#world.limits,
    });
    this.#client = client;
    const [, reader, group] = await Promise.all([
      client.producer().then((producer) => {
        this.#producer = producer;
      }),
      client.reader({
        topic: 'events',
        dense: true,
        maxWaitMs,
        positions: new Map(reads.map((partition) => [partition, 0])),
        onBatch: (batch) => this.#read(batch),
        onFault: (fault) => this.#readerFault(fault),
      }),
      client.group({
        groupId: 'g',
        topic: 'orders',
        dense: true,
        maxWaitMs,
        instance: name,
        sessionTimeoutMs: sessionMs,
        onAssigned: (partition) => this.#assigned(partition),
        onRevoked: (partition) => this.#revoked(partition),
        onBatch: (batch) => this.#handle(batch),
        onFault: (fault, partition) => this.#groupFault(fault, partition),
      }),
    ]);
    if (this.#isEnding) return;
    this.reader = reader;
    this.group = group;
  }

  async #close(): Promise<void> {
    const { scheduler, observer } = this.#world;
    await this.#client
      ?.close()
      .catch((error: unknown) => this.#broken('close fails', String(error)));
    this.hasEnded = true;
    observer.silentFromMs.set(this.machine, scheduler.nowMs + silentAfterMs);
  }

  #failed(error: unknown): void {
    if (this.#isEnding) return;
    const code = String(Reflect.get(Object(error), 'code') ?? error);
    const passes = ['log_away', 'group_unreachable', 'client_closed', 'reader_closed'];
    if (!passes.includes(code)) this.#broken('start fails', `${this.machine.name}: ${code}`);
    // Its supervisor takes a moment.
    this.machine.enter(() => this.#giveUp(), 500);
  }

  #giveUp(): void {
    this.hasFailed = true;
  }

  async #assigned(partition: number): Promise<number | 'committed'> {
    const own = this.#own(partition);
    if (own.isAssigning || own.isHandling || own.isRevoking)
      this.#broken(
        'started beside itself',
        `orders/${partition} is started at ${this.machine.name} ${stateOf(own)}`,
      );
    own.isAssigning = true;
    own.isOurs = true;
    await this.#work(200);
    own.isAssigning = false;
    own.idleSinceMs = this.#world.scheduler.nowMs;
    const isCommitted = this.#world.scheduler.random.chance(0.3);
    own.next = isCommitted ? null : (this.#world.done.get(partition) ?? 0);
    return own.next ?? 'committed';
  }

  async #revoked(partition: number): Promise<void> {
    const own = this.#own(partition);
    own.isOurs = false;
    own.isRevoking = true;
    await this.machine.sleep(5);
    own.isRevoking = false;
  }

  async #handle({ partition, records }: RecordBatch): Promise<void> {
    const own = this.#own(partition);
    const { name } = this.machine;
    const place = `orders/${partition} at ${name}`;
    if (own.isHandling) this.#broken('two lanes', `${place} has two batches at a time`);
    if (!own.isOurs)
      this.#broken('read after revocation', `${place} gets a batch that is not its own`);
    const [first] = records;
    own.next ??= first?.offset ?? 0;
    for (const { offset } of records) {
      if (offset !== own.next)
        this.#broken('out of order', `${place} gets offset ${offset} instead of ${own.next}`);
      own.next = offset + 1;
    }
    own.isHandling = true;
    const busyMs = this.#world.isCalm ? 0 : this.#world.habits.perRecordMs * records.length;
    await this.#work(20 + busyMs * 2);
    own.isHandling = false;
    const { random } = this.#world.scheduler;
    if (!this.#world.isCalm && random.chance(this.#world.habits.failing))
      throw new Error('it fails');
    if (own.isOurs)
      this.#world.done.set(partition, Math.max(own.next, this.#world.done.get(partition) ?? 0));
    if (random.chance(0.2)) this.group?.commit(partition, own.next, '').catch(() => {});
  }

  async #read({ partition, records }: RecordBatch): Promise<void> {
    for (const { offset } of records) {
      const expected = this.position(partition);
      if (offset !== expected)
        this.#broken(
          'out of order',
          `events/${partition} at ${this.machine.name} gets offset ${offset} instead of ${expected}`,
        );
      this.#nextRead.set(partition, offset + 1);
    }
    await this.machine.sleep(2);
  }

  #readerFault(fault: Fault): void {
    if (fault.code === 'reader_stalled') this.#stalled(fault);
    else this.#broken('reader stops', `${this.machine.name}: ${fault.message}`);
  }

  #groupFault(fault: Fault, partition: number | null): void {
    if (fault.code === 'reader_stalled') this.#stalled(fault);
    else if (partition === null) this.hasFailed = true;
    else {
      const isFalse = ['offset_out_of_range', 'offset_gap', 'partition_unknown'].includes(
        fault.code,
      );
      if (isFalse) this.#broken('partition stops', `${this.machine.name}: ${fault.message}`);
      this.machine.enter(() => void this.group?.restore(partition), 100);
    }
  }

  #stalled({ facts }: Fault): void {
    const { topic, partition } = facts;
    const { nowMs } = this.#world.scheduler;
    const keys =
      partition === undefined
        ? [`${topic}/0`, `${topic}/1`, `${topic}/2`]
        : [`${topic}/${partition}`];
    for (const key of keys) this.#stalledMs.set(key, nowMs);
  }

  /** Handlers take their time, sometimes seconds. */
  async #work(usualMs: number): Promise<void> {
    const { scheduler, habits, isCalm } = this.#world;
    const isSlow = !isCalm && scheduler.random.chance(habits.slow);
    await this.machine.sleep(scheduler.random.below(isSlow ? 2_500 : usualMs));
  }

  #own(partition: number): OwnPartition {
    const own = this.owned.get(partition) ?? {
      isAssigning: false,
      isHandling: false,
      isRevoking: false,
      isOurs: false,
      idleSinceMs: 0,
      next: null,
    };
    this.owned.set(partition, own);
    return own;
  }

  async #sample(): Promise<void> {
    while (!this.#isEnding) {
      this.#checkSession();
      this.#checkStalls();
      this.#checkReading();
      this.#checkHandling();
      this.#checkMembership();
      await this.machine.sleep(sampleMs);
    }
  }

  #checkSession(): void {
    const { observer, scheduler } = this.#world;
    const { group, machine } = this;
    const memberId = group?.memberId ?? null;
    if (group === null || memberId === null) return;
    if (observer.newest.get(machine)?.memberId !== memberId)
      observer.newest.set(machine, { memberId, sinceMs: scheduler.nowMs });
    const isAlive = group.owned().some((partition) => group.isPreferred(partition));
    const silentMs = scheduler.nowMs - observer.lastHeardMs(machine, memberId);
    if (isAlive && silentMs > sessionMs + 10)
      this.#broken(
        'alive without a session',
        `${machine.name} was heard ${Math.round(silentMs)} ms ago and counts as alive`,
      );
  }

  /** Each partition of the reader without an answer for two stall times was reported. */
  #checkStalls(): void {
    const { observer, scheduler } = this.#world;
    if (this.reader === null) return;
    for (const partition of reads) {
      const key = `events/${partition}`;
      const fetchedMs = observer.lastFetch(this.machine, key)?.ms ?? this.#openedMs;
      const sinceMs = Math.max(fetchedMs, this.machine.disturbedMs, this.#stalledMs.get(key) ?? 0);
      if (scheduler.nowMs - sinceMs > 2.5 * stallMs && (this.#stalledMs.get(key) ?? 0) < fetchedMs)
        this.#broken(
          'stall not reported',
          `${key} at ${this.machine.name} was not fetched for ${Math.round(scheduler.nowMs - fetchedMs)} ms`,
        );
    }
  }

  /** While nothing is in the way records are read within a bound, not only at the end. */
  #checkReading(): void {
    const { observer, scheduler, cluster } = this.#world;
    if (this.reader === null) return;
    for (const number of reads) {
      const partition = cluster.partition(`events/${number}`);
      const soundMs = cluster.soundSinceMs(partition);
      const appendedMs = partition.appendedMs[this.position(number)];
      if (soundMs === null || appendedMs === undefined) continue;
      const causes = [
        soundMs,
        appendedMs,
        observer.wireTroubledMs,
        this.machine.disturbedMs,
        this.#openedMs,
      ];
      if (scheduler.nowMs - Math.max(...causes) > readWithinMs)
        this.#broken('not read in time', this.describe(partition.key));
    }
  }

  /**
   * Checks that the partitions of the group whose handler waits are read within a bound while nothing is in the way.
   */
  #checkHandling(): void {
    for (const [number, own] of this.owned) {
      const partition = this.#world.cluster.partition(`orders/${number}`);
      const isIdle = own.isOurs && !own.isAssigning && !own.isHandling && own.next !== null;
      if (!isIdle || this.group?.isPreferred(number) !== true)
        own.idleSinceMs = this.#world.scheduler.nowMs;
      else this.#checkIdle(partition, own);
    }
  }

  #checkIdle(partition: ClusterPartition, { next, idleSinceMs }: OwnPartition): void {
    const { observer, scheduler, cluster } = this.#world;
    const soundMs = cluster.soundSinceMs(partition);
    const appendedMs = partition.appendedMs[next ?? 0];
    if (soundMs === null || appendedMs === undefined) return;
    const { disturbedMs } = this.machine;
    const causes = [soundMs, appendedMs, idleSinceMs, observer.wireTroubledMs, disturbedMs];
    if (scheduler.nowMs - Math.max(...causes) > readWithinMs)
      this.#broken('not handled', this.describe(partition.key));
  }

  /** While nothing is in the way a process is a member that its coordinator hears. */
  #checkMembership(): void {
    const { observer, scheduler, cluster } = this.#world;
    const { group, machine } = this;
    if (group === null) return;
    const causes = [
      observer.wireTroubledMs,
      observer.heartbeatTroubledMs,
      cluster.coordinatorTroubledMs,
      machine.disturbedMs,
      this.#openedMs,
      observer.counted(machine),
    ];
    const isSound = cluster.node(cluster.coordinator).isSound;
    if (isSound && scheduler.nowMs - Math.max(...causes) > memberWithinMs)
      this.#broken(
        'out of the group',
        `${machine.name} is ${group.memberId === null ? 'no' : 'a'} member and not heard`,
      );
  }

  /** Where a partition was read last. */
  describe(key: string): string {
    const { observer, scheduler, cluster } = this.#world;
    const fetch = observer.lastFetch(this.machine, key);
    const agoMs = scheduler.nowMs - (fetch?.ms ?? 0);
    const isLeader = fetch?.node === cluster.partition(key).leader;
    const place = isLeader ? 'at its leader' : 'at a former leader';
    const when = agoMs < 1_000 ? 'a moment ago' : 'long ago';
    return `${key} at ${this.machine.name}: fetched ${fetch === null ? 'nowhere' : `${place}, ${when}`}`;
  }

  /** Sends records to topics that it meets one after the other. */
  async #write(): Promise<void> {
    const { random } = this.#world.scheduler;
    while (!this.#isEnding) {
      const keys = ['results/0', 'results/1', ...(this.#sent > 5 ? ['extra/0'] : [])];
      if (this.#producer !== null) void this.#send(this.#producer, random.pick(keys));
      await this.machine.sleep(50 + random.below(300));
    }
  }

  async #send(producer: LogProducer, key: string): Promise<void> {
    this.#sent += 1;
    const { nowMs } = this.#world.scheduler;
    const value = `${this.machine.name} ${this.#sent}`;
    const [topic = '', partition] = key.split('/');
    const record = { topic, partition: Number(partition), key: null, value: Buffer.from(value) };
    try {
      const [place] = await producer.send([record]);
      this.acknowledged.push({ key, offset: place?.offset ?? -1, value });
    } catch (error) {
      if (Reflect.get(Object(error), 'code') === 'not_sent') this.refused.push({ key, value });
      this.#checkSend(key, nowMs);
    }
  }

  /** While nothing is in the way what is sent is acknowledged. */
  #checkSend(key: string, sentMs: number): void {
    const { observer, cluster, scheduler } = this.#world;
    const soundMs = cluster.soundSinceMs(cluster.partition(key));
    const { wireTroubledMs, writeTroubledMs } = observer;
    if (soundMs === null || this.#isEnding) return;
    const { disturbedMs } = this.machine;
    const causes = [sentMs, soundMs, wireTroubledMs, writeTroubledMs, disturbedMs, this.#openedMs];
    if (scheduler.nowMs - Math.max(...causes) > readWithinMs)
      this.#broken('send fails without a cause', `${key} of ${this.machine.name}`);
  }

  #broken(kind: string, text: string): void {
    this.#world.observer.broken(kind, text);
  }
}

function stateOf({ isAssigning, isHandling }: OwnPartition): string {
  if (isAssigning) return 'while it is being started';
  return isHandling ? 'while a batch is handled' : 'while it is being revoked';
}

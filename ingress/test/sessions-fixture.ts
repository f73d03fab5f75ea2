import { randomBytes } from 'node:crypto';
import { SessionTable } from '@pm/domain/sessions/session-table';
import { silentLog } from '@pm/kit/log';
import type { ApiKeyId, WalletAddress } from '@pm/schemas/ids';
import type { SessionRecord } from '@pm/schemas/log/sessions';
import { Heartbeats } from '../src/sessions/heartbeats.io.ts';
import { MissedHeartbeats } from '../src/sessions/missed-heartbeats.io.ts';
import { type SessionCancelOptions, SessionCancels } from '../src/sessions/session-cancels.io.ts';
import { SessionLog } from '../src/sessions/session-log.io.ts';
import { SessionSilence } from '../src/sessions/session-silence.ts';
import { sessionLimits } from '../src/sessions/sessions.io.ts';
import { RoomFake } from './room-fixture.ts';

export interface Written {
  readonly partition: number;
  readonly key: string;
  readonly value: SessionRecord | null;
  /** True time at which it got its place on the topic. */
  readonly atMs: number;
}

/** The topic `sessions` in memory: one order per partition for all who follow, delays as asked for. */
export class SessionsTopic {
  readonly records: Written[] = [];
  readonly #followers = new Set<(record: Written) => void>();
  /** Appends wait for it; a promise that is not resolved is an outage. */
  open: Promise<void> = Promise.resolve();
  /** Rejected appends, instead of an outage. */
  fault: Error | null = null;
  /** Milliseconds from the call to the place on the topic. */
  appendMs = (): number => 0;
  /** Records older than this are gone for who starts, if their key has a newer one. */
  compactAfterMs = Number.POSITIVE_INFINITY;

  readonly partitions: number;

  constructor(partitions = 3) {
    this.partitions = partitions;
  }

  /** Records about sessions, without pulses. */
  get said(): readonly SessionRecord[] {
    return this.records.flatMap(({ value }) =>
      value === null || value.sequence === 0 ? [] : [value],
    );
  }

  async append(partition: number, key: string, value: SessionRecord | null): Promise<void> {
    if (this.fault !== null) throw this.fault;
    await new Promise((resolve) => setTimeout(resolve, this.appendMs()));
    await this.open;
    const record = { partition, key, value, atMs: Date.now() };
    this.records.push(record);
    for (const follower of this.#followers) follower(record);
  }

  /** Tells all there is and all that comes; the call ends it. */
  follow(take: (record: Written) => void): () => void {
    for (const record of this.#compacted()) take(record);
    this.#followers.add(take);
    return () => this.#followers.delete(take);
  }

  #compacted(): readonly Written[] {
    const newest = new Map(this.records.map((record) => [record.key, record]));
    const untilMs = Date.now() - this.compactAfterMs;
    return this.records.filter(
      (record) => record.atMs > untilMs || newest.get(record.key) === record,
    );
  }
}

export interface ProcessOptions {
  readonly run?: SessionCancelOptions['run'];
  readonly partitions?: SessionCancelOptions['partitions'];
  /** Milliseconds by which the clocks of this process are ahead of true time. */
  readonly monotonicAheadMs?: number;
  readonly wallAheadMs?: number;
  /** Milliseconds from a record's place on the topic until this process has read it. */
  readonly readMs?: () => number;
  readonly waitMs?: number;
  readonly room?: RoomFake;
}

/** One ingress process as far as sessions go. */
export class SessionProcess {
  readonly log: SessionLog;
  readonly table: SessionTable;
  readonly desk: Heartbeats;
  readonly watch: MissedHeartbeats;
  readonly told = { beats: [] as string[], missed: 0, revived: 0, endedAfterMs: [] as number[] };
  #isDead = false;
  #resume: (() => void) | null = null;
  /** Resolves while the process runs; what it does waits for it, as if it were stopped in between. */
  running: Promise<void> = Promise.resolve();
  readonly #unfollow: () => void;
  readonly #timer: NodeJS.Timeout;
  /** Its reading is in order, one partition like the other. */
  #reading: Promise<void> = Promise.resolve();

  constructor(topic: SessionsTopic, options: ProcessOptions = {}) {
    const monotonicMs = () => Date.now() + (options.monotonicAheadMs ?? 0);
    const nowMs = () => Date.now() + (options.wallAheadMs ?? 0);
    const self = randomBytes(16);
    this.table = new SessionTable();
    const write = async (partition: number, key: string, value: SessionRecord | null) => {
      await this.running;
      if (this.#isDead) return await new Promise<void>(() => {});
      await topic.append(partition, key, value);
    };
    this.log = new SessionLog({
      table: this.table,
      silence: new SessionSilence(topic.partitions, sessionLimits),
      partitions: topic.partitions,
      self,
      monotonicMs,
      randomId: () => randomBytes(16),
      append: write,
      pulse: async () => {
        const partitions = [...Array(topic.partitions).keys()];
        await Promise.all(partitions.map((one) => write(one, self.toString('hex'), null)));
      },
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
    this.desk = new Heartbeats({
      log: this.log,
      clock: { nowMs, monotonicMs },
      entryQuota: options.room ?? new RoomFake(),
      onBeat: (outcome) => this.told.beats.push(outcome),
    });
    const run = options.run ?? (async () => nothingLeft);
    const partitions = options.partitions ?? alwaysReady;
    const guarded: SessionCancelOptions['run'] = async (partition, command) => {
      await this.running;
      return this.#isDead ? await new Promise(() => {}) : await run(partition, command);
    };
    this.watch = new MissedHeartbeats({
      log: this.log,
      cancels: new SessionCancels({ run: guarded, partitions, nowMs }),
      limits: sessionLimits,
      monotonicMs,
      logger: silentLog,
      onMissed: () => {
        this.told.missed += 1;
      },
      onRevived: () => {
        this.told.revived += 1;
      },
      onEnded: (afterMs) => this.told.endedAfterMs.push(afterMs),
    });
    let isHistory = true;
    this.#unfollow = topic.follow((record) => {
      if (isHistory) this.log.take(record);
      else this.#read(record, options.readMs?.() ?? 0);
    });
    isHistory = false;
    this.log.start();
    this.#timer = setInterval(() => this.#check(), sessionLimits.checkEveryMs);
    this.#timer.unref();
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get isStopped(): boolean {
    return this.#resume !== null;
  }

  /** kill -9. */
  kill(): void {
    this.#isDead = true;
    this.#unfollow();
    clearInterval(this.#timer);
  }

  /** SIGSTOP. */
  stop(): void {
    if (this.#resume !== null) return;
    this.running = new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  /** SIGCONT. */
  resume(): void {
    this.#resume?.();
    this.#resume = null;
  }

  #check(): void {
    if (!this.isStopped && !this.#isDead) this.watch.check();
  }

  #read(record: Written, delayMs: number): void {
    const ready = new Promise((resolve) => setTimeout(resolve, delayMs));
    this.#reading = this.#reading.then(async () => {
      await ready;
      await this.running;
      if (!this.#isDead) this.log.take(record);
    });
  }
}

export const nothingLeft = {
  kind: 'executed',
  place: { partition: 0, inOffset: 0 },
  events: [],
} as const;

const alwaysReady = { numbers: [0, 1], isReady: () => true, at: () => ({ clockMs: Date.now() }) };

export function holderOf(number: number): { apiKey: ApiKeyId; address: WalletAddress } {
  const digits = number.toString(16).padStart(8, '0');
  return {
    apiKey: `${digits}-0000-4000-8000-${digits.padStart(12, '0')}` as ApiKeyId,
    address: `0x${digits.repeat(5)}` as WalletAddress,
  };
}

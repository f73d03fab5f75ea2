import { isCertainlyUnsent } from '@pm/domain/commands/envelope-sender.io';
import type { Session, SessionTable } from '@pm/domain/sessions/session-table';
import { assert } from '@pm/kit/assert';
import {
  type ApiKeyId,
  apiKeyBytes,
  apiKeyFromBytes,
  type HeartbeatId,
  heartbeatIdBytes,
} from '@pm/schemas/ids';
import {
  type SessionPhase,
  type SessionRecord,
  sessionPartitionOf,
} from '@pm/schemas/log/sessions';
import type { SessionSilence } from './session-silence.ts';

/** The next record of a session. */
export interface SessionChange {
  readonly apiKey: ApiKeyId;
  readonly wallet: Buffer;
  /** The state it follows; undefined when the key never had a session. */
  readonly follows: Session | undefined;
  readonly phase: SessionPhase;
  readonly heartbeatId: HeartbeatId;
  readonly beatAtMs: number;
}

/**
 * `counted` and `void`: durable and read back. `full`: this process has no room for it. `unsent`: not written.
 * `unseen`: not read back in time, it may still come.
 */
export type WriteResult = 'counted' | 'void' | 'full' | 'unsent' | 'unseen';

/** A record of `sessions` as read; without `value` it is a pulse. */
export interface ReadRecord {
  readonly partition: number;
  /** Key of a pulse: hex of the process. */
  readonly key: string;
  readonly value: SessionRecord | null;
}

export interface SessionLogOptions {
  readonly table: SessionTable;
  readonly silence: SessionSilence;
  readonly partitions: number;
  /** 16 bytes that name this process. */
  readonly self: Buffer;
  /** Milliseconds that never run backwards. */
  monotonicMs(): number;
  /** 16 random bytes. */
  randomId(): Buffer;
  /** Resolves when the record is durable under its key. Rejects with a `Fault`. */
  append(partition: number, key: string, record: SessionRecord): Promise<void>;
  /** Resolves when pulses of this process are durable in every partition. */
  pulse(): Promise<void>;
  /** How long a written record is waited for to be read back. */
  readonly waitMs?: number;
}

/** A record that counts. */
export interface SessionNews {
  readonly session: Session;
  readonly before: Session | undefined;
  /** When the last heartbeat of a session that is no longer live was read, on the monotonic clock. */
  readonly lastBeatReadAtMs: number | undefined;
  /** A miss that must not have consequences: it was decided before or in an outage. */
  readonly isDoubtful: boolean;
}

interface Writing {
  end(outcome: WriteResult): void;
}

interface CatchUp {
  readonly running: Promise<boolean> | null;
  readonly next: Promise<boolean> | null;
}

/** A record comes back within milliseconds. */
const readBackWaitMs = 2_000;
/** Records that wait to be read back; beyond it nothing is written. */
const writingsMax = 10_000;
/** Sessions of keys that ever beat, live or not; about 700 bytes each. */
const sessionsMax = 1_000_000;
/** Processes whose pulses are remembered; more only after many restarts. */
const processesMax = 1_000;

/**
 * The topic `sessions` as this process reads and writes it. Every process reads all of it, so that any of them can take
 * any heartbeat and notice any silence; what counts is decided by the order of the log (`SessionTable`).
 */
export class SessionLog {
  readonly #options: SessionLogOptions;
  readonly #writings = new Map<string, Writing>();
  /** Per partition: the mark on its way, and the one that is to follow it. */
  readonly #catchUps = new Map<number, CatchUp>();
  readonly #watchers = new Map<ApiKeyId, Set<() => void>>();
  /** When the last record of each process was read. */
  readonly #processes = new Map<string, number>();
  #listener: (news: SessionNews) => void = () => {};

  constructor(options: SessionLogOptions) {
    this.#options = options;
  }

  get table(): SessionTable {
    return this.#options.table;
  }

  get silence(): SessionSilence {
    return this.#options.silence;
  }

  /** Hex of this process. */
  get self(): string {
    return this.#options.self.toString('hex');
  }

  partitionOf(apiKey: ApiKeyId): number {
    return sessionPartitionOf(apiKeyBytes(apiKey), this.#options.partitions);
  }

  /**
   * History has been read: every session has a whole period from here on, and every other process time to write a
   * pulse.
   */
  start(): void {
    this.silence.start(this.#options.monotonicMs());
  }

  /** Called with each record that counts from now on, after it was taken in. */
  listen(listener: (news: SessionNews) => void): void {
    this.#listener = listener;
  }

  /** How long no record of a process came while the partition of the key took records, milliseconds. */
  silenceOf(process: string, apiKey: ApiKeyId): number {
    const nowMs = this.#options.monotonicMs();
    const openSinceMs = this.silence.openSince(this.partitionOf(apiKey), nowMs);
    if (openSinceMs === null) return 0;
    return nowMs - Math.max(this.#processes.get(process) ?? openSinceMs, openSinceMs);
  }

  pulse(): Promise<void> {
    return this.#options.pulse();
  }

  /** Takes the next record of a partition in. */
  take({ partition, key, value }: ReadRecord): void {
    const nowMs = this.#options.monotonicMs();
    this.silence.observe(partition, nowMs);
    this.#observeProcess(value === null ? key : value.writer.toString('hex'), nowMs);
    if (value !== null) this.#takeSession(partition, value, nowMs);
  }

  /** Resolves at the next record of the key that counts; false when none came in time. */
  changed(apiKey: ApiKeyId, waitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const watchers = this.#watchers.get(apiKey) ?? new Set();
      this.#watchers.set(apiKey, watchers);
      const end = (isChanged: boolean) => {
        clearTimeout(timer);
        watchers.delete(wake);
        if (watchers.size === 0) this.#watchers.delete(apiKey);
        resolve(isChanged);
      };
      const wake = () => end(true);
      const timer = setTimeout(() => end(false), waitMs);
      watchers.add(wake);
    });
  }

  /** Writes the next record of a session; the result says whether it counts. */
  write(change: SessionChange): Promise<WriteResult> {
    const { randomId, self, table } = this.#options;
    if (change.follows === undefined && table.size >= sessionsMax) return Promise.resolve('full');
    return this.#append(this.partitionOf(change.apiKey), change.apiKey, {
      apiKey: apiKeyBytes(change.apiKey),
      wallet: change.wallet,
      sequence: (change.follows?.sequence ?? 0) + 1,
      phase: change.phase,
      heartbeatId: heartbeatIdBytes(change.heartbeatId),
      recordId: randomId(),
      writer: self,
      beatAtMs: change.beatAtMs,
    });
  }

  /** Resolves with true when everything that was on the partition of the key at the call has been read. */
  catchUp(apiKey: ApiKeyId): Promise<boolean> {
    const partition = this.partitionOf(apiKey);
    const { running, next } = this.#catchUps.get(partition) ?? { running: null, next: null };
    if (next !== null) return next;
    // The running mark may have got its place before the call; all calls meanwhile share the one after it.
    const asked =
      running === null ? this.#mark(partition) : running.then(() => this.#mark(partition));
    this.#catchUps.set(partition, {
      running: running ?? asked,
      next: running === null ? null : asked,
    });
    return asked;
  }

  /** Resolves with true when a record that never counts, under the key of this process's pulses, has come back. */
  #mark(partition: number): Promise<boolean> {
    const { randomId, self } = this.#options;
    const noKey = { apiKey: Buffer.alloc(16), wallet: Buffer.alloc(20) };
    const nothing = { phase: 'ENDED', heartbeatId: Buffer.alloc(16), beatAtMs: 0 } as const;
    const mark = { ...noKey, ...nothing, sequence: 0, recordId: randomId(), writer: self };
    const written = this.#append(partition, this.self, mark);
    const running = written.then((outcome) => outcome === 'void');
    this.#catchUps.set(partition, { running, next: null });
    void running.then(() => {
      if (this.#catchUps.get(partition)?.next === null) this.#catchUps.delete(partition);
    });
    return running;
  }

  #append(partition: number, key: string, record: SessionRecord): Promise<WriteResult> {
    if (this.#writings.size >= writingsMax) return Promise.resolve('full');
    const name = record.recordId.toString('hex');
    return new Promise((resolve) => {
      const end = (outcome: WriteResult) => {
        clearTimeout(timer);
        this.#writings.delete(name);
        resolve(outcome);
      };
      const timer = setTimeout(() => end('unseen'), this.#options.waitMs ?? readBackWaitMs);
      assert(!this.#writings.has(name), 'a record id is made once');
      this.#writings.set(name, { end });
      this.#options.append(partition, key, record).catch((error: unknown) => {
        // The topic decides an unknown outcome: the record comes back, or the time is over.
        if (isCertainlyUnsent(error)) end('unsent');
      });
    });
  }

  #takeSession(partition: number, record: SessionRecord, nowMs: number): void {
    const { table, silence } = this.#options;
    const before = table.find(apiKeyFromBytes(record.apiKey));
    const session = table.apply(record);
    if (session !== null) {
      const isMiss = session.phase === 'MISSED' && before?.phase === 'LIVE';
      const isDoubtful = isMiss && silence.isDoubtful(partition, nowMs);
      const lastBeatReadAtMs = silence.end(partition, session.apiKey);
      if (session.phase === 'LIVE') silence.beat(partition, session.apiKey, nowMs);
      this.#listener({ session, before, lastBeatReadAtMs, isDoubtful });
      for (const wake of [...(this.#watchers.get(session.apiKey) ?? [])]) wake();
    }
    const writing = this.#writings.get(record.recordId.toString('hex'));
    writing?.end(session === null ? 'void' : 'counted');
  }

  #observeProcess(process: string, nowMs: number): void {
    this.#processes.delete(process);
    this.#processes.set(process, nowMs);
    if (this.#processes.size <= processesMax) return;
    const [oldest] = this.#processes.keys();
    if (oldest !== undefined) this.#processes.delete(oldest);
  }
}

import { assert } from '@pm/kit/assert';
import {
  type ApiKeyId,
  apiKeyBytes,
  apiKeyFromBytes,
  type HeartbeatId,
  heartbeatIdBytes,
  type SessionPhase,
  type SessionRecord,
  sessionPartitionOf,
} from '@pm/schemas';
import type { SessionSilence } from '../core/session-silence.ts';
import type { Session, SessionTable } from '../core/session-table.ts';
import { isCertainlyUnsent } from './order-sink.ts';

/** What is to be said of a session next. */
export interface SessionChange {
  readonly apiKey: ApiKeyId;
  readonly wallet: Buffer;
  /** The state it follows; undefined when the key never had a session. */
  readonly follows: Session | undefined;
  readonly phase: SessionPhase;
  readonly heartbeatId: HeartbeatId;
  readonly beatAtMs: number;
}

/** `counted` and `void`: durable and read back. `unheard`: not read back in time, it may still come. */
export type WriteOutcome = 'counted' | 'void' | 'unsent' | 'unheard';

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
  /** Resolves when the record is durable. Rejects with a `Fault`. */
  append(partition: number, record: SessionRecord): Promise<void>;
  /** Resolves when pulses of this process are durable in every partition. */
  pulse(): Promise<void>;
  /** How long a written record is waited for to be read back. */
  readonly waitMs?: number;
}

/** A record that counts. */
export interface SessionNews {
  readonly session: Session;
  readonly before: Session | undefined;
  /** When the last heartbeat of a session that is live no more was heard, on the monotonic clock. */
  readonly lastHeardAtMs: number | undefined;
  /** A miss that must not have consequences: it was decided before or in an outage. */
  readonly isDoubtful: boolean;
}

interface Writing {
  end(outcome: WriteOutcome): void;
}

/** A record comes back within milliseconds. */
const readBackWaitMs = 2_000;
/** Records that wait to be read back; beyond it nothing is written. */
const writingsMax = 10_000;
/** Sessions of keys that ever beat, live or not; about 500 bytes each. */
const sessionsMax = 1_000_000;
/** Processes whose pulses are remembered; more only after many restarts. */
const processesMax = 1_000;

/**
 * The topic `sessions` as this process reads and writes it. Every process reads all of it, so that any of them can answer
 * any heartbeat and notice any silence; what counts is decided by the order of the log (`SessionTable`).
 */
export class SessionLog {
  readonly #options: SessionLogOptions;
  readonly #writings = new Map<string, Writing>();
  readonly #watchers = new Map<ApiKeyId, Set<() => void>>();
  /** When each process was last heard. */
  readonly #processes = new Map<string, number>();
  #listener: (news: SessionNews) => void = () => {};
  #startedAtMs = Number.NEGATIVE_INFINITY;

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

  /** History has been read: everybody has a whole period from here on, and every other process time to be heard. */
  start(): void {
    this.#startedAtMs = this.#options.monotonicMs();
    this.silence.start(this.#startedAtMs);
  }

  /** Told of each record that counts from now on, after it was taken in. */
  listen(listener: (news: SessionNews) => void): void {
    this.#listener = listener;
  }

  /** How long nothing was heard of a process, milliseconds. */
  silenceOf(process: string): number {
    const heardAtMs = this.#processes.get(process) ?? this.#startedAtMs;
    return this.#options.monotonicMs() - Math.max(heardAtMs, this.#startedAtMs);
  }

  pulse(): Promise<void> {
    return this.#options.pulse();
  }

  /** Takes the next record of a partition in. */
  take({ partition, key, value }: ReadRecord): void {
    const nowMs = this.#options.monotonicMs();
    this.silence.heard(partition, nowMs);
    this.#hearProcess(value === null ? key : value.writer.toString('hex'), nowMs);
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

  /** Says something of a session and tells whether it counts. */
  write(change: SessionChange): Promise<WriteOutcome> {
    const { append, randomId, waitMs, self, table } = this.#options;
    const isNew = change.follows === undefined;
    if (this.#writings.size >= writingsMax) return Promise.resolve('unsent');
    if (isNew && table.size >= sessionsMax) return Promise.resolve('unsent');
    const recordId = randomId();
    const apiKey = apiKeyBytes(change.apiKey);
    const record: SessionRecord = {
      apiKey,
      wallet: change.wallet,
      sequence: (change.follows?.sequence ?? 0) + 1,
      phase: change.phase,
      heartbeatId: heartbeatIdBytes(change.heartbeatId),
      recordId,
      writer: self,
      beatAtMs: change.beatAtMs,
    };
    const name = recordId.toString('hex');
    return new Promise((resolve) => {
      const end = (outcome: WriteOutcome) => {
        clearTimeout(timer);
        this.#writings.delete(name);
        resolve(outcome);
      };
      const timer = setTimeout(() => end('unheard'), waitMs ?? readBackWaitMs);
      assert(!this.#writings.has(name), 'a record id is made once');
      this.#writings.set(name, { end });
      append(this.partitionOf(change.apiKey), record).catch((error: unknown) => {
        // Of an unknown outcome the topic tells: the record comes back, or the time is over.
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
      const lastHeardAtMs = silence.end(partition, session.apiKey);
      if (session.phase === 'LIVE') silence.beat(partition, session.apiKey, nowMs);
      this.#listener({ session, before, lastHeardAtMs, isDoubtful });
      for (const wake of [...(this.#watchers.get(session.apiKey) ?? [])]) wake();
    }
    const writing = this.#writings.get(record.recordId.toString('hex'));
    writing?.end(session === null ? 'void' : 'counted');
  }

  #hearProcess(process: string, nowMs: number): void {
    this.#processes.delete(process);
    this.#processes.set(process, nowMs);
    if (this.#processes.size <= processesMax) return;
    const [oldest] = this.#processes.keys();
    if (oldest !== undefined) this.#processes.delete(oldest);
  }
}

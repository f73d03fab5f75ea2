import { createHash } from 'node:crypto';
import { assert } from '@pm/kit/assert';
import { Fault } from '@pm/kit/fault';
import type { RecordCodec } from '@pm/kit/registry';
import { firstChain, sealExecution } from '@pm/kit/signoff';
import {
  checkpointEveryRecords,
  type Envelope,
  type Execution,
  type ExecutionEvent,
  type KeyRole,
} from '@pm/schemas';
import type {
  EnvelopeSource,
  Judgement,
  KeyBook,
  RejectReason,
  Sender,
} from './envelope-source.ts';

/** The rules of a partition, a pure function of what came before (matcher/src/core has them). */
export interface MatchingEngine extends KeyBook {
  /** Clock of the partition, Unix milliseconds. */
  readonly timeMs: number;
  /** When the next order expires, Unix milliseconds; infinite when none does. */
  readonly nextExpiryMs: number;
  readonly openOrderCount: number;
  readonly marketCount: number;
  /** The operator that opened the partition, `null` before. */
  operatorKey(): Buffer | null;
  apply(envelope: Envelope, inOffset: number): Applied;
  reject(reason: RejectReason): Applied;
  encodeState(): Buffer;
}

export interface Applied {
  readonly timeMs: number;
  readonly events: readonly ExecutionEvent[];
}

/** How `main.ts` hands the rules to the loops. */
export interface EngineFactory {
  create(partition: number): MatchingEngine;
  /** Throws for bytes that are not a state of this version. */
  restore(state: Buffer): MatchingEngine;
  roleAllows(role: KeyRole, envelope: Envelope): boolean;
}

/** A record of `orders` as it is read. */
export interface InputRecord {
  readonly offset: number;
  readonly value: Buffer | null;
}

/** What one input record came to. */
export interface OutputRecord {
  readonly inOffset: number;
  /** The record of `executions`. */
  readonly value: Buffer;
  readonly events: readonly ExecutionEvent[];
  /** Why the input changed nothing, or `null`. */
  readonly rejected: RejectReason | null;
  readonly commands: number;
  /** True when the input only moved the clock. */
  readonly ticksOnly: boolean;
}

/** Where a partition stands: everything before `nextOffset` is in the state. */
export interface Position {
  readonly engine: MatchingEngine;
  readonly chain: Buffer;
  readonly nextOffset: number;
}

export interface RecordRunnerParts {
  readonly partition: number;
  readonly source: EnvelopeSource;
  readonly executions: Pick<RecordCodec<Execution>, 'encode'>;
}

/** The position before the first record. */
export function firstPosition(engine: MatchingEngine): Position {
  return { engine, chain: firstChain, nextOffset: 0 };
}

/**
 * One step of a partition, the same live and in replay: one input record in, exactly one output record out, numbered by the
 * input's offset and chained to the output before (docs/architecture.md).
 */
export class RecordRunner implements Position {
  readonly engine: MatchingEngine;
  readonly #parts: RecordRunnerParts;
  #chain: Buffer;
  #nextOffset: number;

  constructor(parts: RecordRunnerParts, start: Position) {
    this.#parts = parts;
    this.engine = start.engine;
    this.#chain = start.chain;
    this.#nextOffset = start.nextOffset;
  }

  get chain(): Buffer {
    return this.#chain;
  }

  get nextOffset(): number {
    return this.#nextOffset;
  }

  /**
   * The output of the next record. `null` when the record's schema has to be fetched first (`prepare`), nothing has
   * happened then. Throws `input_gap`, `newer_record` and `engine_broken` (release).
   */
  run(record: InputRecord): OutputRecord | null {
    this.#assertNext(record);
    const judged = this.#parts.source.judge(this.engine, record.value);
    if (judged.kind === 'schema_unknown') return null;
    return this.#seal(judged, this.#apply(judged, record.offset));
  }

  /** Throws `registry_unavailable` (retry). */
  async prepare(record: InputRecord): Promise<void> {
    assert(record.value !== null, 'a record of an unknown schema has a value');
    await this.#parts.source.prepare(record.value);
  }

  /** `run`, with the schema fetched when need be. */
  async runPrepared(record: InputRecord): Promise<OutputRecord> {
    const output = this.run(record);
    if (output !== null) return output;
    await this.prepare(record);
    const prepared = this.run(record);
    assert(prepared !== null, 'a prepared schema is known');
    return prepared;
  }

  #apply(judged: Decided, inOffset: number): Applied {
    const applied = this.#decide(judged, inOffset);
    if (inOffset % checkpointEveryRecords !== 0) return applied;
    const stateHash = createHash('sha256').update(this.engine.encodeState()).digest();
    const events = [...applied.events, { kind: 'Checkpoint', stateHash } as const];
    return { timeMs: applied.timeMs, events };
  }

  /** Rules that break off leave a state that must be thrown away: of this partition, not of the others. */
  #decide(judged: Decided, inOffset: number): Applied {
    if (judged.kind === 'rejected') return this.engine.reject(judged.reason);
    try {
      return this.engine.apply(judged.envelope, inOffset);
    } catch (cause) {
      const { partition } = this.#parts;
      throw new Fault('engine_broken', 'release', { facts: { partition, inOffset }, cause });
    }
  }

  #seal(judged: Decided, { timeMs, events }: Applied): OutputRecord {
    const inOffset = this.#nextOffset;
    const { keyId, sequence }: Sender = judged.sender;
    const body = { inOffset, timeMs, keyId, sequence, events };
    const { value, chain } = sealExecution(this.#parts.executions, this.#chain, body);
    this.#chain = chain;
    this.#nextOffset = inOffset + 1;
    if (judged.kind === 'rejected') {
      const { reason } = judged;
      return { inOffset, value, events, rejected: reason, commands: 0, ticksOnly: false };
    }
    const { commands } = judged.envelope;
    const ticksOnly = commands.every((command) => command.kind === 'Tick');
    return { inOffset, value, events, rejected: null, commands: commands.length, ticksOnly };
  }

  #assertNext({ offset }: InputRecord): void {
    if (offset === this.#nextOffset) return;
    const { partition } = this.#parts;
    throw new Fault('input_gap', 'release', {
      facts: { partition, expected: this.#nextOffset, found: offset },
    });
  }
}

type Decided = Exclude<Judgement, { kind: 'schema_unknown' }>;

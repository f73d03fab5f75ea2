import { createHash } from 'node:crypto';
import { firstChain, sealWritten } from '@pm/domain/signoff/records';
import { assert } from '@pm/kit/assert';
import { Fault } from '@pm/kit/fault';
import type { RecordCodec } from '@pm/kit/registry';
import {
  checkpointEveryRecords,
  type Envelope,
  type EventOf,
  type Execution,
  type KeyRole,
  type RefusalCode,
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
  /** Valid until the next record. */
  readonly written: WrittenEvents;
}

/** The events of a record as the bytes they have in its execution. */
export interface WrittenEvents {
  readonly length: number;
  readonly fills: number;
  /** Codes of those that refuse something. */
  readonly refusals: readonly RefusalCode[];
  push(event: EventOf<'Checkpoint'>): void;
  bytes(): Buffer;
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
  readonly events: number;
  readonly fills: number;
  /** Codes of the events that refuse something. */
  readonly refusals: readonly RefusalCode[];
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
 * input's offset and chained to the output before (architecture.md).
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
    applied.written.push({ kind: 'Checkpoint', stateHash });
    return applied;
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

  #seal(judged: Decided, { timeMs, written }: Applied): OutputRecord {
    const inOffset = this.#nextOffset;
    const { keyId, sequence }: Sender = judged.sender;
    const head = { inOffset, timeMs, keyId, sequence };
    const { value, chain } = sealWritten(this.#parts.executions, this.#chain, { head, written });
    this.#chain = chain;
    this.#nextOffset = inOffset + 1;
    const { length: events, fills } = written;
    const refusals = written.refusals.length === 0 ? noRefusals : [...written.refusals];
    const output = { inOffset, value, events, fills, refusals };
    if (judged.kind === 'rejected') {
      return { ...output, rejected: judged.reason, commands: 0, ticksOnly: false };
    }
    const { commands } = judged.envelope;
    const ticksOnly = commands.every((command) => command.kind === 'Tick');
    return { ...output, rejected: null, commands: commands.length, ticksOnly };
  }

  #assertNext({ offset }: InputRecord): void {
    if (offset === this.#nextOffset) return;
    const { partition } = this.#parts;
    throw new Fault('input_gap', 'release', {
      facts: { partition, expected: this.#nextOffset, found: offset },
    });
  }
}

const noRefusals: readonly RefusalCode[] = [];

type Decided = Exclude<Judgement, { kind: 'schema_unknown' }>;

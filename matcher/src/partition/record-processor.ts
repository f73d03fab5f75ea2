import { type Encoder, firstChain, sealWritten } from '@pm/domain/signoff/records';
import type { TracedOrder } from '@pm/domain/traces/order-traces';
import { Fault } from '@pm/kit/fault';
import { checkpointEveryRecords, type Execution } from '@pm/schemas/log/executions';
import { rules } from '@pm/schemas/log/log-rules';
import type { Command, Envelope } from '@pm/schemas/log/orders';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { Applied, Engine, RejectReason } from '../core/index.ts';
import type { EnvelopeReader, EnvelopeReading, ReadingHints } from './envelope-reader.ts';
import { type HashState, hashHere, hashOf, type StateHash } from './state-hash.ts';

/** A record of `orders` as it is read. */
export interface InputRecord {
  readonly offset: number;
  readonly value: Buffer | null;
}

/** The output of one input record. */
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
  /** True for a tick or a claim of an owner that took effect. */
  readonly ofOwner: boolean;
  /** When ingress took its first command, by its clock; 0 where that has no such time. */
  readonly acceptedAtMs: number;
  /** Sequence number of the sender's envelope. */
  readonly sequence: number;
  /** Its orders that have a trace. */
  readonly traced: readonly TracedOrder[];
}

/** The orders of an envelope that have a trace. */
export type TracedOrdersOf = (envelope: Envelope) => readonly TracedOrder[];

/** The position of a partition in its log: everything before `nextOffset` is in the state. */
export interface LogPosition {
  readonly engine: Engine;
  /** Chain of the output before `nextOffset`. */
  readonly chain: Buffer;
  readonly nextOffset: number;
  /** The state at the last multiple of `checkpointEveryRecords`, which the next one shows; `null` when none does. */
  readonly checkpoint: StateHash | null;
}

export interface RecordProcessorParts {
  readonly partition: number;
  readonly reader: EnvelopeReader;
  readonly executions: Encoder<Execution>;
  /** Hashes states at checkpoints; on the calling thread when not given. */
  readonly hashState?: HashState;
  /** Absent while nothing is traced. */
  readonly tracedOrders?: TracedOrdersOf;
}

/** The position before the first record. */
export function firstPosition(engine: Engine): LogPosition {
  return { engine, chain: firstChain, nextOffset: 0, checkpoint: null };
}

/**
 * One step of a partition, the same live and in replay: one input record in, exactly one output record out, numbered by
 * the input's offset and chained to the output before (architecture.md).
 */
export class RecordProcessor implements LogPosition {
  readonly engine: Engine;
  readonly #parts: RecordProcessorParts;
  #chain: Buffer;
  #nextOffset: number;
  #checkpoint: StateHash | null;

  constructor(parts: RecordProcessorParts, start: LogPosition) {
    this.#parts = parts;
    this.engine = start.engine;
    this.#chain = start.chain;
    this.#nextOffset = start.nextOffset;
    this.#checkpoint = start.checkpoint;
  }

  get chain(): Buffer {
    return this.#chain;
  }

  get nextOffset(): number {
    return this.#nextOffset;
  }

  get checkpoint(): StateHash | null {
    return this.#checkpoint;
  }

  /** The hash that the next output shows, while another thread still computes it; `process` gives `null` until then. */
  get awaited(): StateHash | null {
    const isDue = this.#nextOffset % checkpointEveryRecords === 0;
    return isDue && this.#checkpoint?.value === null ? this.#checkpoint : null;
  }

  /**
   * The output of the next record. `null` when a hash is `awaited`, or the record's schema has to be fetched first
   * (`processPrepared`, which then sets `isPrepared`): then nothing has changed. Throws `input_gap`, `newer_record` and
   * `engine_broken` (release).
   */
  process(record: InputRecord, hints?: ReadingHints): OutputRecord | null {
    this.#assertNext(record);
    if (this.awaited !== null) return null;
    const read = this.#parts.reader.read(this.engine, record.value, hints);
    if (read.kind === 'schema_unknown') return null;
    return this.#seal(read, this.#apply(read, record.offset));
  }

  /** The check of a later record's sign-off by the keys of now; null when none can be made ahead. */
  sealAhead({ value }: InputRecord): ReturnType<EnvelopeReader['sealAhead']> {
    return this.#parts.reader.sealAhead(this.engine, value);
  }

  #apply(read: Known, inOffset: number): Applied {
    const applied = this.#applyOrReject(read, inOffset);
    if (inOffset % checkpointEveryRecords === 0) this.#writeCheckpoint(applied);
    return applied;
  }

  /** The hash of the state at the checkpoint before, so that it can be computed meanwhile; of this state at first. */
  #writeCheckpoint({ written }: Applied): void {
    const { engine } = this;
    if (engine.rules < rules.laterCheckpoints) {
      written.push({ kind: 'Checkpoint', stateHash: hashOf(engine.encodeState()) });
      return;
    }
    const stateHash = this.#checkpoint?.value ?? null;
    if (stateHash !== null) written.push({ kind: 'Checkpoint', stateHash });
    this.#checkpoint = (this.#parts.hashState ?? hashHere)(engine);
  }

  /** An engine that throws leaves a broken state: this partition is released, the others go on. */
  #applyOrReject(read: Known, inOffset: number): Applied {
    if (read.kind === 'rejected') return this.engine.reject(read.reason);
    try {
      return this.engine.apply(read.envelope, inOffset);
    } catch (cause) {
      const { partition } = this.#parts;
      throw new Fault('engine_broken', 'release', { facts: { partition, inOffset }, cause });
    }
  }

  #seal(read: Known, { timeMs, written }: Applied): OutputRecord {
    const inOffset = this.#nextOffset;
    const { keyId, sequence } = read.sender;
    const head = { inOffset, timeMs, keyId, sequence };
    const { value, chain } = sealWritten(this.#parts.executions, this.#chain, { head, written });
    this.#chain = chain;
    this.#nextOffset = inOffset + 1;
    const { length: events, fills } = written;
    const refusals = written.refusals.length === 0 ? noRefusals : [...written.refusals];
    const output = { inOffset, value, events, fills, refusals, sequence };
    if (read.kind === 'rejected') {
      const changed = { commands: 0, ticksOnly: false, ofOwner: false, traced: noOrders };
      return { ...output, rejected: read.reason, acceptedAtMs: 0, ...changed };
    }
    const { commands } = read.envelope;
    const [first] = commands;
    const acceptedAtMs = acceptanceOf(first);
    const ticksOnly = commands.every((command) => command.kind === 'Tick');
    const ofOwner = this.#isOfOwner(read.envelope);
    const traced = this.#parts.tracedOrders?.(read.envelope) ?? noOrders;
    const counts = { commands: commands.length, ticksOnly, ofOwner, acceptedAtMs };
    return { ...output, rejected: null, ...counts, traced };
  }

  /** Whether it is a tick or claim of an owner that took effect: orders that a tick releases may be refused. */
  #isOfOwner({ keyId, commands: [first] }: Envelope): boolean {
    const { engine } = this;
    if (first?.kind !== 'Tick' && first?.kind !== 'ClaimPartition') return false;
    if (engine.signOffKey(keyId)?.role !== 'OWNER') return false;
    if (first.kind === 'ClaimPartition')
      return first.term === engine.term && engine.owner.equals(first.owner);
    return engine.rules < rules.ownerTerms || first.term === engine.term;
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

/** An order with a limit of its own may have the time of its first attempt, which its client names. */
function acceptanceOf(first: Command | undefined): number {
  if (first === undefined || !('acceptedAtMs' in first)) return 0;
  return 'ageLimitMs' in first && first.ageLimitMs > 0 ? 0 : first.acceptedAtMs;
}
const noOrders: readonly TracedOrder[] = [];

type Known = Exclude<EnvelopeReading, { kind: 'schema_unknown' }>;

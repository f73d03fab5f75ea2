import type { IncomingRecord, OutgoingRecord } from '@pm/kit/kafka';

/** A batch of one producer, as its numbers identify it. */
export interface NumberedBatch {
  readonly producerId: number;
  readonly epoch: number;
  readonly firstSequence: number;
  readonly records: readonly OutgoingRecord[];
}

interface StoredBatch {
  readonly producerId: number;
  readonly epoch: number;
  readonly firstSequence: number;
  readonly count: number;
  readonly offset: number;
}

/** Response of the leader to a batch: its offset, or why it was not taken. */
export type Appended =
  | { readonly kind: 'at'; readonly offset: number }
  | {
      readonly kind: 'refused';
      readonly type: 'OUT_OF_ORDER_SEQUENCE_NUMBER' | 'INVALID_PRODUCER_EPOCH';
    };

/** Batches of a producer that a broker remembers. */
const rememberedBatches = 5;

/**
 * One partition with Kafka's rules (https://kafka.apache.org/documentation/#design_semantics): a repeated batch is
 * answered with its first place, a smaller epoch and a hole in the sequence are refused, only what all in-sync replicas
 * have is read, and a new leader may lack what they had not.
 */
export class PartitionLog {
  readonly topic: string;
  readonly partition: number;
  /** Broker that leads it; null during an election. */
  leader: number | null;
  /** Number of the leader's term. */
  term = 0;
  /** Everything before is on all in-sync replicas. */
  highWatermark = 0;
  readonly records: IncomingRecord[] = [];
  readonly #batches: StoredBatch[] = [];
  readonly #producers = new Map<number, StoredBatch[]>();
  #waiting: (() => void)[] = [];

  constructor(topic: string, partition: number, leader: number) {
    this.topic = topic;
    this.partition = partition;
    this.leader = leader;
  }

  get end(): number {
    return this.records.length;
  }

  append({ producerId, epoch, firstSequence, records }: NumberedBatch, nowMs: number): Appended {
    const known = this.#producers.get(producerId) ?? [];
    const last = known.at(-1);
    if (last !== undefined && epoch < last.epoch) {
      return { kind: 'refused', type: 'INVALID_PRODUCER_EPOCH' };
    }
    const ofEpoch = known.filter((batch) => batch.epoch === epoch);
    const same = ofEpoch.find((batch) => batch.firstSequence === firstSequence);
    if (same !== undefined) return { kind: 'at', offset: same.offset };
    const before = ofEpoch.at(-1);
    const expected = before === undefined ? 0 : before.firstSequence + before.count;
    if (firstSequence !== expected)
      return { kind: 'refused', type: 'OUT_OF_ORDER_SEQUENCE_NUMBER' };
    const offset = this.write(records, nowMs);
    const batch = { producerId, epoch, firstSequence, count: records.length, offset };
    this.#batches.push(batch);
    this.#producers.set(producerId, [...ofEpoch, batch].slice(-rememberedBatches));
    return { kind: 'at', offset };
  }

  /** Appends records without numbers. */
  write(records: readonly OutgoingRecord[], nowMs: number): number {
    const offset = this.end;
    for (const { key, value, headers } of records) {
      const record = { offset: this.end, key, value, timestampMs: nowMs };
      this.records.push(headers === undefined ? record : { ...record, headers });
    }
    return offset;
  }

  /** All in-sync replicas have the records before `offset`. */
  replicated(offset: number): void {
    this.highWatermark = Math.max(this.highWatermark, Math.min(offset, this.end));
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** Called once, when there is more to read. */
  onMore(wake: () => void): void {
    this.#waiting.push(wake);
  }

  /** The new leader has the records before `end`. */
  elect(leader: number, end: number): void {
    this.leader = leader;
    this.term += 1;
    this.records.length = end;
    this.highWatermark = Math.min(this.highWatermark, end);
    const lost = new Set<number>();
    for (let batch = this.#batches.at(-1); batch !== undefined; batch = this.#batches.at(-1)) {
      if (batch.offset + batch.count <= end) break;
      this.#batches.pop();
      lost.add(batch.producerId);
    }
    for (const producerId of lost) this.#remember(producerId);
  }

  #remember(producerId: number): void {
    const own = this.#batches.filter((batch) => batch.producerId === producerId);
    const epoch = own.at(-1)?.epoch;
    const newest = own.filter((batch) => batch.epoch === epoch).slice(-rememberedBatches);
    if (newest.length === 0) this.#producers.delete(producerId);
    else this.#producers.set(producerId, newest);
  }
}

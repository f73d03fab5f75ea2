import { BytesReader } from './kafka-bytes.ts';

/** The batch of one partition in a produce request. */
export interface SentBatch {
  readonly topic: string;
  readonly partition: number;
  readonly producerId: number;
  readonly epoch: number;
  readonly firstSequence: number;
  readonly values: readonly string[];
}

/** The answer for one partition. */
export interface BatchResult {
  readonly topic: string;
  readonly partition: number;
  readonly errorCode: number;
  readonly baseOffset: number;
}

interface ProducerState {
  epoch: number;
  nextSequence: number;
  last: { readonly firstSequence: number; readonly offset: number };
}

const outOfOrderSequence = 45;
const invalidProducerEpoch = 47;

/**
 * One partition as replicas share it, with the rules by which Kafka drops repetitions
 * (https://kafka.apache.org/documentation/#design_semantics): a repeated batch is answered with its first place, a
 * smaller epoch is refused, a larger one begins at 0.
 */
export class ScriptedPartition {
  leader: number;
  readonly values: string[] = [];
  readonly #producers = new Map<number, ProducerState>();

  constructor(leader: number) {
    this.leader = leader;
  }

  append(batch: SentBatch): Pick<BatchResult, 'errorCode' | 'baseOffset'> {
    const { producerId, epoch, firstSequence, values } = batch;
    const known = this.#producers.get(producerId);
    if (known !== undefined && epoch < known.epoch) return refused(invalidProducerEpoch);
    const isSame = known?.epoch === epoch;
    if (isSame && known.last.firstSequence === firstSequence) {
      return { errorCode: 0, baseOffset: known.last.offset };
    }
    const expected = isSame ? known.nextSequence : 0;
    if (firstSequence !== expected) return refused(outOfOrderSequence);
    const offset = this.values.length;
    this.values.push(...values);
    const nextSequence = firstSequence + values.length;
    this.#producers.set(producerId, { epoch, nextSequence, last: { firstSequence, offset } });
    return { errorCode: 0, baseOffset: offset };
  }
}

function refused(errorCode: number): Pick<BatchResult, 'errorCode' | 'baseOffset'> {
  return { errorCode, baseOffset: -1 };
}

/** The batches of a produce request of version 3 (https://kafka.apache.org/protocol#The_Messages_Produce). */
export function batchesOf(body: BytesReader): readonly SentBatch[] {
  body.text();
  body.int16();
  body.int32();
  const topics = body.list(() => {
    const topic = body.text();
    return body.list(() => batchOf(topic, body.int32(), body.take(body.int32())));
  });
  return topics.flat();
}

/** https://kafka.apache.org/documentation/#recordbatch */
function batchOf(topic: string, partition: number, bytes: Buffer): SentBatch {
  const batch = new BytesReader(bytes);
  batch.take(8 + 4 + 4 + 1 + 4 + 2 + 4 + 8 + 8);
  const producerId = batch.int64();
  const epoch = batch.int16();
  const firstSequence = batch.int32();
  const values = batch.list(() => textOf(batch));
  return { topic, partition, producerId, epoch, firstSequence, values };
}

function textOf(batch: BytesReader): string {
  const record = new BytesReader(batch.take(batch.varint()));
  record.int8();
  record.varint();
  record.varint();
  record.take(Math.max(0, record.varint()));
  return record.take(Math.max(0, record.varint())).toString('utf8');
}

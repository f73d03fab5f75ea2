import type { IncomingRecord } from '@pm/kit/kafka';
import type { Scheduler } from '../../../kit/test/time/scheduler.ts';
import type { Defects } from '../defects.ts';
import { topicNames } from '../exchange-facts.ts';
import type { Answer } from '../time/machine.ts';
import { type NumberedBatch, PartitionLog } from './partition-log.ts';

/** The records of one partition in a fetch. */
export interface Fetched {
  readonly partition: number;
  readonly from: number;
  readonly records: readonly IncomingRecord[];
  readonly highWatermark: number;
}

/** A batch for one partition of a topic. */
export interface PlacedBatch extends NumberedBatch {
  readonly topic: string;
  readonly partition: number;
}

export interface Wanted {
  readonly partition: number;
  readonly from: number;
}

const nodes = [0, 1, 2];
/** Records of one partition in one fetch, at most. */
const fetchRecordsMax = 400;
const replicationMaxMs = 3;
/** One append of so many waits for a slow follower. */
const slowOneOf = 50;
const slowTransferOneOf = 8;
const slowReplicationMs = 600;

/** Three brokers: a partition has one leader; records are acknowledged when all in-sync replicas have them. */
export class Brokers {
  readonly #scheduler: Scheduler;
  readonly #defects: Defects;
  readonly #topics = new Map<string, readonly PartitionLog[]>();
  readonly #down = new Set<number>();
  #producerIds = 0;
  /** Share of the appends with a slow follower during which the leader dies. */
  deaths = 0;
  leaderChanges = 0;
  truncatedRecords = 0;

  constructor(scheduler: Scheduler, defects: Defects) {
    this.#scheduler = scheduler;
    this.#defects = defects;
  }

  addTopic(topic: string, partitions: number): void {
    const logs = Array.from(
      { length: partitions },
      (_, partition) => new PartitionLog(topic, partition, partition % nodes.length),
    );
    this.#topics.set(topic, logs);
  }

  partitions(topic: string): readonly PartitionLog[] {
    return this.#topics.get(topic) ?? [];
  }

  partition(topic: string, partition: number): PartitionLog {
    const found = this.partitions(topic)[partition];
    if (found === undefined) throw new Error(`there is no partition ${partition} of ${topic}`);
    return found;
  }

  nextProducerId(): number {
    this.#producerIds += 1;
    return this.#producerIds;
  }

  isDown(node: number): boolean {
    return this.#down.has(node);
  }

  /** A produce request that has arrived at a broker. */
  produce(
    node: number,
    batches: readonly PlacedBatch[],
    answer: Answer<ReadonlyMap<string, number>>,
  ): void {
    if (this.isDown(node)) return;
    const offsets = new Map<string, number>();
    let waiting = batches.length;
    const stored = (key: string, offset: number) => {
      offsets.set(key, offset);
      waiting -= 1;
      if (waiting === 0) answer.resolve(offsets);
    };
    for (const batch of batches) this.#append(node, batch, { stored, refused: answer.reject });
  }

  #append(
    node: number,
    batch: PlacedBatch,
    { stored, refused }: { stored(key: string, at: number): void; refused(error: Error): void },
  ): void {
    const log = this.partition(batch.topic, batch.partition);
    if (log.leader !== node) {
      refused(protocolError('NOT_LEADER_FOR_PARTITION', true));
      return;
    }
    const appended = log.append(batch, this.#scheduler.nowMs);
    if (appended.kind === 'refused') {
      refused(protocolError(appended.type, false));
      return;
    }
    const key = `${batch.topic}/${batch.partition}`;
    const { term } = log;
    if (this.#defects.has('acknowledged before it is replicated')) stored(key, appended.offset);
    this.#scheduler.after(this.#replicationMs(batch.topic, node), null, () => {
      if (log.term !== term || log.leader !== node) return;
      log.replicated(appended.offset + batch.records.length);
      stored(key, appended.offset);
    });
  }

  /** How long the followers take; a leader sometimes dies meanwhile. Transfers are few, so more of them wait. */
  #replicationMs(topic: string, node: number): number {
    const { random } = this.#scheduler;
    const isRare = topic === topicNames.transfers;
    if (random.below(isRare ? slowTransferOneOf : slowOneOf) > 0)
      return random.next() * replicationMaxMs;
    const ms = random.next() * slowReplicationMs;
    const dies = random.chance(isRare ? 5 * this.deaths : this.deaths);
    const downMs = 500 + random.below(4_000);
    if (dies) this.#scheduler.after(ms / 2, null, () => this.killNode(node, downMs));
    return ms;
  }

  /** A fetch that has arrived: answered when there are records, or after the wait. */
  fetch(
    topic: string,
    wanted: readonly Wanted[],
    { maxWaitMs, answer }: { readonly maxWaitMs: number; readonly answer: Answer<Fetched[]> },
  ): void {
    const found = wanted.flatMap((one) => this.#read(topic, one));
    if (maxWaitMs <= 0 || found.some(({ records }) => records.length > 0)) {
      answer.resolve(found);
      return;
    }
    let isDone = false;
    const again = () => {
      if (isDone) return;
      isDone = true;
      timer.cancel();
      this.fetch(topic, wanted, { maxWaitMs: 0, answer });
    };
    const timer = this.#scheduler.after(maxWaitMs, null, again);
    for (const { partition } of wanted) this.partition(topic, partition).onMore(again);
  }

  #read(topic: string, { partition, from }: Wanted): Fetched[] {
    const log = this.partition(topic, partition);
    if (log.leader === null) return [];
    const isDirty = this.#defects.has('records are read before they are replicated');
    const end = isDirty ? log.end : log.highWatermark;
    const count = 1 + this.#scheduler.random.below(fetchRecordsMax);
    const records = log.records.slice(from, Math.min(end, from + count));
    return [{ partition, from, records, highWatermark: end }];
  }

  /** A broker dies; its partitions get other leaders after an election, and it comes back. */
  killNode(node: number, downMs: number): void {
    if (this.#down.size > 0) return;
    this.#down.add(node);
    const electionMs = 200 + this.#scheduler.random.below(2_000);
    for (const logs of this.#topics.values())
      for (const log of logs) if (log.leader === node) this.#endTerm(log, electionMs);
    this.#scheduler.after(downMs, null, () => this.#down.delete(node));
  }

  #endTerm(log: PartitionLog, electionMs: number): void {
    log.leader = null;
    this.#scheduler.after(electionMs, null, () => {
      const up = nodes.filter((node) => !this.#down.has(node));
      const { random } = this.#scheduler;
      const isUnclean = this.#defects.has('a leader is elected that lacks acknowledged records');
      const least = isUnclean ? Math.max(0, log.highWatermark - 4) : log.highWatermark;
      const end = least + random.below(log.end - least + 1);
      this.truncatedRecords += log.end - end;
      this.leaderChanges += 1;
      log.elect(random.pick(up), end);
      const { term } = log;
      this.#scheduler.after(1, null, () => {
        if (log.term === term) log.replicated(log.end);
      });
    });
  }
}

/** An answer of a broker as kafkajs throws it. */
function protocolError(type: string, retriable: boolean): Error {
  return Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type, retriable });
}

import {
  PartitionGuard,
  PartitionMissing,
  type ProducerSession,
} from '../../src/kafka/idempotent-session.io.ts';
import { defaultLimits, retriesWithin } from '../../src/kafka/limits.ts';
import type { PartitionDirectory } from '../../src/kafka/partition-directory.io.ts';
import { SingleFlightProducer } from '../../src/kafka/producer.io.ts';
import type { OutgoingRecord, RecordPlace } from '../../src/kafka/records.ts';
import { placesOf } from '../../src/kafka/result-coverage.ts';
import { bytesOf, SendQueue } from '../../src/kafka/send-queue.ts';
import { silentLog } from '../../src/log/index.ts';

function record(partition: number, value = 'v'): OutgoingRecord {
  return { topic: 't', partition, key: null, value: Buffer.from(value) };
}

/** A session whose sends the test answers by hand. */
class ManualSession implements ProducerSession {
  readonly sends: {
    records: readonly OutgoingRecord[];
    /** Appends all; the result leaves out the given partitions. */
    succeed(...swallowed: number[]): void;
    fail(error: Error): void;
  }[] = [];
  abandoned = false;
  #next = 0;

  send(records: readonly OutgoingRecord[]): Promise<readonly (RecordPlace | null)[]> {
    return new Promise((resolve, reject) => {
      const succeed = (...swallowed: number[]) => {
        const places = records.map(({ partition }) => ({ partition, offset: this.#next++ }));
        resolve(places.map((place) => (swallowed.includes(place.partition) ? null : place)));
      };
      this.sends.push({ records, succeed, fail: reject });
    });
  }

  abandon(): void {
    this.abandoned = true;
  }

  async close(): Promise<void> {}
}

function producerWith(limits: Partial<typeof defaultLimits> = {}) {
  const sessions: ManualSession[] = [];
  const openSession = async () => {
    const session = new ManualSession();
    sessions.push(session);
    return session;
  };
  const first = new ManualSession();
  sessions.push(first);
  const directory = { isKnown: (one: OutgoingRecord) => one.partition < 4, learn: async () => {} };
  const parts = {
    limits: { ...defaultLimits, ...limits },
    log: silentLog,
    directory: directory as unknown as PartitionDirectory,
    openSession,
  };
  return { producer: new SingleFlightProducer(parts, first), sessions };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('never has two sends in flight; what waits goes into the next one', async () => {
  const { producer, sessions } = producerWith();
  const results = [0, 1, 2, 3].map((partition) => producer.send([record(partition)]));
  await turn();
  const later = [producer.send([record(0)]), producer.send([record(0)])];
  await turn();
  const sends = sessions[0]?.sends ?? [];
  expect(sends.map(({ records }) => records.length)).toEqual([4]);
  expect(producer.queuedRecords).toBe(2);
  sends[0]?.succeed();
  expect(await Promise.all(results)).toEqual(
    [0, 1, 2, 3].map((one) => [{ partition: one, offset: one }]),
  );
  await turn();
  expect(sends.map(({ records }) => records.length)).toEqual([4, 2]);
  sends[1]?.succeed();
  await Promise.all(later);
});

test('after an unknown outcome: a new producer id, nothing after it on that partition, the others go on', async () => {
  const { producer, sessions } = producerWith();
  const unknown = producer.send([record(0)]);
  await turn();
  const behind = producer.send([record(0), record(1)]);
  const elsewhere = producer.send([record(1)]);
  const failed = Promise.allSettled([unknown, behind]);
  sessions[0]?.sends[0]?.fail(new Error('connection closed'));
  expect(await failed).toMatchObject([
    { status: 'rejected', reason: { code: 'send_outcome_unknown', reaction: 'release' } },
    { status: 'rejected', reason: { code: 'not_sent', reaction: 'retry' } },
  ]);
  expect(sessions[0]?.abandoned).toBe(true);
  await turn();
  expect(sessions[1]?.sends.map(({ records }) => records)).toEqual([[record(1)]]);
  sessions[1]?.sends[0]?.succeed();
  await elsewhere;
});

test('a partition that the result does not cover is an unknown outcome, and its session is dropped', async () => {
  const { producer, sessions } = producerWith();
  const covered = producer.send([record(0)]);
  const swallowed = producer.send([record(1)]);
  const partly = producer.send([record(0), record(1)]);
  await turn();
  const behind = producer.send([record(1)]);
  const elsewhere = producer.send([record(2)]);
  const all = Promise.allSettled([covered, swallowed, partly, behind]);
  sessions[0]?.sends[0]?.succeed(1);
  expect(await all).toMatchObject([
    { status: 'fulfilled', value: [{ partition: 0, offset: 0 }] },
    { status: 'rejected', reason: { code: 'send_outcome_unknown', reaction: 'release' } },
    { status: 'rejected', reason: { code: 'send_outcome_unknown', reaction: 'release' } },
    { status: 'rejected', reason: { code: 'not_sent', reaction: 'retry' } },
  ]);
  expect(sessions[0]?.abandoned).toBe(true);
  await turn();
  expect(sessions[1]?.sends.map(({ records }) => records)).toEqual([[record(2)]]);
  sessions[1]?.sends[0]?.succeed();
  await elsewhere;
});

test('a send without any answer is unknown after its time', async () => {
  const { producer } = producerWith({ sendTimeoutMs: 30 });
  await expect(producer.send([record(0)])).rejects.toMatchObject({ code: 'send_outcome_unknown' });
});

test('unknown partitions are refused before anything is sent', async () => {
  const { producer, sessions } = producerWith();
  await expect(producer.send([record(0), record(9)])).rejects.toMatchObject({
    code: 'partition_unknown',
    facts: { partition: 9 },
  });
  expect(sessions[0]?.sends).toEqual([]);
});

test('takes a new producer id before the sequence numbers run out', async () => {
  const { producer, sessions } = producerWith({ maxRecordsPerProducerId: 1 });
  for (const session of [0, 0, 1]) {
    const sent = producer.send([record(0)]);
    await turn();
    sessions[session]?.sends.at(-1)?.succeed();
    await sent;
  }
  expect(sessions.map(({ sends }) => sends.length)).toEqual([2, 1]);
});

test('a closed producer refuses, an empty send is nothing', async () => {
  const { producer } = producerWith();
  expect(await producer.send([])).toEqual([]);
  await producer.close();
  await expect(producer.send([record(0)])).rejects.toMatchObject({
    code: 'client_closed',
    reaction: 'stop',
  });
});

describe('the queue', () => {
  const limits = {
    maxQueuedRecords: 5,
    maxQueuedBytes: 1_000,
    maxBatchRecords: 3,
    maxBatchBytes: 500,
  };
  const pending = (...records: OutgoingRecord[]) => ({
    records,
    bytes: bytesOf(records),
    resolve() {},
    reject() {},
  });

  test('cuts batches between sends, never inside one', () => {
    const queue = new SendQueue(limits);
    for (const send of [
      pending(record(0), record(1)),
      pending(record(2), record(3)),
      pending(record(0)),
    ])
      queue.push(send);
    expect(queue.takeBatch().map(({ records }) => records.length)).toEqual([2]);
    expect(queue.takeBatch().map(({ records }) => records.length)).toEqual([2, 1]);
    expect(queue.records).toBe(0);
  });

  test('takes a send larger than a batch alone', () => {
    const queue = new SendQueue(limits);
    queue.push(pending(record(0, 'x'.repeat(600))));
    queue.push(pending(record(0)));
    expect(queue.takeBatch()).toHaveLength(1);
  });

  test('is bounded by records and by bytes', () => {
    const queue = new SendQueue(limits);
    expect(queue.push(pending(record(0), record(0), record(0)))).toBe(true);
    expect(queue.push(pending(record(0), record(0), record(0)))).toBe(false);
    expect(queue.push(pending(record(0, 'x'.repeat(950))))).toBe(false);
    expect(queue.records).toBe(3);
  });
});

test('a result that does not cover a partition leaves its records without a place', () => {
  const records = [record(0), record(1), record(0)];
  expect(placesOf(records, [{ topicName: 't', partition: 0, baseOffset: '7' }])).toEqual([
    { partition: 0, offset: 7 },
    null,
    { partition: 0, offset: 8 },
  ]);
  expect(placesOf(records, [])).toEqual([null, null, null]);
});

describe('the guard', () => {
  const metadata = [{ partitionErrorCode: 0, partitionId: 0, leader: 1, replicas: [], isr: [] }];
  const ask = (guard: PartitionGuard, partition: number) =>
    guard.partitionOf({
      topic: 't',
      partitionMetadata: metadata,
      message: { value: null, partition },
    });

  test('asks for fresh metadata some times, then says the partition is missing', () => {
    const guard = new PartitionGuard(3);
    expect(ask(guard, 0)).toBe(0);
    expect(() => ask(guard, 1)).toThrow(
      expect.objectContaining({ name: 'KafkaJSMetadataNotLoaded' }),
    );
    expect(() => ask(guard, 1)).toThrow(
      expect.objectContaining({ name: 'KafkaJSMetadataNotLoaded' }),
    );
    expect(() => ask(guard, 1)).toThrow(PartitionMissing);
  });

  test('does not say that nothing was written once all records of a send had passed', () => {
    const guard = new PartitionGuard(1);
    guard.begin(1);
    expect(ask(guard, 0)).toBe(0);
    const vanished = () => ask(guard, 1);
    expect(vanished).toThrow(expect.objectContaining({ retriable: false }));
    expect(vanished).not.toThrow(PartitionMissing);
    guard.begin(1);
    expect(vanished).toThrow(PartitionMissing);
  });

  test('says that nothing was written when no try let all records of a send pass', () => {
    const guard = new PartitionGuard(2);
    guard.begin(2);
    expect(ask(guard, 0)).toBe(0);
    expect(() => ask(guard, 1)).toThrow(
      expect.objectContaining({ name: 'KafkaJSMetadataNotLoaded' }),
    );
    expect(ask(guard, 0)).toBe(0);
    expect(() => ask(guard, 1)).toThrow(PartitionMissing);
  });

  test('ends every retry once abandoned', () => {
    const guard = new PartitionGuard(3);
    guard.abandoned = true;
    expect(() => ask(guard, 0)).toThrow(expect.objectContaining({ retriable: false }));
  });
});

test('retries fill the time of a send, not more', () => {
  expect(
    retriesWithin({ ...defaultLimits, initialRetryMs: 10, maxRetryMs: 100, sendTimeoutMs: 350 }),
  ).toBe(6);
});

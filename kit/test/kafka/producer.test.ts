import { defaultLimits, retriesWithin } from '../../src/kafka/limits.ts';
import { BatchNumbers, type ProducerIdentity } from '../../src/kafka/partition-batch.ts';
import type { SequencedRecords } from '../../src/kafka/produce-request.ts';
import type { ProduceRequest } from '../../src/kafka/produce-wire.io.ts';
import { LaneProducer, type ProducerWire } from '../../src/kafka/producer.io.ts';
import type { OutgoingRecord } from '../../src/kafka/records.ts';
import { firstOffsets } from '../../src/kafka/result-coverage.ts';
import { bytesOf, placeKey, SendQueue } from '../../src/kafka/send-queue.ts';
import { silentLog } from '../../src/log/index.ts';
import { createDeferred, until } from './deferred.ts';

function record(partition: number, value = 'v'): OutgoingRecord {
  return { topic: 't', partition, key: null, value: Buffer.from(value) };
}

interface ManualRequest {
  readonly identity: ProducerIdentity;
  readonly batches: readonly SequencedRecords[];
  /** Appends all; the result leaves out the given partitions. */
  succeed(...uncovered: number[]): void;
  fail(error: Error): void;
}

/** Brokers whose requests the test answers by hand: one leads all partitions below 4, the others do not exist. */
class ManualWire implements ProducerWire {
  readonly requests: ManualRequest[] = [];
  identities = 0;
  /** A request leaves this process after it. */
  connected: Promise<void> = Promise.resolve();
  #next = 0;

  isKnown(key: string): boolean {
    return Number(key.split('/')[1]) < 4;
  }

  leaderOf(): string {
    return '1';
  }

  async load(): Promise<void> {}

  async openIdentity(): Promise<ProducerIdentity> {
    this.identities += 1;
    return { producerId: this.identities, epoch: 0 };
  }

  async produce(
    _node: string,
    { identity, batches, onSent }: ProduceRequest,
  ): Promise<ReadonlyMap<string, number>> {
    await this.connected;
    onSent();
    return new Promise((resolve, fail) => {
      const succeed = (...uncovered: number[]) => {
        const covered = batches.filter(({ partition }) => !uncovered.includes(partition));
        resolve(new Map(covered.map((batch) => [placeKey(batch), this.#offsets(batch)])));
      };
      this.requests.push({ identity, batches, succeed, fail });
    });
  }

  async disconnect(): Promise<void> {}

  #offsets({ records }: SequencedRecords): number {
    const first = this.#next;
    this.#next += records.length;
    return first;
  }
}

function producerWith(limits: Partial<typeof defaultLimits> = {}) {
  const wire = new ManualWire();
  const parts = { limits: { ...defaultLimits, ...limits }, log: silentLog, wire };
  return { producer: new LaneProducer(parts), wire };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const recordsOf = ({ batches }: ManualRequest) => batches.map(({ records }) => records.length);

afterEach(() => jest.restoreAllMocks());

test('never has two requests in flight; what waits goes into the next one', async () => {
  const { producer, wire } = producerWith();
  const results = [0, 1, 2, 3].map((partition) => producer.send([record(partition)]));
  await turn();
  const later = [producer.send([record(0)]), producer.send([record(0)])];
  await turn();
  expect(wire.requests.map(recordsOf)).toEqual([[1, 1, 1, 1]]);
  expect(producer.queuedRecords).toBe(2);
  wire.requests[0]?.succeed();
  expect(await Promise.all(results)).toEqual(
    [0, 1, 2, 3].map((one) => [{ partition: one, offset: one }]),
  );
  await turn();
  expect(wire.requests.map(recordsOf)).toEqual([[1, 1, 1, 1], [2]]);
  wire.requests[1]?.succeed();
  await Promise.all(later);
});

test.each([1, 2, 3, 4, 5, 6, 8, 10, 12])(
  'a batch goes again though each look at the clock is %i ms later',
  async (stepMs) => {
    let nowMs = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => {
      nowMs += stepMs;
      return nowMs;
    });
    const { producer, wire } = producerWith();
    const sent = producer.send([record(0)]);
    await until(() => wire.requests.length === 1, 'the batch is sent');
    wire.requests[0]?.fail(new Error('connection closed'));
    await until(() => wire.requests.length === 2, 'it is sent again');
    wire.requests[1]?.succeed();
    expect(await sent).toEqual([{ partition: 0, offset: 0 }]);
  },
);

test('after an unknown outcome: a larger epoch, nothing after it on that partition, the others go on', async () => {
  const { producer, wire } = producerWith({ sendTimeoutMs: 30 });
  const unknown = producer.send([record(0)]);
  await turn();
  const behind = producer.send([record(0)]);
  const elsewhere = producer.send([record(1)]);
  expect(await Promise.allSettled([unknown, behind])).toMatchObject([
    { status: 'rejected', reason: { code: 'send_outcome_unknown', reaction: 'release' } },
    { status: 'rejected', reason: { code: 'not_sent', reaction: 'retry' } },
  ]);
  wire.requests[0]?.fail(new Error('connection closed'));
  await turn();
  const [first, second] = wire.requests;
  expect(second?.identity).toEqual({ producerId: first?.identity.producerId, epoch: 1 });
  expect(second?.batches.map(({ partition }) => partition)).toEqual([1]);
  second?.succeed();
  await elsewhere;
});

test('a lost request goes again under the same numbers', async () => {
  const { producer, wire } = producerWith();
  const first = producer.send([record(0), record(0)]);
  await turn();
  wire.requests[0]?.succeed();
  await first;
  const sent = producer.send([record(0)]);
  await turn();
  wire.requests[1]?.fail(new Error('connection closed'));
  await until(() => wire.requests.length === 3, 'it goes again');
  const [, lost, again] = wire.requests;
  expect(again?.identity).toBe(lost?.identity);
  expect([lost, again].map((request) => request?.batches[0]?.firstSequence)).toEqual([2, 2]);
  again?.succeed();
  expect(await sent).toEqual([{ partition: 0, offset: 2 }]);
});

const tooLarge = Object.assign(new Error('too large'), { type: 'MESSAGE_TOO_LARGE' });

test.each([
  ['alone is certainly not sent', [tooLarge], 'not_sent'],
  ['after a lost request is unknown', [new Error('closed'), tooLarge], 'send_outcome_unknown'],
])('a batch that a broker refuses before the append %s', async (_name, errors, code) => {
  const { producer, wire } = producerWith();
  const sent = producer.send([record(0)]);
  const failed = expect(sent).rejects.toMatchObject({ code });
  for (const [at, error] of errors.entries()) {
    await until(() => wire.requests.length > at, 'the batch is sent');
    wire.requests[at]?.fail(error);
  }
  await failed;
});

test('a batch whose time ends before it is sent again is unknown after a lost request', async () => {
  const { producer, wire } = producerWith({ sendTimeoutMs: 300 });
  const sent = expect(producer.send([record(0)])).rejects.toMatchObject({
    code: 'send_outcome_unknown',
  });
  await until(() => wire.requests.length === 1, 'the batch is sent');
  wire.connected = new Promise(() => {});
  wire.requests[0]?.fail(new Error('connection closed'));
  await sent;
  expect(wire.requests).toHaveLength(1);
});

test('a partition that the result does not cover is an unknown outcome, the others are durable', async () => {
  const { producer, wire } = producerWith();
  const covered = producer.send([record(0)]);
  const uncovered = producer.send([record(1)]);
  const partly = producer.send([record(0), record(1)]);
  await turn();
  const behind = producer.send([record(1)]);
  const all = Promise.allSettled([covered, uncovered, partly, behind]);
  wire.requests[0]?.succeed(1);
  expect(await all).toMatchObject([
    { status: 'fulfilled', value: [{ partition: 0, offset: 0 }] },
    { status: 'rejected', reason: { code: 'send_outcome_unknown', reaction: 'release' } },
    { status: 'rejected', reason: { code: 'send_outcome_unknown', reaction: 'release' } },
    { status: 'rejected', reason: { code: 'not_sent', reaction: 'retry' } },
  ]);
});

test('a call that was written in a part is an unknown outcome, though the rest was certainly not sent', async () => {
  const { producer, wire } = producerWith();
  const first = producer.send([record(0)]);
  await turn();
  const both = producer.send([record(0), record(1)]);
  const failed = Promise.allSettled([first, both]);
  wire.requests[0]?.succeed(0);
  await turn();
  wire.requests[1]?.succeed();
  expect(await failed).toMatchObject([
    { reason: { code: 'send_outcome_unknown' } },
    { reason: { code: 'send_outcome_unknown', facts: { partlyWritten: true } } },
  ]);
});

test('a send without any answer is unknown after its time', async () => {
  const { producer } = producerWith({ sendTimeoutMs: 30 });
  await expect(producer.send([record(0)])).rejects.toMatchObject({ code: 'send_outcome_unknown' });
});

test('unknown partitions are refused before anything is sent', async () => {
  const { producer, wire } = producerWith();
  await expect(producer.send([record(0), record(9)])).rejects.toMatchObject({
    code: 'partition_unknown',
    facts: { partition: 9 },
  });
  expect(wire.requests).toEqual([]);
  expect(producer.queuedRecords).toBe(0);
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

test('a producer id whose last numbers are used up is replaced before the time of a send is over', async () => {
  const { producer, wire } = producerWith({ maxSequence: 1, maxEpoch: 0 });
  for (const producerId of [1, 1, 2]) {
    const sent = producer.send([record(0)]);
    await turn();
    expect(wire.requests.at(-1)?.identity).toEqual({ producerId, epoch: 0 });
    wire.requests.at(-1)?.succeed();
    await sent;
  }
});

test('after closing nothing is dispatched, also while a partition is still being learnt', async () => {
  const { producer, wire } = producerWith({ closeTimeoutMs: 10 });
  const first = createDeferred();
  let asked = 0;
  wire.load = () => new Promise(() => {});
  wire.openIdentity = async () => {
    asked += 1;
    await first.promise;
    // A loop of microtasks would never end; this one does, so that the test can fail.
    if (asked > 100) await new Promise(() => {});
    throw new Error('closed');
  };
  const known = producer.send([record(0)]).catch((fault: unknown) => fault);
  void producer.send([record(7)]).catch(() => {});
  await producer.close();
  expect(await known).toMatchObject({ code: 'not_sent' });
  first.resolve();
  await turn();
  expect(asked).toBe(1);
});

test('closing gives up what is not answered: unknown in flight, certainly not sent after it', async () => {
  const { producer } = producerWith({ closeTimeoutMs: 30 });
  const inFlight = producer.send([record(0)]);
  await turn();
  const waiting = producer.send([record(0)]);
  const both = Promise.allSettled([inFlight, waiting]);
  await producer.close();
  expect(await both).toMatchObject([
    { reason: { code: 'send_outcome_unknown' } },
    { reason: { code: 'not_sent' } },
  ]);
});

describe('the numbers of batches', () => {
  const limits = { maxSequence: 10, maxEpoch: 2 };
  const numbers = () => {
    const made = new BatchNumbers(limits);
    made.begin({ producerId: 7, epoch: 0 });
    return made;
  };

  test('follow each other in a partition', () => {
    const made = numbers();
    expect(made.stamp('t/0', 3)?.firstSequence).toBe(0);
    expect(made.stamp('t/1', 1)?.firstSequence).toBe(0);
    expect(made.stamp('t/0', 1)?.firstSequence).toBe(3);
  });

  test('begin again under the next epoch, before they run out and after a batch that was given up', () => {
    const made = numbers();
    const first = made.stamp('t/0', 11);
    expect(made.stamp('t/0', 1)).toEqual({
      identity: { producerId: 7, epoch: 1 },
      firstSequence: 0,
    });
    if (first !== null) made.retire(first.identity);
    expect(made.identity?.epoch).toBe(1);
    if (made.identity !== null) made.retire(made.identity);
    expect(made.stamp('t/1', 1)?.identity.epoch).toBe(2);
  });

  test('need a new producer id after the last epoch, and when the broker knows another state', () => {
    const [last, other] = [numbers(), numbers()];
    for (let times = 0; times < 3; times += 1) {
      if (last.identity !== null) last.retire(last.identity);
    }
    expect(last.stamp('t/0', 1)).toBeNull();
    if (other.identity !== null) other.retire(other.identity, true);
    expect(other.identity).toBeNull();
  });
});

describe('the queue', () => {
  const limits = {
    maxQueuedRecords: 5,
    maxQueuedBytes: 1_000,
    maxBatchRecords: 3,
    maxBatchBytes: 500,
  };
  const queueOf = (...sends: OutgoingRecord[][]) => {
    const queue = new SendQueue(limits);
    for (const records of sends) {
      const part = { records, bytes: bytesOf(records), resolve() {}, reject() {} };
      queue.reserve({ records: records.length, bytes: part.bytes });
      queue.push('t/0', part);
    }
    return queue;
  };
  const lengths = (queue: SendQueue) =>
    queue.take('t/0', { records: 0, bytes: 0 }).map(({ records }) => records.length);

  test('cuts batches between sends, never inside one', () => {
    const queue = queueOf([record(0), record(0)], [record(0), record(0)], [record(0)]);
    expect(lengths(queue)).toEqual([2]);
    expect(lengths(queue)).toEqual([2, 1]);
    expect([queue.records, queue.keys()]).toEqual([0, []]);
  });

  test('takes a send larger than a batch alone, and then the one behind it', () => {
    const queue = queueOf([record(0, 'x'.repeat(600))], [record(0), record(0)]);
    expect([lengths(queue), lengths(queue)]).toEqual([[1], [2]]);
    expect([queue.records, queue.keys()]).toEqual([0, []]);
  });

  test('leaves what does not fit into the rest of a request', () => {
    const queue = queueOf([record(0), record(0)]);
    expect(queue.take('t/0', { records: 2, bytes: 0 })).toEqual([]);
    expect(queue.records).toBe(2);
  });

  test('is bounded by records and by bytes', () => {
    const queue = queueOf([record(0), record(0), record(0)]);
    expect(queue.hasRoom({ records: 2, bytes: 100 })).toBe(true);
    expect(queue.hasRoom({ records: 3, bytes: 100 })).toBe(false);
    expect(queue.hasRoom({ records: 1, bytes: 950 })).toBe(false);
    expect(new SendQueue(limits).hasRoom({ records: 9, bytes: 9_000 })).toBe(true);
  });
});

test('a result names the first offset of each partition that it covers', () => {
  const partitions = [
    { partition: 0, baseOffset: '7' },
    { partition: 1, baseOffset: '-1' },
  ];
  expect([...firstOffsets({ topics: [{ topicName: 't', partitions }] })]).toEqual([['t/0', 7]]);
  expect(firstOffsets({}).size).toBe(0);
});

test('retries fill the time of a send, not more', () => {
  expect(
    retriesWithin({ ...defaultLimits, initialRetryMs: 10, maxRetryMs: 100, sendTimeoutMs: 350 }),
  ).toBe(6);
});

test('a batch that is given up while its broker is being connected is not sent after that, and the others are', async () => {
  const { producer, wire } = producerWith({
    sendTimeoutMs: 50,
    initialRetryMs: 1,
    leaderLookMs: 1,
  });
  const connected = createDeferred();
  wire.connected = connected.promise;
  const givenUp = producer.send([record(0, 'given up')]);
  await expect(givenUp).rejects.toMatchObject({ code: 'not_sent' });
  const again = producer.send([record(0, 'again')]);
  connected.resolve();
  await until(() => wire.requests.length === 1, 'the one that is not given up is sent');
  const sent = wire.requests.flatMap(({ batches }) => batches.flatMap(({ records }) => records));
  expect(sent.map(({ value }) => String(value))).toEqual(['again']);
  wire.requests[0]?.succeed();
  await again;
});

import type { Fault } from '../../src/fault/index.ts';
import {
  followCompacted,
  type LogClient,
  type LogReader,
  readRange,
} from '../../src/kafka/index.ts';
import { engineUrl } from '../engines.ts';
import { createDeferred, until } from './deferred.ts';
import { freshName, freshTopic, naiveKafka, outgoing, testClient, valuesOf } from './engine.ts';
import { FaultProxy } from './fault-proxy.ts';

jest.setTimeout(30_000);

let client: LogClient;

beforeEach(() => {
  client = testClient();
});

afterEach(() => client.close());

/** Values `first` .. `last - 1` in one send. */
async function fill(topic: string, first: number, last: number, partition = 0): Promise<void> {
  const producer = await client.producer();
  const values = Array.from({ length: last - first }, (_, index) => `${first + index}`);
  await producer.send(values.map((value) => outgoing(topic, partition, value)));
  await producer.close();
}

async function deleteBefore(topic: string, offset: number): Promise<void> {
  const admin = naiveKafka().admin();
  await admin.connect();
  try {
    // Loads the metadata that the next call needs and does not ask for itself.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: `${offset}` }] });
  } finally {
    await admin.disconnect();
  }
}

function numbers(first: number, last: number): string[] {
  return Array.from({ length: last - first }, (_, index) => `${first + index}`);
}

const noFault = (fault: Fault) => {
  throw fault;
};

describe('a reader of explicit partitions', () => {
  test('starts at the given offset, follows live records, and knows its lag', async () => {
    const topic = await freshTopic(client, { partitions: 2 });
    await fill(topic, 0, 10);
    const seen: string[] = [];
    const reader = await client.reader({
      topic,
      positions: new Map([
        [0, 4],
        [1, 0],
      ]),
      dense: true,
      onBatch: async ({ records }) => {
        seen.push(...valuesOf(records));
      },
      onFault: noFault,
    });
    await until(() => reader.position(0) === 10, 'it has read what was there');
    await fill(topic, 10, 12);
    await until(() => reader.position(0) === 12, 'it has read the live records');
    expect(seen).toEqual(numbers(4, 12));
    expect(reader.lagRecords(0)).toBe(0);
  });

  test('readers that share are fetched for together, and each gets its own records', async () => {
    const [one, other] = [await freshTopic(client), await freshTopic(client)];
    await fill(one, 0, 3);
    const seen = new Map<string, string[]>();
    const open = (topic: string, name: string) =>
      client.reader({
        topic,
        positions: new Map([[0, 0]]),
        dense: true,
        onBatch: async ({ records }) => {
          seen.set(name, [...(seen.get(name) ?? []), ...valuesOf(records)]);
        },
        onFault: noFault,
      });
    const first = await open(one, 'first');
    const second = await open(one, 'second');
    const third = await open(other, 'third');
    for (const reader of [first, second, third]) await reader.share();
    await fill(one, 3, 6);
    await fill(other, 0, 2);
    await until(() => seen.get('third')?.length === 2, 'the other topic is read');
    for (const name of ['first', 'second'])
      await until(() => seen.get(name)?.length === 6, `the ${name} reader has read all`);
    await first.close();
    await fill(one, 6, 8);
    await until(() => seen.get('second')?.length === 8, 'the others read on');
    expect(seen.get('first')).toEqual(numbers(0, 6));
    expect(seen.get('second')).toEqual(numbers(0, 8));
    await Promise.all([second.close(), third.close()]);
    const again = await open(other, 'again');
    await again.share();
    await fill(other, 2, 3);
    await until(() => seen.get('again')?.length === 3, 'the last one opens a fetcher again');
  });

  test('bare kafkajs: a slow partition holds up the others, whatever the concurrency', async () => {
    const topic = await freshTopic(client, { partitions: 2 });
    await fill(topic, 0, 1);
    const slow = createDeferred();
    const consumer = naiveKafka().consumer({ groupId: freshName('slow'), maxWaitTimeInMs: 100 });
    const seen: string[] = [];
    let slowCalls = 0;
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      partitionsConsumedConcurrently: 2,
      eachMessage: async ({ partition, message }) => {
        if (partition === 1) seen.push(String(message.value));
        else slowCalls += 1;
        if (partition === 0) await slow.promise;
      },
    });
    await until(() => slowCalls === 1, 'the slow handler runs');
    await fill(topic, 0, 10, 1);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(seen).toEqual([]);
    slow.resolve();
    await until(() => seen.length === 10, 'the others go on');
    await consumer.disconnect();
  });

  test('one batch at a time per partition; a slow partition holds up no other', async () => {
    const topic = await freshTopic(client, { partitions: 2 });
    const slow = createDeferred();
    const calls = { slow: 0 };
    const reader = await client.reader({
      topic,
      positions: new Map([
        [0, 0],
        [1, 0],
      ]),
      dense: true,
      onBatch: async ({ partition }) => {
        if (partition !== 0) return;
        calls.slow += 1;
        await slow.promise;
      },
      onFault: noFault,
    });
    await fill(topic, 0, 5);
    await until(() => calls.slow === 1, 'the slow handler runs');
    await fill(topic, 5, 10);
    for (let next = 0; next < 30; next += 10) {
      await fill(topic, next, next + 10, 1);
      await until(() => reader.position(1) === next + 10, 'the other partition goes on');
    }
    expect(calls.slow).toBe(1);
    expect(reader.position(0)).toBe(0);
    expect(reader.lagRecords(0)).toBeGreaterThanOrEqual(5);
    slow.resolve();
    await until(() => reader.position(0) === 10, 'the slow one catches up');
  });

  test('no batch starts after close', async () => {
    const topic = await freshTopic(client);
    await fill(topic, 0, 5);
    const running = createDeferred();
    let calls = 0;
    const reader = await client.reader({
      topic,
      positions: new Map([[0, 0]]),
      dense: true,
      onBatch: async () => {
        calls += 1;
        await running.promise;
      },
      onFault: noFault,
    });
    await until(() => calls === 1, 'a batch runs');
    await fill(topic, 5, 10);
    const closing = reader.close();
    running.resolve();
    await closing;
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(calls).toBe(1);
  });

  test('a handler that throws stops the reader with its fault', async () => {
    const topic = await freshTopic(client);
    await fill(topic, 0, 5);
    const faults: Fault[] = [];
    const reader = await client.reader({
      topic,
      positions: new Map([[0, 0]]),
      dense: true,
      onBatch: async () => {
        throw new RangeError('a bug');
      },
      onFault: (fault) => faults.push(fault),
    });
    await until(() => faults.length === 1, 'the fault is told');
    expect(faults[0]).toMatchObject({ code: 'handler_failed', reaction: 'stop' });
    expect(reader.position(0)).toBe(0);
  });
});

describe('offsets the broker no longer has', () => {
  test('refuses a first offset outside the log', async () => {
    const topic = await freshTopic(client);
    await fill(topic, 0, 10);
    await deleteBefore(topic, 5);
    const start = (from: number) =>
      client.reader({
        topic,
        positions: new Map([[0, from]]),
        dense: true,
        onBatch: async () => {},
        onFault: noFault,
      });
    await expect(start(4)).rejects.toMatchObject({ code: 'offset_out_of_range', reaction: 'stop' });
    await expect(start(11)).rejects.toMatchObject({ code: 'offset_out_of_range' });
    await expect(
      client.reader({
        topic,
        positions: new Map([[3, 0]]),
        dense: true,
        onBatch: async () => {},
        onFault: noFault,
      }),
    ).rejects.toMatchObject({ code: 'partition_unknown' });
  });

  test('bare kafkajs: jumps over the deleted records without an error', async () => {
    const topic = await freshTopic(client);
    await fill(topic, 0, 10);
    await deleteBefore(topic, 5);
    const consumer = naiveKafka().consumer({ groupId: freshName('jump'), maxWaitTimeInMs: 100 });
    const seen: string[] = [];
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    void consumer.run({
      autoCommit: false,
      eachMessage: async ({ message }) => {
        seen.push(message.offset);
      },
    });
    consumer.seek({ topic, partition: 0, offset: '2' });
    await until(() => seen.length === 5, 'it has read something');
    await consumer.disconnect();
    expect(seen).toEqual(numbers(5, 10));
  });

  test.each([true, false])(
    'stops when records vanish under it (dense: %s), never jumps',
    async (dense) => {
      const topic = await freshTopic(client);
      await fill(topic, 0, 5);
      const slow = createDeferred();
      const seen: string[] = [];
      const faults: Fault[] = [];
      const small = testClient({ limits: { maxBufferedRecords: 1 } });
      await small.reader({
        topic,
        positions: new Map([[0, 0]]),
        dense,
        onBatch: async ({ records }) => {
          seen.push(...valuesOf(records));
          await slow.promise;
        },
        onFault: (fault) => faults.push(fault),
      });
      await until(() => seen.length === 5, 'the first batch runs');
      await fill(topic, 5, 10);
      await deleteBefore(topic, 8);
      slow.resolve();
      await until(() => faults.length === 1, 'the fault is told');
      await fill(topic, 10, 12);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await small.close();
      expect(faults[0]).toMatchObject({
        code: 'offset_out_of_range',
        reaction: 'stop',
        facts: { position: 5, low: 8 },
      });
      expect(seen).toEqual(numbers(0, 5));
    },
  );
});

describe('progress', () => {
  test('a silent broker is reported as a stall, a quiet topic is not, and nothing is lost', async () => {
    const topic = await freshTopic(client);
    const proxy = await FaultProxy.open(engineUrl('KAFKA'));
    const behind = testClient({ limits: { stallMs: 2_000, requestTimeoutMs: 600 } }, proxy);
    const faults: Fault[] = [];
    const seen: string[] = [];
    await behind.reader({
      topic,
      positions: new Map([[0, 0]]),
      dense: true,
      onBatch: async ({ records }) => {
        seen.push(...valuesOf(records));
      },
      onFault: (fault) => faults.push(fault),
    });
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(faults).toEqual([]);
    proxy.stall(true);
    await until(() => faults.length === 1, 'the stall is told');
    expect(faults[0]).toMatchObject({ code: 'reader_stalled', reaction: 'retry' });
    await fill(topic, 0, 3);
    proxy.stall(false);
    await until(() => seen.length === 3, 'it goes on');
    expect(faults).toHaveLength(1);
    await behind.close();
    await proxy.close();
  });

  test('broken connections are opened again without a fault', async () => {
    const topic = await freshTopic(client);
    const proxy = await FaultProxy.open(engineUrl('KAFKA'));
    const behind = testClient({}, proxy);
    const seen: string[] = [];
    const reader: LogReader = await behind.reader({
      topic,
      positions: new Map([[0, 0]]),
      dense: true,
      onBatch: async ({ records }) => {
        seen.push(...valuesOf(records));
      },
      onFault: noFault,
    });
    for (let next = 0; next < 15; next += 5) {
      proxy.breakConnections();
      await fill(topic, next, next + 5);
      await until(() => reader.position(0) === next + 5, 'it has read on');
    }
    expect(seen).toEqual(numbers(0, 15));
    await behind.close();
    await proxy.close();
  });
});

describe('ranges and compacted topics', () => {
  test('reads exactly [from, to)', async () => {
    const topic = await freshTopic(client);
    await fill(topic, 0, 20);
    const seen: string[] = [];
    const range = (from: number, to: number) =>
      readRange(client, {
        topic,
        partition: 0,
        from,
        to,
        onBatch: async ({ records }) => {
          seen.push(...valuesOf(records));
        },
      });
    await range(3, 3);
    expect(seen).toEqual([]);
    await range(3, 11);
    expect(seen).toEqual(numbers(3, 11));
    await expect(range(3, 21)).rejects.toMatchObject({ code: 'offset_out_of_range' });
  });

  test('a range whose handler fails rejects with that failure', async () => {
    const topic = await freshTopic(client);
    await fill(topic, 0, 5);
    const failing = readRange(client, {
      topic,
      partition: 0,
      from: 0,
      to: 5,
      onBatch: () => Promise.reject(new Error('a bug')),
    });
    await expect(failing).rejects.toMatchObject({ code: 'handler_failed' });
  });

  test('follows a compacted topic from its start, then live', async () => {
    const topic = await freshTopic(client, { compacted: true, partitions: 2 });
    const producer = await client.producer();
    const put = (key: string, value: string | null, partition = 0) =>
      producer.send([
        {
          topic,
          partition,
          key: Buffer.from(key),
          value: value === null ? null : Buffer.from(value),
        },
      ]);
    await put('a', '1');
    await put('b', '1', 1);
    await put('a', '2');
    const state = new Map<string, string>();
    const reader = await followCompacted(client, {
      topic,
      onRecord: ({ key, value }) => {
        if (value === null) state.delete(String(key));
        else state.set(String(key), String(value));
      },
      onFault: noFault,
    });
    expect([...state].sort()).toEqual([
      ['a', '2'],
      ['b', '1'],
    ]);
    await put('a', null);
    await put('c', '3', 1);
    await until(() => state.has('c') && !state.has('a'), 'the live records are there');
    await reader.close();
  });

  test('following an empty topic is caught up at once', async () => {
    const topic = await freshTopic(client, { compacted: true });
    const reader = await followCompacted(client, { topic, onRecord: () => {}, onFault: noFault });
    expect(reader.position(0)).toBe(0);
  });
});

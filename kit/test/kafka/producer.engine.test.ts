import { Fault } from '../../src/fault/index.ts';
import type { LogClient, OutgoingRecord } from '../../src/kafka/index.ts';
import { engineUrl } from '../engines.ts';
import {
  contentsOf,
  freshTopic,
  naiveKafka,
  naivePartitioner,
  outgoing,
  testClient,
} from './engine.ts';
import { FaultProxy } from './fault-proxy.ts';

jest.setTimeout(30_000);

let direct: LogClient;
let proxy: FaultProxy;

beforeEach(async () => {
  direct = testClient();
  proxy = await FaultProxy.open(engineUrl('KAFKA'));
});

afterEach(async () => {
  await direct.close();
  await proxy.close();
});

const letters = ['A', 'B', 'C', 'D'];

describe('one lost response', () => {
  test('bare kafkajs: overlapping sends on an idempotent producer lose acknowledged records', async () => {
    const topic = await freshTopic(direct);
    const producer = naiveKafka(proxy).producer({
      idempotent: true,
      createPartitioner: naivePartitioner,
    });
    await producer.connect();
    void proxy.swallowProduceResponse();
    const sends = letters.map((value) =>
      producer.send({ topic, messages: [{ partition: 0, value }] }),
    );
    const results = await Promise.allSettled(sends);
    await producer.disconnect();
    expect(results.every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(await contentsOf(direct, topic)).not.toEqual(letters);
  });

  test('our producer keeps every record once and in order', async () => {
    const topic = await freshTopic(direct);
    const client = testClient({}, proxy);
    const producer = await client.producer();
    const swallowed = proxy.swallowProduceResponse();
    const sends: Promise<unknown>[] = [];
    for (const value of letters) {
      sends.push(producer.send([outgoing(topic, 0, value)]));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await swallowed;
    const places = await Promise.all(sends);
    await client.close();
    expect(places).toEqual(letters.map((_, offset) => [{ partition: 0, offset }]));
    expect(await contentsOf(direct, topic)).toEqual(letters);
  });
});

describe('a partition added after the producer knew the topic', () => {
  async function addPartition(topic: string): Promise<void> {
    const admin = naiveKafka().admin();
    await admin.connect();
    await admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] });
    await admin.disconnect();
  }

  test('bare kafkajs: resolves and writes nothing', async () => {
    const topic = await freshTopic(direct);
    const producer = naiveKafka().producer({
      idempotent: true,
      createPartitioner: naivePartitioner,
    });
    await producer.connect();
    await producer.send({ topic, messages: [{ partition: 0, value: 'first' }] });
    await addPartition(topic);
    const result = await producer.send({ topic, messages: [{ partition: 1, value: 'lost' }] });
    await producer.disconnect();
    expect(result).toEqual([]);
    expect(await contentsOf(direct, topic, 1)).toEqual([]);
  });

  test('our producer asks for fresh metadata and writes it', async () => {
    const topic = await freshTopic(direct);
    const producer = await direct.producer();
    await producer.send([outgoing(topic, 0, 'first')]);
    await addPartition(topic);
    const places = await producer.send([outgoing(topic, 1, 'kept'), outgoing(topic, 0, 'second')]);
    expect(places).toEqual([
      { partition: 1, offset: 0 },
      { partition: 0, offset: 1 },
    ]);
    expect(await contentsOf(direct, topic, 1)).toEqual(['kept']);
  });

  test('an unknown partition is refused and delays no other', async () => {
    const topic = await freshTopic(direct);
    const producer = await direct.producer();
    const refused = producer.send([outgoing(topic, 7, 'nowhere')]);
    const unknownTopic = producer.send([outgoing('t-no-such-topic', 0, 'nowhere')]);
    const kept = producer.send([outgoing(topic, 0, 'kept')]);
    expect(await Promise.allSettled([refused, unknownTopic])).toMatchObject([
      { reason: { code: 'partition_unknown', reaction: 'retry' } },
      { reason: { code: 'partition_unknown' } },
    ]);
    expect(await kept).toEqual([{ partition: 0, offset: 0 }]);
  });
});

describe('answers that never come', () => {
  const limits = { requestTimeoutMs: 300, sendTimeoutMs: 1_000, maxRetryMs: 100 };

  test('bare kafkajs: the records after a failed send take its sequence numbers and vanish', async () => {
    const topic = await freshTopic(direct);
    const kafka = naiveKafka(proxy);
    const producer = kafka.producer({
      idempotent: true,
      createPartitioner: naivePartitioner,
      retry: { retries: 1 },
    });
    await producer.connect();
    void proxy.swallowProduceResponse();
    void proxy.swallowProduceResponse();
    await expect(
      producer.send({ topic, messages: [{ partition: 0, value: 'unknown' }] }),
    ).rejects.toThrow();
    await producer.send({ topic, messages: [{ partition: 0, value: 'lost' }] });
    await producer.disconnect();
    expect(await contentsOf(direct, topic)).toEqual(['unknown']);
  });

  test('the outcome is unknown within the bound, waiting sends were not sent, later sends are kept', async () => {
    const topic = await freshTopic(direct);
    const client = testClient({ limits }, proxy);
    const producer = await client.producer();
    await producer.send([outgoing(topic, 0, 'first')]);
    proxy.dropProduceResponses(true);
    const unknown = producer.send([outgoing(topic, 0, 'unknown')]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const behind = producer.send([outgoing(topic, 0, 'behind')]);
    expect(await Promise.allSettled([unknown, behind])).toMatchObject([
      { reason: { code: 'send_outcome_unknown', reaction: 'release' } },
      { reason: { code: 'not_sent', reaction: 'retry' } },
    ]);
    proxy.dropProduceResponses(false);
    await producer.send([outgoing(topic, 0, 'later')]);
    // An abandoned producer must not come back with its records.
    await new Promise((resolve) => setTimeout(resolve, 500));
    await client.close();
    expect(await contentsOf(direct, topic)).toEqual(['first', 'unknown', 'later']);
  });
});

describe('batching', () => {
  test('what waits goes into few sends, in order, and every place is true', async () => {
    const topic = await freshTopic(direct, { partitions: 3 });
    const client = testClient({}, proxy);
    const producer = await client.producer();
    const records = Array.from({ length: 3_000 }, (_, index) =>
      outgoing(topic, index % 3, `${index}`),
    );
    const places = await Promise.all(records.map((record) => producer.send([record])));
    await client.close();
    expect(proxy.produceRequests).toBeLessThan(10);
    const logs = await Promise.all(
      [0, 1, 2].map((partition) => contentsOf(direct, topic, partition)),
    );
    const found = places.map(([place]) => logs[place?.partition ?? -1]?.[place?.offset ?? -1]);
    expect(found).toEqual(records.map((record) => String(record.value)));
  });

  test('a full queue refuses at once and loses nothing it took', async () => {
    const topic = await freshTopic(direct);
    const producer = await direct.producer({ maxQueuedRecords: 10 });
    const records: OutgoingRecord[] = Array.from({ length: 20 }, (_, index) =>
      outgoing(topic, 0, `${index}`),
    );
    const results = await Promise.allSettled(records.map((record) => producer.send([record])));
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(10);
    for (const result of refused)
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ code: 'queue_full', reaction: 'retry' });
    expect(await contentsOf(direct, topic)).toEqual(
      records.slice(0, 10).map((record) => String(record.value)),
    );
  });

  test('closing waits for what was taken and refuses what comes later', async () => {
    const topic = await freshTopic(direct);
    const producer = await direct.producer();
    const last = producer.send([outgoing(topic, 0, 'last')]);
    await producer.close();
    expect(await last).toEqual([{ partition: 0, offset: 0 }]);
    await expect(producer.send([outgoing(topic, 0, 'late')])).rejects.toBeInstanceOf(Fault);
  });
});

import { randomUUID } from 'node:crypto';
import { createClient } from '@clickhouse/client';
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { Redis } from 'ioredis';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { engineUrl } from '../../../kit/test/engines.ts';

jest.setTimeout(60_000);

const prefix = `t${randomUUID().slice(0, 8)}`;

describe('the engines under test', () => {
  it('carry a large record through Kafka', async () => {
    const kafka = new Kafka({ brokers: [engineUrl('KAFKA')], logLevel: logLevel.ERROR });
    const admin = kafka.admin();
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await admin.connect();
    await producer.connect();
    const topic = `${prefix}-large`;
    await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: 2 }] });
    const value = Buffer.alloc(12 * 1024 * 1024, 7);
    await producer.send({ topic, acks: -1, messages: [{ partition: 1, value }] });
    const ends = await admin.fetchTopicOffsets(topic);
    expect(ends.map(({ partition, high }) => [partition, high]).sort()).toEqual([
      [0, '0'],
      [1, '1'],
    ]);
    await producer.disconnect();
    await admin.disconnect();
  });

  it('register a schema and decode with it', async () => {
    const registry = new SchemaRegistry({ host: engineUrl('REGISTRY') });
    const fields = [{ name: 'x', type: 'long' }];
    const schema = JSON.stringify({ type: 'record', name: 'A', namespace: prefix, fields });
    const { id } = await registry.register(
      { type: SchemaType.AVRO, schema },
      { subject: `${prefix}-value` },
    );
    expect(await registry.decode(await registry.encode(id, { x: 5 }))).toEqual({ x: 5 });
  });

  it('keep rows in ClickHouse', async () => {
    const client = createClient({
      url: engineUrl('CLICKHOUSE'),
      username: 'pm_writer',
      database: 'pm',
    });
    await client.command({
      query: `CREATE TABLE ${prefix} (a UInt8) ENGINE = MergeTree ORDER BY a`,
    });
    await client.insert({ table: prefix, values: [{ a: 1 }], format: 'JSONEachRow' });
    const answer = await client.query({ query: `SELECT a FROM ${prefix}`, format: 'JSONEachRow' });
    expect(await answer.json()).toEqual([{ a: 1 }]);
    await client.close();
  });

  it('keep values in Redis and never evict', async () => {
    const redis = new Redis(engineUrl('REDIS'));
    await redis.set(prefix, 'v');
    expect(await redis.get(prefix)).toBe('v');
    expect(await redis.config('GET', 'maxmemory-policy')).toEqual([
      'maxmemory-policy',
      'noeviction',
    ]);
    expect(await redis.config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
    redis.disconnect();
  });
});

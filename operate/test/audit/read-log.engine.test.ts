import { openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRecordCodec } from '@pm/kit/registry';
import { toAvroJson } from '@pm/schemas/avro/schema';
import { walletFromBytes } from '@pm/schemas/ids';
import { topics } from '@pm/schemas/log/topics';
import { engineUrl } from '../../../kit/test/engines.ts';
import { ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import { sumTransfers } from '../../src/audit/read-log.ts';

const topicPrefix = `read_log_${process.pid}-`;
const topic = `${topicPrefix}${topics.transfers.name}`;
const client = openLogClient({
  brokers: [engineUrl('KAFKA')],
  clientId: 'read-log',
  log: silentLog,
});

afterAll(() => client.close());

test('transfers are summed over records of every version of their schema', async () => {
  const admin = await client.admin();
  const kept = { replicationFactor: 1, minInSyncReplicas: 1, retentionMs: -1, partitions: 1 };
  const { compacted, maxMessageBytes } = topics.transfers;
  await admin.ensureTopics([{ name: topic, compacted, maxMessageBytes, ...kept }]);
  const schemas = ownSchemas();
  const { value: schema } = topics.transfers;
  const earlier = { ...topics.transfers, value: { ...schema, doc: 'Of an earlier version.' } };
  const { name } = topics.transfers;
  const json = { ...(toAvroJson(earlier.value) as object), aliases: ['EarlierTransfer'] };
  schemas.learn({ topic: name, schemaId: 1_000, schema: JSON.stringify(json) });
  const older = openRecordCodec(earlier.value, 1_000, async () => null);
  const newer = await schemas.codecFor(topics.transfers);
  const producer = await client.producer();
  const wallet = Buffer.alloc(20, 5);
  const amounts = [70, -30, 2];
  for (const [index, amountMicro] of amounts.entries()) {
    const transferId = Buffer.alloc(32, index + 1);
    const codec = index === 2 ? newer : older;
    const value = codec.encode({ transferId, wallet, amountMicro, timeMs: 1, generation: 0 });
    await producer.send([{ topic, partition: 0, key: wallet, value }]);
  }
  const sums = await sumTransfers({ client, schemas, topicPrefix });
  expect(sums.get(walletFromBytes(wallet))).toBe(42);
});

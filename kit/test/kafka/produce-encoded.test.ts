import { setImmediate as turn } from 'node:timers/promises';
import { openLogClient } from '../../src/kafka/index.ts';
import { defaultLimits } from '../../src/kafka/limits.ts';
import { NotReached } from '../../src/kafka/not-reached.ts';
import { type EncodingBroker, sendEncoded } from '../../src/kafka/produce-encoded.io.ts';
import { RequestMemory } from '../../src/kafka/request-memory.ts';
import { silentLog } from '../../src/log/index.ts';
import { ScriptedBrokers } from './scripted-brokers.ts';

test('requests on one connection arrive whole, whatever their size and the order of answers', async () => {
  const brokers = await ScriptedBrokers.open([1]);
  brokers.topic('t', [1, 1, 1]);
  const limits = { ...defaultLimits, maxBatchRecords: 3 };
  const client = openLogClient({
    brokers: brokers.addresses,
    clientId: 'test',
    log: silentLog,
    limits,
  });
  try {
    const producer = await client.producer();
    const sizes = [1, 70, 9_000, 300_000, 5, 1_000_000, 0];
    const sent = sizes.flatMap((size, at) =>
      [0, 1, 2].map((partition) => ({
        topic: 't',
        partition,
        key: Buffer.from(`k${at}`),
        value: Buffer.alloc(size, 97 + at),
      })),
    );
    await Promise.all(sent.map((record) => producer.send([record])));
    for (const partition of [0, 1, 2])
      expect(brokers.partition('t', partition).values).toEqual(
        sent.filter((one) => one.partition === partition).map(({ value }) => String(value)),
      );
  } finally {
    await client.close();
    await brokers.close();
  }
});

test('memory of a request is used again after an answer only: a lost one may still be on its way', async () => {
  const givenBack = jest.spyOn(RequestMemory.prototype, 'giveBack');
  const brokers = await ScriptedBrokers.open([1]);
  brokers.topic('t', [1]);
  const client = openLogClient({ brokers: brokers.addresses, clientId: 'test', log: silentLog });
  const counts: number[] = [];
  brokers.onProduce = (step) => {
    counts.push(givenBack.mock.calls.length);
    if (counts.length === 1) step.drop();
    else step.answer(step.append());
  };
  try {
    const producer = await client.producer();
    const record = { topic: 't', partition: 0, key: null, value: Buffer.from('v') };
    await producer.send([record]);
    await producer.send([record]);
    expect(counts).toEqual([0, 0, 1]);
    expect(givenBack).toHaveBeenCalledTimes(2);
  } finally {
    givenBack.mockRestore();
    await client.close();
    await brokers.close();
  }
});

test('a broker that is older than the layout gets nothing', async () => {
  const broker = {
    connectionPool: { getConnectionByRequest: () => Promise.reject(new Error('was asked')) },
    lookupRequest: () => () => ({ request: { apiVersion: 2, encode: turn }, response: null }),
    async produce(this: EncodingBroker) {
      const { request } = this.lookupRequest(0, null)({});
      await request.encode();
    },
  };
  await expect(sendEncoded(broker as never, Buffer.alloc(10))).rejects.toBeInstanceOf(NotReached);
});

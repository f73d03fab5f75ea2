import { setTimeout as pause } from 'node:timers/promises';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { type LogClient, type LogProducer, openLogClient } from '../../src/kafka/index.ts';
import type { LogClientLimits } from '../../src/kafka/limits.ts';
import { silentLog } from '../../src/log/index.ts';
import { createDeferred, until } from './deferred.ts';
import { type ProduceStep, ScriptedBrokers } from './scripted-brokers.ts';

let brokers: ScriptedBrokers;
let clients: LogClient[] = [];

beforeEach(async () => {
  brokers = await ScriptedBrokers.open([1, 2]);
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
  await brokers.close();
});

async function ourProducer(limits: Partial<LogClientLimits> = {}): Promise<LogProducer> {
  const client = openLogClient({
    brokers: brokers.addresses,
    clientId: 'test',
    log: silentLog,
    limits: { closeTimeoutMs: 200, ...limits },
  });
  clients.push(client);
  return client.producer();
}

/** One that knows the partitions already, so that what is sent together goes together. */
async function warmProducer(partitions: number): Promise<LogProducer> {
  const producer = await ourProducer();
  const all = Array.from({ length: partitions }, (_, partition) => record(partition, 'warm'));
  await producer.send(all);
  return producer;
}

async function bareProducer() {
  const kafka = new Kafka({
    brokers: [...brokers.addresses],
    clientId: 'bare',
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 10, retries: 10 },
  });
  const producer = kafka.producer({
    idempotent: true,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  return producer;
}

function record(partition: number, value: string) {
  return { topic: 't', partition, key: null, value: Buffer.from(value) };
}

const values = (partition: number) => brokers.partition('t', partition).values;

/**
 * Broker 1 appends, and dies once broker 2 has answered for its own partition of the same send; broker 2 then leads
 * both.
 */
function leaderDiesAfterAppending(): void {
  brokers.topic('t', [1, 2]);
  const otherAnswered = createDeferred();
  brokers.onProduce = (step) => {
    const results = step.append();
    if (step.node !== 1) {
      step.answer(results);
      otherAnswered.resolve();
      return;
    }
    void otherAnswered.promise.then(() => {
      brokers.partition('t', 0).leader = 2;
      brokers.kill(1);
    });
  };
}

describe('a leader dies after it has appended, and leads to a broker that has already answered', () => {
  test('bare kafkajs: the result lacks the partition, and the next record of it is acknowledged and lost', async () => {
    leaderDiesAfterAppending();
    const producer = await bareProducer();
    const both = [0, 1].map((partition) => ({ partition, value: `first ${partition}` }));
    const result = await producer.send({ topic: 't', messages: both });
    expect(result.map(({ partition }) => partition)).toEqual([1]);
    expect(values(0)).toEqual(['first 0']);
    const next = await producer.send({ topic: 't', messages: [{ partition: 0, value: 'lost' }] });
    await producer.disconnect();
    expect(next).toMatchObject([{ partition: 0, errorCode: 0, baseOffset: '0' }]);
    expect(values(0)).toEqual(['first 0']);
  });

  test('our producer gets the place of every record, and each is there once', async () => {
    leaderDiesAfterAppending();
    const producer = await ourProducer();
    const places = await producer.send([record(0, 'first 0'), record(1, 'first 1')]);
    expect(places).toEqual([
      { partition: 0, offset: 0 },
      { partition: 1, offset: 0 },
    ]);
    expect(await producer.send([record(0, 'kept')])).toEqual([{ partition: 0, offset: 1 }]);
    expect([values(0), values(1)]).toEqual([['first 0', 'kept'], ['first 1']]);
  });
});

describe('a lane per leader', () => {
  test('one request holds the partitions of one leader, and one is in flight for each', async () => {
    brokers.topic('t', [1, 2, 1, 2]);
    const producer = await warmProducer(4);
    const steps: ProduceStep[] = [];
    brokers.onProduce = (step) => void steps.push(step);
    const sent = [0, 1, 2, 3].map((partition) => producer.send([record(partition, 'a')]));
    await until(() => steps.length === 2, 'both leaders have a request');
    const later = [0, 1].map((partition) => producer.send([record(partition, 'b')]));
    await pause(30);
    expect(steps.map(({ node, batches }) => [node, batches.map((one) => one.partition)])).toEqual(
      expect.arrayContaining([
        [1, [0, 2]],
        [2, [1, 3]],
      ]),
    );
    expect(steps).toHaveLength(2);
    brokers.onProduce = (step) => step.answer(step.append());
    for (const step of steps) step.answer(step.append());
    await Promise.all([...sent, ...later]);
    expect([0, 1, 2, 3].map(values)).toEqual([
      ['warm', 'a', 'b'],
      ['warm', 'a', 'b'],
      ['warm', 'a'],
      ['warm', 'a'],
    ]);
  });

  test('a leader that does not answer holds up its own partitions only', async () => {
    brokers.topic('t', [1, 2]);
    brokers.onProduce = (step) => {
      if (step.node === 2) step.answer(step.append());
    };
    const producer = await ourProducer({ sendTimeoutMs: 400 });
    const stuck = producer.send([record(0, 'stuck')]);
    const failed = expect(stuck).rejects.toMatchObject({ code: 'send_outcome_unknown' });
    for (const value of ['a', 'b', 'c']) await producer.send([record(1, value)]);
    expect(values(1)).toEqual(['a', 'b', 'c']);
    await failed;
  });

  test('a partition that a broker refuses fails alone', async () => {
    brokers.topic('t', [1, 1]);
    const producer = await warmProducer(2);
    const tooLarge = 10;
    const together: number[] = [];
    brokers.onProduce = (step) => {
      together.push(step.batches.length);
      step.answer(
        step.batches.map((batch) =>
          batch.partition === 0
            ? { topic: 't', partition: 0, errorCode: tooLarge, baseOffset: -1 }
            : { topic: 't', partition: 1, ...brokers.partition('t', 1).append(batch) },
        ),
      );
    };
    const [refused, kept] = await Promise.allSettled(
      [0, 1].map((partition) => producer.send([record(partition, 'a')])),
    );
    expect(refused).toMatchObject({
      reason: { code: 'send_outcome_unknown', facts: { type: 'MESSAGE_TOO_LARGE' } },
    });
    expect(kept).toMatchObject({ value: [{ partition: 1, offset: 1 }] });
    expect(values(1)).toEqual(['warm', 'a']);
    expect(together).toEqual([2, 1, 1]);
  });
});

test('a result that lacks a partition is an unknown outcome of that partition', async () => {
  brokers.topic('t', [1, 1]);
  const producer = await warmProducer(2);
  brokers.onProduce = (step) =>
    step.answer(step.append().filter(({ partition }) => partition !== 0));
  const both = [0, 1].map((partition) => producer.send([record(partition, 'a')]));
  expect(await Promise.allSettled(both)).toMatchObject([
    { reason: { code: 'send_outcome_unknown', reaction: 'release' } },
    { value: [{ partition: 1, offset: 1 }] },
  ]);
});

test('a leader that lost its partition after the append: the new one knows the batch', async () => {
  brokers.topic('t', [1]);
  const notLeader = 6;
  brokers.onProduce = (step) => {
    const results = step.append();
    const isFirst = brokers.partition('t', 0).leader === 1;
    brokers.partition('t', 0).leader = 2;
    step.answer(isFirst ? results.map((one) => ({ ...one, errorCode: notLeader })) : results);
  };
  const producer = await ourProducer();
  expect(await producer.send([record(0, 'once')])).toEqual([{ partition: 0, offset: 0 }]);
  expect(values(0)).toEqual(['once']);
});

test('a batch that was given up is never appended after a later one', async () => {
  brokers.topic('t', [1]);
  const held: ProduceStep[] = [];
  brokers.onProduce = (step) => void held.push(step);
  const producer = await ourProducer({ requestTimeoutMs: 100, sendTimeoutMs: 300 });
  await expect(producer.send([record(0, 'given up')])).rejects.toMatchObject({
    code: 'send_outcome_unknown',
  });
  brokers.onProduce = (step) => step.answer(step.append());
  expect(await producer.send([record(0, 'later')])).toEqual([{ partition: 0, offset: 0 }]);
  expect(held.length).toBeGreaterThan(0);
  for (const step of held) expect(step.append()).toMatchObject([{ errorCode: 47 }]);
  expect(values(0)).toEqual(['later']);
});

test('a broker that refuses before it appends has certainly not written', async () => {
  brokers.topic('t', [1]);
  const tooLarge = 10;
  brokers.onProduce = (step) =>
    step.answer([{ topic: 't', partition: 0, errorCode: tooLarge, baseOffset: -1 }]);
  const producer = await ourProducer();
  await expect(producer.send([record(0, 'too large')])).rejects.toMatchObject({ code: 'not_sent' });
  brokers.onProduce = (step) => step.answer(step.append());
  expect(await producer.send([record(0, 'small')])).toEqual([{ partition: 0, offset: 0 }]);
});

test('what never left this process was certainly not sent', async () => {
  brokers.topic('t', [1]);
  const producer = await ourProducer({ sendTimeoutMs: 400 });
  await producer.send([record(0, 'first')]);
  brokers.kill(1);
  await pause(50);
  await expect(producer.send([record(0, 'nowhere')])).rejects.toMatchObject({ code: 'not_sent' });
  expect(values(0)).toEqual(['first']);
});

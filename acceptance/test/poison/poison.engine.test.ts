import { testAccounts } from '@pm/deploy/demo/wallets';
import { findInstallation } from '@pm/deploy/installation/addresses';
import { openInstallation } from '@pm/deploy/installation/open';
import { loopback } from '@pm/deploy/local/ports';
import { type LogProducer, type OutgoingRecord, readRange } from '@pm/kit/kafka';
import { topicName } from '@pm/kit/registry';
import { checkSeals } from '@pm/operate/audit/seals';
import { type Topic, topics } from '@pm/schemas/log/topics';
import { Dice } from '../../../kit/test/hostile/dice.ts';
import { firstSeed, runLength } from '../../../kit/test/long-runs.ts';
import { expectCleanAudit, variablesOfWhole } from '../clean-audit.ts';
import { WholeExchange } from '../whole-exchange.ts';
import { type PoisonPlace, poisonRecord } from './poison-record.ts';

// Records that no service writes, on every topic but one (docs/testing.md).
const records = runLength({ test: 1_000, deep: 100_000 });
const seed = firstSeed(20_261_124);
const partitions = 2;
/** Between two orders that must be booked. */
const perRound = 1_000;
const perSend = 100;
/** Records larger than this are sent alone, bytes: what is sent together is one batch of a partition, below 1 MiB. */
const aloneBytes = 8_000;
const goodMax = 20;
const usualMaxBytes = 4_000;
const services = ['matcher', 'projectors', 'ingress', 'operator', 'query-api', 'streams'];
/**
 * Left out is `executions`: its readers stop at a record that they cannot read, since one that is passed over may be a
 * fill (docs/decisions.md).
 */
const poisoned = Object.values(topics).filter((topic: Topic) => topic !== topics.executions);

let exchange: WholeExchange;
let producer: LogProducer;
const dice = new Dice(seed);
const sent = new Map<string, number>();

beforeAll(async () => {
  const markets = [0, 1, 2].map((index) => ({
    slug: `poison-${index}`,
    question: `Poison ${index}?`,
    minOrderSize: '1',
  }));
  const events = [{ slug: 'poison', title: 'Poison', markets }];
  exchange = await WholeExchange.open('poison', { partitions, events });
  await exchange.deposit(testAccounts().slice(0, 2), '1000');
  producer = await exchange.log.client.producer();
}, 240_000);

afterAll(async () => {
  await producer?.close();
  await exchange?.close();
}, 60_000);

/** A buy and a sell that meet, an order that rests, its cancel: each must come through. */
async function trade(): Promise<void> {
  const [buyer, seller] = testAccounts()
    .slice(0, 2)
    .map((signer) => exchange.client(signer));
  if (buyer === undefined || seller === undefined) throw new Error('two wallets');
  await Promise.all([buyer.connect(), seller.connect()]);
  for (const { tokenIds } of exchange.markets) {
    const [tokenId = '', otherId = ''] = tokenIds;
    const rests = await buyer.placeOrder({ tokenId, side: 'BUY', price: '0.50', size: '2' });
    expect(rests).toMatchObject({ success: true, status: 'live' });
    const meets = await seller.placeOrder({
      tokenId: otherId,
      side: 'BUY',
      price: '0.50',
      size: '1',
    });
    expect(meets).toMatchObject({ success: true, status: 'matched' });
    expect((await buyer.cancelAll()).canceled).toEqual([rests.orderID]);
  }
}

async function newestValues(topic: Topic): Promise<readonly Buffer[]> {
  const { client, topicPrefix } = exchange.log;
  const name = topicName(topic, topicPrefix);
  const admin = await client.admin();
  const bounds = await admin.bounds(name).finally(() => admin.close());
  const found: Buffer[] = [];
  for (const [partition, { low, high }] of bounds) {
    const from = Math.max(low, high - goodMax);
    const range = { topic: name, partition, from, to: high, dense: false };
    await readRange(client, {
      ...range,
      onBatch: async (batch) => {
        // Poison of an earlier round is among them, and would grow with each that makes its own of it.
        for (const { value } of batch.records)
          if (value !== null && value.length < usualMaxBytes) found.push(value);
      },
    });
  }
  return found;
}

async function places(): Promise<readonly PoisonPlace[]> {
  const values = new Map<Topic, readonly Buffer[]>();
  for (const topic of poisoned) values.set(topic, await newestValues(topic));
  return poisoned.map((topic) => ({
    topic,
    name: topicName(topic, exchange.log.topicPrefix),
    partitions: topic.partitions === 'single' ? 1 : partitions,
    good: values.get(topic) ?? [],
    foreign: [...values].flatMap(([other, some]) => (other === topic ? [] : some.slice(0, 3))),
  }));
}

async function append(batch: readonly OutgoingRecord[]): Promise<void> {
  const isLarge = ({ value }: OutgoingRecord) => (value?.length ?? 0) > aloneBytes;
  await producer.send(batch.filter((record) => !isLarge(record)));
  for (const record of batch.filter(isLarge)) await producer.send([record]);
  for (const { topic } of batch) sent.set(topic, (sent.get(topic) ?? 0) + 1);
}

const health = () =>
  exchange.processes.map(({ name, state, restarts }) => [name, state, restarts] as const);

test('poison records on every topic but executions stop nothing, and orders between them are booked', async () => {
  await trade();
  for (let count = 0; count < records; count += perRound) {
    const all = await places();
    for (let inRound = 0; inRound < Math.min(perRound, records - count); inRound += perSend) {
      await append(Array.from({ length: perSend }, () => poisonRecord(dice.pick(all), dice)));
    }
    await trade();
  }
  process.stderr.write(`poison: seed ${seed}, ${JSON.stringify([...sent])}\n`);
  expect([...sent.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(records);
  const ill = health().filter(([, state, restarts]) => state !== 'ready' || restarts > 0);
  const deaths = exchange.progress.filter((line) => line.includes(' died'));
  expect({ ill, deaths }).toEqual({ ill: [], deaths: [] });
}, 3_600_000);

const sentTo = (topic: Topic): number => sent.get(topicName(topic, exchange.log.topicPrefix)) ?? 0;

test('each of them is counted: by the matcher, and by the readers of sealed topics', async () => {
  const url = `http://${loopback}:${exchange.ports.matcherOps}/metrics`;
  const rows = (await (await fetch(url)).text()).matchAll(
    /^pm_matcher_rejected_records_total\{.*\} (\d+)$/gm,
  );
  const rejected = [...rows].reduce((sum, [, count]) => sum + Number(count), 0);
  expect(rejected).toBeGreaterThanOrEqual(sentTo(topics.orders));
  const installation = openInstallation(
    await findInstallation(variablesOfWhole(exchange), ''),
    'poison',
  );
  const { unproven } = await checkSeals(installation).finally(() => installation.close());
  const [, more = '0'] = /^and (\d+) more$/.exec(unproven.at(-1) ?? '') ?? [];
  const named = unproven.filter((line) => !line.startsWith('and ')).length;
  const sealed = poisoned.filter((topic: Topic) => topic.writers !== undefined);
  // The keys of services are read once more, to judge the other topics.
  const wanted = sealed.reduce((sum, topic) => sum + sentTo(topic), sentTo(topics.serviceKeys));
  expect(named + Number(more)).toBe(wanted);
}, 300_000);

test('every service starts again over them, and the audit finds the log, tables and ledger right', async () => {
  // All at once: each start reads the topics by itself.
  await Promise.all(services.map((name) => exchange.kill(name)));
  await trade();
  await expectCleanAudit(exchange, seed);
}, 600_000);

import { testAccounts } from '@pm/deploy/demo/wallets';
import { setUpExchange } from '@pm/deploy/setup/exchange-setup';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { topics } from '@pm/schemas/log/topics';
import type { Admin } from 'kafkajs';
import { naiveKafka } from '../../../kit/test/kafka/engine.ts';
import { expectCleanAudit } from '../clean-audit.ts';
import { namesOf } from '../services-under-test.ts';
import { openTraders } from '../traders.ts';
import { eventOf, type ListedMarket, untilNone, WholeExchange } from '../whole-exchange.ts';

const seed = 20_261_130;
const before = 2;
const after = 4;
/** Partitions that are added; the last one has records before set-up opens it. */
const added = [2, 3];
const retry = { firstPauseMs: 100, longestPauseMs: 2_000, totalMs: 60_000 };
const thinkMs = { least: 150, most: 600 };
/** Longest waits for what comes by itself: many times what it takes on a machine of its own, milliseconds. */
const knownMaxMs = 180_000;

let exchange: WholeExchange;
let admin: Admin;
let load: Awaited<ReturnType<typeof openTraders>>;
const markets: ListedMarket[] = [];

beforeAll(async () => {
  exchange = await WholeExchange.open('grown', {
    partitions: before,
    events: [eventOf('grown', 2 * before)],
  });
  admin = naiveKafka().admin();
  await admin.connect();
  const accounts = testAccounts().slice(0, 3);
  await exchange.deposit(accounts, '5000');
  const baseUrlOf = () => exchange.baseUrls[0];
  const seeds = { orders: seed, pauses: seed + 100 };
  load = await openTraders(exchange, { accounts, baseUrlOf, seeds, retry, thinkMs });
}, 900_000);

afterAll(async () => {
  await load?.stop().catch(() => {});
  await admin?.disconnect();
  await exchange?.close();
}, 90_000);

const nameOf = ({ name }: { readonly name: string }) => `${exchange.name}-${name}`;

/** Records of `orders` in each of the added partitions. */
async function recordsInAdded(): Promise<readonly number[]> {
  const offsets = await admin.fetchTopicOffsets(nameOf(topics.orders));
  const high = new Map(offsets.map((one) => [one.partition, Number(one.high)]));
  return added.map((partition) => high.get(partition) ?? -1);
}

async function statusAt(port: number, path = 'status'): Promise<Record<string, never>> {
  const response = await fetch(`http://127.0.0.1:${port}/${path}`);
  return (await response.json()) as Record<string, never>;
}

/** The partitions that were added and that a program does not report as they should be. */
async function missingAt(
  port: number,
  isRight: (one: Record<string, unknown>) => boolean,
): Promise<readonly string[]> {
  const { partitions } = (await statusAt(port).catch(() => ({ partitions: [] }))) as {
    partitions: readonly (Record<string, unknown> & { partition: number })[];
  };
  const right = partitions.filter(isRight).map(({ partition }) => partition);
  return added.filter((partition) => !right.includes(partition)).map(String);
}

let events = 0;

/** Lists four more markets and adds them to those that are traded here. */
async function list(): Promise<readonly ListedMarket[]> {
  events += 1;
  const { markets: listed } = await exchange.operator.importEvents([eventOf(`more-${events}`, 4)]);
  markets.push(...listed);
  return listed;
}

/** An order rests in each market, is in its book, and is canceled with all others. */
async function tradeIn(listed: readonly ListedMarket[]): Promise<void> {
  const signer = testAccounts()[5];
  if (signer === undefined) throw new Error('no account');
  await exchange.deposit([signer], '100');
  const client = exchange.client(signer, { retry });
  await client.connect();
  const placed: string[] = [];
  for (const { tokenIds } of listed) {
    const [tokenId = ''] = tokenIds;
    const order = await client.placeOrder({ tokenId, side: 'BUY', price: '0.10', size: '1' });
    expect(order).toMatchObject({ success: true, status: 'live' });
    placed.push(order.orderID);
    const inBook = async () => {
      const { bids } = await client.book(tokenId);
      return bids.length === 0 ? [tokenId] : [];
    };
    await untilNone('a book', inBook, knownMaxMs);
  }
  const { canceled } = await client.cancelAll();
  expect([...canceled].sort()).toEqual([...placed].sort());
}

const isIn = (partitions: readonly number[]) => (market: ListedMarket) =>
  partitions.includes(market.partition);

test('partitions that are added under load are named, and get no market and no record', async () => {
  for (const topic of [topics.orders, topics.executions]) {
    const grown = { topic: nameOf(topic), count: topic === topics.orders ? after : after - 1 };
    await admin.createPartitions({ topicPartitions: [grown] });
  }
  const readiness = async () => {
    const { reasons = [], ready } = (await statusAt(exchange.ports.matcherOps, 'ready')) as {
      reasons?: readonly string[];
      ready?: boolean;
    };
    return added
      .map((partition) => `unopened:${partition}`)
      .filter((reason) => ready !== true || !reasons.includes(reason));
  };
  await untilNone('the matcher names them', readiness, knownMaxMs);
  for (const process of ['operator', 'ingress', 'matcher']) {
    await exchange.restart(process);
    const listed = await list();
    expect(listed.every(isIn([0, 1]))).toBe(true);
    await tradeIn(listed);
  }
  const response = await fetch(`http://127.0.0.1:${exchange.ports.matcherOps}/metrics`);
  expect(await response.text()).toMatch(/pm_matcher_partitions_unopened\{[^}]*\} 2/);
  expect(await recordsInAdded()).toEqual([0, 0]);
}, 900_000);

test('set-up opens them while services run, also behind records of others', async () => {
  const producer = naiveKafka().producer();
  await producer.connect();
  const value = Buffer.from('poison');
  const messages = [{ partition: 3, value }];
  await producer.send({ topic: nameOf(topics.orders), messages });
  await producer.disconnect();
  const lines: string[] = [];
  const setUp = () =>
    setUpExchange({
      urls: exchange.urls,
      access: namesOf(exchange.name),
      keys: exchange.keys,
      feeWallet: defaultFeeWallet,
      partitions: before,
      replicationFactor: 1,
      progress: (line) => lines.push(line),
    });
  await setUp();
  expect(lines).toContain('partitions: 2 opened, 2 kept');
  expect(lines.join('\n')).toContain('partition 3: had records before it was opened');
  const { topics: found } = await admin.fetchTopicMetadata({ topics: [nameOf(topics.executions)] });
  expect(found[0]?.partitions).toHaveLength(after);
  lines.length = 0;
  await setUp();
  expect(lines).toContain('partitions: 0 opened, 4 kept');
  const { matcherOps, ingressOps, operatorOps, streamsOps } = exchange.ports;
  const live = (one: Record<string, unknown>) => one['state'] === 'live';
  const ready = (one: Record<string, unknown>) => one['ready'] === true;
  await untilNone('matcher', () => missingAt(matcherOps, live), knownMaxMs);
  await untilNone('ingress', () => missingAt(ingressOps, ready), knownMaxMs);
  await untilNone('operator', () => missingAt(operatorOps, ready), knownMaxMs);
  const caughtUp = (one: Record<string, unknown>) => one['isCaughtUp'] === true;
  await untilNone('streams', () => missingAt(streamsOps, caughtUp), knownMaxMs);
}, 900_000);

test('new markets come into them and are traded without a restart', async () => {
  const inAdded = async () => {
    const listed = await list();
    return added.filter((one) => !listed.some(isIn([one]))).map(String);
  };
  await untilNone('markets are placed there', inAdded, knownMaxMs);
  const listed = markets.filter(isIn(added));
  await tradeIn(listed.slice(-2));
}, 900_000);

test('every service starts again under load, and the audit is clean', async () => {
  for (const { name } of exchange.processes) await exchange.restart(name);
  await tradeIn(markets.filter(isIn(added)).slice(-4));
  await load.stop();
  expect(load.received.unread).toEqual([]);
  await expectCleanAudit(exchange, seed);
}, 1_200_000);

import { setTimeout as wait } from 'node:timers/promises';
import type { ExchangeClient, Messages, OwnEvent, TradeMessage } from '@pm/client';
import { testAccounts } from '@pm/deploy/demo/wallets';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { Sequences } from '@pm/domain/signoff/sequences';
import { present } from '@pm/kit/assert';
import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import { Random } from '@pm/kit/random';
import { topicName } from '@pm/kit/registry';
import { topics } from '@pm/schemas/log/topics';
import { tables } from '@pm/schemas/tables/tables';
import { untilNone, WholeExchange } from '../whole-exchange.ts';
import { type OrderFacts, orderDifferences } from './order-facts.ts';
import {
  type OrderOwner,
  readOrderBatches,
  readOrderEvents,
  readOrders,
  readWalletFills,
  streamedOrders,
} from './order-sources.ts';
import { gtdSeconds, SeededOrders } from './seeded-orders.ts';

const seed = 20_261_124;
const partitions = 2;
const depositUsdc = '3000';
/** All wallets but the first act as often once more while the session of that one ends. */
const actionsPerWallet = 30;
/** By wallet, what its orders do where they meet each other. */
const selfTrades = ['cancel_newest', 'cancel_oldest', 'cancel_both', 'cancel_newest'] as const;
/** Markets: the second has fees, orders that would trade in the third are delayed, the fourth is resolved. */
const marketCount = 4;
const takerDelayMs = 300;
/** Further ahead than any GTD order of the run, milliseconds. */
const leapMs = 300_000;
/** Streams and tables reach the end of the log within so long, milliseconds. */
const quietMaxMs = 60_000;
/** A missed heartbeat cancels after 10 to 15 s. */
const sessionMaxMs = 30_000;

let exchange: WholeExchange;
let clickhouse: ClickHouse;
const wallets: (OrderOwner & { readonly orders: SeededOrders })[] = [];
const ownEvents: OwnEvent[] = [];
const trades: TradeMessage[] = [];
const streams: Messages<unknown>[] = [];
const failures: string[] = [];

beforeAll(async () => {
  const markets = Array.from({ length: marketCount }, (_, index) => ({
    slug: `same-${index}`,
    question: `Same ${index}?`,
    feeRateBps: index === 1 ? 441 : 0,
    minOrderSize: '1',
  }));
  const events = [{ slug: 'same', title: 'Same', markets }];
  exchange = await WholeExchange.open('same_orders', {
    partitions,
    events,
    hasSecondStreams: true,
  });
  const accounts = testAccounts().slice(0, selfTrades.length);
  await exchange.deposit(accounts, depositUsdc);
  await exchange.operate('PUT', `markets/${exchange.markets[2]?.id}/rules`, { takerDelayMs });
  const { url, database } = { url: exchange.urls.clickhouse, database: exchange.name };
  clickhouse = openClickHouse({ url, database, user: 'default', password: '', log: silentLog });
  for (const [index, signer] of accounts.entries()) {
    // Each stream service has half of the wallets.
    const streamUrl = present(exchange.baseUrls[index % 2], 'two gateways').replace(/^http/, 'ws');
    const client = exchange.client(signer, { streamUrl });
    await client.connect();
    await client.keys.changeSettings({ self_trade: selfTrades[index] ?? 'cancel_newest' });
    const orders = new SeededOrders(client, new Random(seed + index), exchange.markets);
    const wallet = signer.address.toLowerCase();
    wallets.push({ client, wallet, orders, orderIds: orders.ids });
  }
}, 360_000);

afterAll(async () => {
  for (const stream of streams) await stream.return?.();
  await clickhouse?.close();
  await exchange?.close();
}, 60_000);

/** Keeps every event; resolves when so many have come. */
async function keep<Event>(events: Messages<Event>, kept: Event[], first: number): Promise<void> {
  streams.push(events);
  for (let count = 0; count < first; count += 1) {
    const { value } = await events.next();
    if (value !== undefined) kept.push(value);
  }
  const rest = async () => {
    for await (const event of events) kept.push(event);
  };
  rest().catch((error: unknown) => failures.push(String(error)));
}

/** A subscription begins with its first message: for trades, which have none, its request is given a moment. */
async function openStreams(): Promise<void> {
  for (const { client } of wallets) await keep(client.own.events(), ownEvents, partitions);
  const [first] = wallets;
  for (const { conditionId } of exchange.markets)
    if (first !== undefined) await keep(first.client.stream.trades(conditionId), trades, 0);
  await wait(2_000);
}

/** Orders of a key that beats once and never again. */
async function missHeartbeats({ client, orders }: (typeof wallets)[number]): Promise<void> {
  const heartbeat = client.startHeartbeat();
  await heartbeat.started();
  await heartbeat.stop();
  for (const [index, { tokenIds }] of exchange.markets.entries()) {
    const price = `0.0${index + 1}`;
    await orders.place({ tokenId: tokenIds[0] ?? '', side: 'BUY', price, size: '10' });
  }
  const open = async () => await openIds(client);
  await untilNone('the session of the key ends its orders', open, sessionMaxMs);
}

/** Orders that rest until their market or they themselves end. */
async function leaveOrders({ orders }: (typeof wallets)[number]): Promise<void> {
  for (const { tokenIds } of exchange.markets) {
    const rests = { tokenId: tokenIds[0] ?? '', side: 'BUY', price: '0.05', size: '10' } as const;
    await orders.place(rests);
    const expiration = Math.floor(Date.now() / 1000) + gtdSeconds.most;
    await orders.place({ ...rests, timeInForce: 'GTD', expiration });
  }
}

async function actAll(acting: typeof wallets): Promise<void> {
  const actOf = async ({ orders }: (typeof wallets)[number]) => {
    for (let action = 0; action < actionsPerWallet; action += 1) await orders.act();
  };
  await Promise.all(acting.map(actOf));
}

async function openIds(client: ExchangeClient): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of client.own.openOrders()) ids.push(id);
  return ids;
}

/** Numbers of the claims by which the matcher owns its partitions: a tick counts with that one only. */
async function ownerTerms(): Promise<ReadonlyMap<number, number>> {
  const response = await fetch(`http://127.0.0.1:${exchange.ports.matcherOps}/status`);
  const { partitions: owned } = (await response.json()) as {
    partitions: readonly { readonly partition: number; readonly term: number }[];
  };
  return new Map(owned.map(({ partition, term }) => [partition, term]));
}

/**
 * Moves the clocks of all partitions beyond the end of every GTD order, as their owner does when that time comes, with
 * an ingress as the witness.
 */
async function leap(): Promise<void> {
  const { client, schemas, topicPrefix } = exchange.log;
  const codec = await schemas.codecFor(topics.orders);
  const { ingressSeed, ownerSeed } = exchange.keys;
  const signers = [ingressSeed, ownerSeed].map((seed) => openSignOffKey(Buffer.from(seed, 'hex')));
  const timeMs = Date.now() + leapMs;
  const producer = await client.producer();
  const topic = topicName(topics.orders, topicPrefix);
  const terms = await ownerTerms();
  for (let partition = 0; partition < partitions; partition += 1) {
    const sequence = new Sequences().next(timeMs);
    const tick = { kind: 'Tick', term: terms.get(partition) ?? 0, timeMs } as const;
    const content = { partition, sequence, commands: [tick] };
    for (const key of signers) {
      const value = sealEnvelope(codec, key, content);
      await producer.send([{ topic, partition, key: null, value }]);
    }
  }
}

/** Places orders of every kind and lets every kind of end happen. */
async function run(): Promise<void> {
  for (const { client } of wallets) {
    for (const { conditionId } of exchange.markets)
      await client.account.split({ conditionId, amount: '100' });
  }
  await actAll(wallets);
  const [silent, ...others] = wallets;
  const ending = silent === undefined ? null : missHeartbeats(silent);
  await Promise.all([ending, actAll(others)]);
  const [leaving] = others;
  if (leaving !== undefined) await leaveOrders(leaving);
  await leap();
  const [last] = exchange.markets.slice(-1);
  await exchange.operator.resolveMarket(last?.id ?? '', '1');
  // Cancels of a resolution may be in the next record: those of the wallets must not come first.
  await wait(1_000);
  for (const { client } of wallets) await client.cancelAll();
}

/** Sources that follow the log: they are complete a moment after it. */
async function readFollowers() {
  const events = await readOrderEvents(clickhouse, exchange.markets);
  const orderIds = events.orders.keys();
  const fills = await readWalletFills(clickhouse, { markets: exchange.markets, orderIds });
  return [streamedOrders(ownEvents, trades), events, fills];
}

const count = (orders: Iterable<OrderFacts>, fits: (order: OrderFacts) => boolean): number =>
  [...orders].filter(fits).length;

test('REST, streams and tables state the same end, fills and reason of every order of a run', async () => {
  await openStreams();
  await run();
  const late = async () => orderDifferences(await readFollowers());
  await untilNone('streams and tables have every end', late, quietMaxMs);
  expect(failures).toEqual([]);
  const read = await readOrders(wallets);
  const sources = [read, await readOrderBatches(wallets), ...(await readFollowers())];
  expect(orderDifferences(sources)).toEqual([]);
  const orders = [...read.orders.values()];
  const sent = wallets.reduce((sum, { orderIds }) => sum + orderIds.length, 0);
  expect(orders.length).toBeGreaterThan(sent * 0.8);
  const reasons = new Set(orders.flatMap((order) => order.reasons ?? []));
  expect([...reasons]).toEqual(
    expect.arrayContaining([
      'matched',
      'user',
      'session',
      'expired',
      'market',
      'self_trade',
      'remainder',
      'fok_not_filled',
      'fak_not_filled',
      'post_only_would_cross',
    ]),
  );
  expect(count(orders, ({ status }) => status === 'REFUSED')).toBeGreaterThan(5);
  expect(count(orders, ({ fills }) => (fills?.length ?? 0) > 1)).toBeGreaterThan(5);
  expect(count(orders, ({ type }) => type === 'GTD')).toBeGreaterThan(5);
}, 360_000);

test('no order of the run is open in any list, and every cancel of the log is among those of its wallet', async () => {
  for (const { client } of wallets) expect(await openIds(client)).toEqual([]);
  const open = await clickhouse.selectRows(
    `SELECT order_id FROM ${tables.openOrders.name} FINAL WHERE ended = 0`,
  );
  expect(open).toEqual([]);
  const differing = await clickhouse.selectRows(
    `SELECT order_id, reason, count() AS times FROM (
       SELECT order_id, wallet, reason, size FROM ${tables.orderEvents.name} FINAL WHERE kind = 'CANCELED'
       UNION ALL SELECT order_id, wallet, reason, size FROM ${tables.walletCancels.name} FINAL)
     GROUP BY order_id, wallet, reason, size HAVING times != 2`,
  );
  expect(differing).toEqual([]);
});

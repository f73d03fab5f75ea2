import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { authFrame } from '@pm/client';
import { holdFreePorts } from '@pm/deploy/local/ports';
import { openGateway } from '@pm/gateway/gateway';
import type { HttpApp } from '@pm/kit/http';
import { type Seen, StreamClient } from '../../../streams/test/stream-client.ts';
import {
  ExchangeUnderTest,
  keyOf,
  order,
  place,
  type Trader,
  until,
} from '../exchange-under-test.ts';

let exchange: ExchangeUnderTest;
let gateway: HttpApp;
let streams: ChildProcess;
let url: string;
let ports: readonly number[];
/** A connection that cancels the orders of its key when it ends, and the order that rests by it. */
let guarded: { readonly trader: Trader; readonly client: StreamClient; readonly live: Seen };

function startStreams(): ChildProcess {
  const [streamsPort, opsPort] = ports;
  const environment = {
    PM_HTTP_PORT: String(streamsPort),
    PM_OPS_PORT: String(opsPort),
    PM_KEY_SECRET: exchange.keys.keySecret,
    PM_BOOK_SECRET: exchange.keys.bookSecret,
    PM_TRUSTED_PROXIES: '127.0.0.1',
    PM_STREAMS_DIR: join(exchange.folder, 'streams'),
    PM_INGRESS_URL: `http://127.0.0.1:${exchange.ingress.port}`,
  };
  return exchange.services.start('streams', environment);
}

async function isReady(): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${ports[1]}/ready`).catch(() => null);
  return response?.ok === true;
}

async function killStreams(): Promise<void> {
  streams.kill('SIGKILL');
  await once(streams, 'exit');
}

beforeAll(async () => {
  exchange = await ExchangeUnderTest.openLone('streams', 2);
  const held = await holdFreePorts(3);
  ports = held.ports;
  await held.release();
  streams = startStreams();
  await until(isReady);
  const ingress = `http://127.0.0.1:${exchange.ingress.port}`;
  const services = { ingress, 'query-api': ingress, streams: `http://127.0.0.1:${ports[0]}` };
  gateway = openGateway(services);
  await gateway.listen({ host: '127.0.0.1', port: ports[2] ?? 0 });
  url = `ws://127.0.0.1:${ports[2]}/v1/stream`;
  guarded = await openGuarded();
}, 240_000);

afterAll(async () => {
  await gateway?.close();
  await exchange?.close();
}, 60_000);

/** Subscribes once the service knows the market. */
async function subscribe(client: StreamClient, frame: object): Promise<Seen> {
  for (let tries = 0; tries < 100; tries += 1) {
    client.send({ op: 'subscribe', id: tries, ...frame });
    const answer = await client.next(({ type, id }) => id === tries && type !== 'pong');
    if (answer.type === 'subscribed') return answer;
    await wait(200);
  }
  throw new Error('the subscription was not accepted');
}

async function open(trader: Trader | null, isCanceling = false): Promise<StreamClient> {
  const client = await StreamClient.open(url);
  const { stream_id: streamId } = await client.of('welcome');
  if (trader === null) return client;
  const proof = { streamId: String(streamId), cancelOnDisconnect: isCanceling };
  client.send({ ...authFrame(keyOf(trader), proof, Date.now()), id: 900 });
  await client.of('authenticated');
  return client;
}

async function openGuarded(): Promise<typeof guarded> {
  const trader = await exchange.openTrader('100');
  const client = await open(trader, true);
  await subscribe(client, { channel: 'own' });
  await place(exchange.ingress, trader, [order(trader, exchange.tokens[1] ?? '', '0.30')]);
  const live = await client.next(({ kind }) => kind === 'order');
  return { trader, client, live };
}

test('an order and its fill are seen through the gateway: deltas, a trade and own events; a killed service is resumed without a gap', async () => {
  const token = exchange.tokens[0] ?? '';
  const [maker, taker] = [await exchange.openTrader('100'), await exchange.openTrader('100')];
  const reader = await open(null);
  await subscribe(reader, { channel: 'book', tokens: [token] });
  await subscribe(reader, { channel: 'trades', tokens: [token] });
  await reader.next(({ type, channel }) => type === 'snapshot' && channel === 'book');
  const own = await open(maker);
  await subscribe(own, { channel: 'own' });
  const { ingress } = exchange;
  const placed = await place(ingress, maker, [order(maker, token, '0.40')]);
  expect(placed.body[0]).toMatchObject({ success: true, status: 'live' });
  const delta = await reader.of('delta');
  expect(delta).toMatchObject({ levels: [{ side: 'BUY', price: '0.4', size: '1' }] });
  const placement = await own.next(({ kind }) => kind === 'order');
  expect(placement).toMatchObject({
    event: 'placed',
    resting: '1',
    order: { token, price: '0.4' },
  });

  await killStreams();
  expect(await reader.ended()).toBe(1006);
  // While the service is away: a level more, and a trade with it by a buyer of the other token.
  const more = await place(ingress, maker, [order(maker, token, '0.41')]);
  expect(more.body[0]).toMatchObject({ success: true });
  const other = exchange.otherTokens[0] ?? '';
  const matched = await place(ingress, taker, [order(taker, other, '0.60')]);
  expect(matched.body[0]).toMatchObject({ success: true, status: 'matched' });
  streams = startStreams();
  await until(isReady);

  const resumed = await open(null);
  const from = { seq: delta['seq'] };
  await subscribe(resumed, { channel: 'book', tokens: [token], from });
  let last = Number(delta['seq']);
  for (const size of ['1', '0']) {
    const next = await resumed.of('delta');
    const levels = [{ side: 'BUY', price: '0.41', size }];
    expect(next).toMatchObject({ prev: last, seq: last + 1, levels });
    last += 1;
  }
  await subscribe(resumed, { channel: 'trades', tokens: [token], from: { seq: 0 } });
  const trade = await resumed.next(({ channel, type }) => channel === 'trades' && type === 'event');
  expect(trade).toMatchObject({ seq: 1, match: 'MINT', token: other, side: 'BUY', size: '1' });
  expect(trade).toMatchObject({ maker_token: token, maker_price: '0.41', price: '0.59' });
  const ownAgain = await open(maker);
  const position = placement['at'] as { readonly partition: number };
  const back = { partition: position.partition, seq: placement['seq'] };
  await subscribe(ownAgain, { channel: 'own', from: [back] });
  const next = await ownAgain.next(
    ({ type, at }) => type === 'event' && isOf(at, position.partition),
  );
  expect(next).toMatchObject({ prev: placement['seq'] });
  await ownAgain.next(({ kind, order: terms }) => kind === 'order' && isAt(terms, '0.41'));
  const isFill = ({ kind }: Seen) => kind === 'fill';
  const fill = await ownAgain.next(isFill);
  expect(fill).toMatchObject({ id: trade['id'], role: 'MAKER', token, price: '0.41', size: '1' });
  const takerOwn = await open(taker);
  await subscribe(takerOwn, { channel: 'own', from: [{ partition: position.partition, seq: 0 }] });
  const takerFill = await takerOwn.next(isFill);
  expect(takerFill).toMatchObject({ id: trade['id'], role: 'TAKER', token: other, price: '0.59' });
  // Deposits are no part of the partitions: with them the money of the wallet adds up.
  const transfers = await takerOwn.next(({ kind }) => kind === 'transfers');
  expect(transfers).toMatchObject({ type: 'state', total: '100' });
  await takerOwn.of('heartbeat');
  for (const client of [ownAgain, takerOwn]) expect(client.seen.filter(isFill)).toEqual([]);
  for (const client of [resumed, ownAgain, takerOwn, own]) client.socket.terminate();
}, 120_000);

const isOf = (at: unknown, partition: number) =>
  (at as { readonly partition: number }).partition === partition;
const isAt = (terms: unknown, price: string) =>
  (terms as { readonly price: string } | null)?.price === price;

test('cancel on disconnect survives the death of the service: the orders of the key are canceled', async () => {
  const { trader, client, live } = guarded;
  expect(live).toMatchObject({ event: 'placed' });
  // The test before has killed the service, unless this one runs alone.
  if (client.closed === null) {
    await killStreams();
    streams = startStreams();
    await until(isReady);
  }
  const again = await open(trader);
  const { partition } = live['at'] as { readonly partition: number };
  await subscribe(again, { channel: 'own', from: [{ partition, seq: live['seq'] }] });
  const canceled = await again.next(
    ({ kind, event }) => kind === 'order' && event === 'canceled',
    30_000,
  );
  expect(canceled).toMatchObject({ id: live['id'] });
  again.socket.terminate();
}, 120_000);

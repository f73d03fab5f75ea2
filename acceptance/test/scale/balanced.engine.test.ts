import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import {
  buildOrder,
  ExchangeClient,
  type Signer,
  signedHeaders,
  walletFromPrivateKey,
} from '@pm/client';
import type { PortName } from '@pm/deploy/local/ports';
import type { ScaledService } from '@pm/deploy/stack/scale';
import type { ApiKeyTrio } from '@pm/schemas/http/trading';
import { StreamClient } from '../../../streams/test/stream-client.ts';
import { EngineGate } from '../observability/engine-gate.ts';
import { engineUrls } from '../services-under-test.ts';
import { eventOf, untilNone, WholeExchange } from '../whole-exchange.ts';
import { Balancer } from './balancer.ts';

/** Twice the time in which the balancer has asked everyone, and some more. */
const drainMs = 3_000;
/** Longest wait for what comes by itself, milliseconds. */
const knownMaxMs = 120_000;
/** Between two requests of a client, milliseconds. */
const thinkMs = 50;

const scale = { ingress: 2, 'query-api': 2, gateway: 2 };
const listeners: Readonly<Record<keyof typeof scale, readonly [PortName, PortName]>> = {
  ingress: ['ingress', 'ingressOps'],
  'query-api': ['queryApi', 'queryApiOps'],
  gateway: ['gateway', 'gatewayOps'],
};

const signer: Signer = walletFromPrivateKey(`0x${'7'.repeat(64)}`);
const tables = new EngineGate(engineUrls().clickhouse);
let redis: Balancer;
let exchange: WholeExchange;
let ingress: Balancer;
let queryApi: Balancer;
let gateway: Balancer;
let key: ApiKeyTrio;

beforeAll(async () => {
  const redisUrl = new URL(engineUrls().redis);
  redis = await Balancer.open([{ port: Number(redisUrl.port) }]);
  redisUrl.port = String(redis.port);
  const drains = { PM_DRAIN_MS: String(drainMs) };
  const usesRedis = { ...drains, PM_REDIS_URL: redisUrl.href };
  const tablesUrl = await tables.open();
  exchange = await WholeExchange.open('balanced', {
    partitions: 1,
    events: [eventOf('balanced', 1)],
    scale,
    env: {
      ingress: usesRedis,
      'query-api': { ...usesRedis, PM_CLICKHOUSE_URL: tablesUrl },
      gateway: drains,
    },
  });
  ingress = await balancerOf('ingress');
  queryApi = await balancerOf('query-api');
  gateway = await balancerOf('gateway');
  await exchange.deposit([signer], '100');
  key = await new ExchangeClient({ baseUrl: ingress.url, signer }).connect();
}, 900_000);

afterAll(async () => {
  for (const balancer of [ingress, queryApi, gateway]) await balancer?.close();
  await exchange?.close();
  await redis?.close();
  await tables.close();
}, 90_000);

// The engines are back for the next test, whatever the last one has met.
afterEach(() => {
  redis.unshut();
  tables.unshut();
});

function placesOf(service: keyof typeof scale) {
  const [port, opsPort] = listeners[service];
  const places = exchange.places?.of(service satisfies ScaledService) ?? [];
  return places.map(({ ports }) => ({ port: ports[port], opsPort: ports[opsPort] }));
}

const balancerOf = (service: keyof typeof scale) => Balancer.open(placesOf(service));

/** Responses of both processes of a service on their operations ports, each as status and body. */
async function bothSay(service: keyof typeof scale, path: string): Promise<readonly string[]> {
  const said = placesOf(service).map(async ({ opsPort }) => {
    const response = await fetch(`http://127.0.0.1:${opsPort}${path}`);
    return `${response.status} ${await response.text()}`;
  });
  return await Promise.all(said);
}

/** Resolves when both say so, and the balancer has asked them since. */
async function untilBoth(
  service: keyof typeof scale,
  path: string,
  { holds, balancer }: { readonly holds: RegExp; readonly balancer: Balancer },
): Promise<void> {
  const others = async () => (await bothSay(service, path)).filter((one) => !holds.test(one));
  await untilNone(`${service} ${path} ${holds}`, others, knownMaxMs);
  await balancer.poll();
}

interface Response {
  readonly status: number;
  readonly body: string;
}

/** A request on a connection of its own. Rejects when there is no whole response. */
function send(
  url: string,
  method = 'GET',
  headers: Readonly<Record<string, string>> = {},
  body = '',
) {
  return new Promise<Response>((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (bytes: Buffer) => {
        text += bytes.toString('utf8');
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function signed(method: 'POST' | 'DELETE', path: string, body = ''): Promise<Response> {
  const holder = { ...key, address: signer.checksummed };
  const headers = signedHeaders(holder, { method, path, body }, Date.now());
  return send(ingress.url + path, method, { 'content-type': 'application/json', ...headers }, body);
}

const token = (): string => exchange.markets[0]?.tokenIds[0] ?? '';
const bookPath = (): string => `/book?token_id=${token()}`;

test('without Redis cancels are answered, and without ClickHouse books are', async () => {
  const domain = await exchange.client(signer).signingDomain();
  const context = { signer, domain, negRisk: false, owner: key.apiKey, nowMs: Date.now() };
  const order = buildOrder({ tokenId: token(), side: 'BUY', price: '0.10', size: '1' }, context);
  const placed = await signed('POST', '/order', JSON.stringify(order.submission));
  expect(JSON.parse(placed.body)).toMatchObject({ success: true, status: 'live' });

  redis.shut();
  await untilBoth('ingress', '/ready', { holds: /^503 .*"ledger"/, balancer: ingress });
  await untilBoth('query-api', '/ready', { holds: /^503 .*"redis"/, balancer: queryApi });
  expect([ingress.serving, queryApi.serving]).toEqual([2, 2]);
  expect(await bothSay('ingress', '/serving')).toEqual(
    Array(2).fill(expect.stringMatching(/^200 .*"ledger"/)),
  );
  const canceled = await signed('DELETE', '/cancel-all');
  expect([canceled.status, JSON.parse(canceled.body).canceled]).toEqual([200, [order.orderId]]);
  expect((await send(`${queryApi.url}/events`)).status).toBe(200);
  redis.unshut();
  await untilBoth('ingress', '/ready', { holds: /^200/, balancer: ingress });
  await untilBoth('query-api', '/ready', { holds: /^200/, balancer: queryApi });

  tables.shut();
  await untilBoth('query-api', '/ready', { holds: /^503 .*"clickhouse"/, balancer: queryApi });
  expect(queryApi.serving).toBe(2);
  expect((await send(queryApi.url + bookPath())).status).toBe(200);
  tables.unshut();
  await untilBoth('query-api', '/ready', { holds: /^200/, balancer: queryApi });
}, 480_000);

test('a rolling restart of every process under requests refuses no connection', async () => {
  const wrong: string[] = [];
  let sent = 0;
  let isOver = false;
  const keepAsking = async (
    name: string,
    ask: () => Promise<Response>,
    allowed: readonly number[],
  ) => {
    while (!isOver) {
      const answer = await ask().catch((error: Error) => ({ status: 0, body: String(error) }));
      sent += 1;
      if (!allowed.includes(answer.status)) wrong.push(`${name}: ${answer.status} ${answer.body}`);
      await wait(thinkMs);
    }
  };
  const asking = [
    keepAsking('cancels', () => signed('DELETE', '/cancel-all'), [200]),
    keepAsking('books', () => send(queryApi.url + bookPath()), [200]),
    // A gateway says itself that a service went away with a request.
    keepAsking('gateway', () => send(gateway.url + bookPath()), [200, 503]),
  ];
  const stream = await StreamClient.open(`${gateway.url.replace('http', 'ws')}/v1/stream`);
  stream.send({ op: 'subscribe', id: 1, channel: 'book', tokens: [token()] });
  await stream.of('snapshot');
  for (const name of ['ingress', 'query-api', 'gateway'] as const)
    for (const place of exchange.places?.of(name) ?? []) {
      await exchange.restart(place.name);
      const balancer = { ingress, 'query-api': queryApi, gateway }[name];
      await balancer.poll();
    }
  isOver = true;
  await Promise.all(asking);
  console.log(`${sent} requests`);
  expect(wrong).toEqual([]);
  expect([ingress, queryApi, gateway].flatMap(({ refused }) => refused)).toEqual([]);
  expect(await stream.ended()).toBe(1012);
}, 900_000);

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import {
  buildOrder,
  ExchangeClient,
  type KeyOfWallet,
  signedHeaders,
  walletFromPrivateKey,
} from '@pm/client';
import { freePorts } from '@pm/deploy/local/ports';
import { loadOrMakeKeys, readAuthority } from '@pm/deploy/setup/keys';
import { openOperator } from '@pm/deploy/stack/operator';
import { manyTimes } from '@pm/deploy/stack/services';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { redisKeys } from '@pm/schemas/redis/keys';
import { type HttpRoute, urlsOf } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import { headers as names } from '@pm/schemas/signing';
import { engineUrl } from '../../../kit/test/engines.ts';
import { Canaries } from '../../../kit/test/hostile/canaries.ts';
import { ServicesUnderTest, setUpNamed } from '../services-under-test.ts';
import { allRecords, allRows, allValues } from './kept-by-engines.ts';

/**
 * Secrets go through every route of both services and of the operator's listener, in valid and invalid requests; then
 * they are searched in all traces: lines of logs, records of topics, rows of tables, keys and values of Redis, objects
 * of the store.
 */
const name = `canaries_${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'canaries-'));
const keys = loadOrMakeKeys(join(folder, 'keys.json'));
const storeFolder = join(folder, 'store');
const store = { PM_STORE_URL: pathToFileURL(storeFolder).href };
const retryKey = 'canary-idempotency-key-90b1f2';
let services: ServicesUnderTest;
let redis: RedisClient;
let ports: Awaited<ReturnType<typeof freePorts>>;
const secrets = new Canaries();
const statuses = new Map<number, number>();
const { rootKey: _root, openingKey: _opening, authorityFile: _file, ...ownSecrets } = keys;
const everySecret = { ...ownSecrets, ...readAuthority(keys, 'this test') };
for (const [field, secret] of Object.entries(everySecret))
  if (typeof secret === 'string') secrets.add(field, secret);
secrets.add('an idempotency key', retryKey);

beforeAll(async () => {
  ports = await freePorts();
  await setUpNamed(name, { keys, partitions: 2 });
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
  services = new ServicesUnderTest(name, { PM_LOG_LEVEL: 'debug' });
  services.start('matcher', {
    PM_OWNER_SEED: keys.ownerSeed,
    PM_REPLICATION_MIN: '1',
    PM_OPERATOR_KEY: keys.openingKey,
    PM_SNAPSHOT_DIR: join(folder, 'snapshots'),
    PM_SNAPSHOT_EVERY_MS: '1000',
    PM_SNAPSHOT_COPY_EVERY_MS: '1000',
    ...store,
  });
  services.start('projectors', {
    PM_LEDGER_SEED: keys.ledgerSeed,
    PM_CHECKPOINT_EVERY_MS: '1000',
    ...store,
  });
  const keyed = { PM_KEY_SECRET: keys.keySecret, ...manyTimes };
  services.start('ingress', {
    ...keyed,
    PM_HTTP_PORT: String(ports.ingress),
    PM_SIGNOFF_SEED: keys.ingressSeed,
  });
  services.startOperator({ port: ports.operator, folder, keys });
  services.start('query-api', {
    ...keyed,
    PM_BOOK_SECRET: keys.bookSecret,
    PM_HTTP_PORT: String(ports.queryApi),
  });
  for (const url of [`${urlOf('ingress')}/ok`, `${urlOf('query-api')}/events?limit=1`]) {
    await until(async () => (await fetch(url).catch(() => null))?.status === 200);
  }
  await until(async () => (await fetch(urlOf('operator')).catch(() => null)) !== null);
}, 300_000);

afterAll(async () => {
  await services?.stop();
  const left = (await redis?.keys(`${name}*`)) ?? [];
  if (left.length > 0) await redis.del(...left);
  await redis?.quit();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const urlOf = (service: HttpRoute['service'] | 'operator') => {
  const port = { ingress: ports.ingress, 'query-api': ports.queryApi, operator: ports.operator };
  return `http://127.0.0.1:${port[service]}`;
};

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_800; tries += 1) {
    if (await isSo()) return;
    await wait(100);
  }
  throw new Error('it did not come about in time');
}

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
}

async function send(
  service: Parameters<typeof urlOf>[0],
  sent: Sent,
  headers: Record<string, string>,
) {
  const { method, url, body } = sent;
  const answer = await fetch(urlOf(service) + url, {
    method,
    body,
    signal: AbortSignal.timeout(60_000),
    headers: { 'content-type': 'application/json', ...headers },
  });
  await answer.arrayBuffer();
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
}

/** The five headers, whose signature is a secret too. */
function signed(key: KeyOfWallet, { method, url, body }: Sent): Record<string, string> {
  const path = url.split('?')[0] ?? '';
  const headers = signedHeaders(
    key,
    { method: method as 'POST', path, body: body ?? '' },
    Date.now(),
  );
  secrets.add('an L2 signature', headers[names.signature] ?? '');
  return headers;
}

/** A trader with keys of every kind, money, and an order on the book. */
async function openTrader(token: string, conditionId: string) {
  const signer = walletFromPrivateKey(`0x${'5a'.repeat(32)}`);
  const client = new ExchangeClient({ baseUrl: urlOf('ingress'), signer });
  const trio = await client.connect();
  const key = { ...trio, address: signer.checksummed };
  const operator = openOperator(urlOf('operator'), keys.operatorToken);
  await operator.deposit([
    { transferId: `0x${'01'.repeat(32)}`, wallet: signer.address, amount: '100' },
  ]);
  const ledger = openLedger(redis, redisKeys(name));
  await until(async () => (await ledger.balance(signer.address)).freeMicro > 0);
  const readKey = await client.keys.createReadOnlyKey();
  const builder = await client.keys.createBuilderKey();
  const agent = await client.agents.create('canary');
  const domain = await client.signingDomain();
  const context = { signer, domain, negRisk: false, owner: trio.apiKey, nowMs: Date.now() };
  const order = buildOrder({ tokenId: token, side: 'BUY', price: '0.10', size: '5' }, context);
  secrets.add('an L2 secret', trio.secret);
  secrets.add('a passphrase', trio.passphrase);
  secrets.add('a read-only key', readKey);
  secrets.add('a builder secret', builder.secret);
  secrets.add('a builder passphrase', builder.passphrase);
  secrets.add('the key of an agent', agent.key);
  return { key, readKey, agent, conditionId, submission: order.submission };
}

type Trader = Awaited<ReturnType<typeof openTrader>>;

/** Requests that revoke keys come last. */
const lastly = [
  'DELETE /auth/api-key',
  'DELETE /auth/builder-api-key',
  'DELETE /auth/readonly-api-key',
];
const isLast = ({ method, path }: HttpRoute) => lastly.includes(`${method} ${path}`);
/** Routes that are exercised at a time. */
const atOnce = 4;

function bodiesFor(
  { path }: HttpRoute,
  { submission, readKey, conditionId }: Trader,
): readonly string[] {
  const words = {
    condition_id: conditionId,
    name: 'x',
    key: readKey,
    self_trade: 'cancel_both',
    amount: '1',
    markets: ['1'],
  };
  const sound = path === '/order' ? submission : path.startsWith('/orders') ? [submission] : words;
  return [JSON.stringify(sound), '{"passphrase":', JSON.stringify([words])];
}

/** Every kind of proof, good and bad, on one route. */
async function exercise(route: HttpRoute, trader: Trader): Promise<void> {
  const { key, readKey, agent } = trader;
  const bodies = route.method === 'GET' ? [null] : bodiesFor(route, trader);
  for (const { url } of urlsOf(route).slice(0, 2)) {
    for (const body of bodies) {
      const named = url.replace(/:\w+/g, agent.id);
      const sent = {
        method: route.method,
        url: `${named}?key=${readKey}&address=${key.address}`,
        body,
      };
      const good: Record<string, string> = { ...signed(key, sent), 'idempotency-key': retryKey };
      const bearer = { authorization: `Bearer ${agent.key}` };
      const bad = { ...good, [names.signature]: good[names.signature]?.replace(/^./, '-') ?? '' };
      const readOnly = { [names.address]: key.address, [names.readOnlyKey]: readKey };
      for (const headers of [bearer, bad, readOnly, good]) await send(route.service, sent, headers);
    }
  }
}

/** All routes, some at a time; those that revoke keys one by one. */
async function exerciseAll(trader: Trader): Promise<void> {
  const waiting: HttpRoute[] = routes.filter((route) => !isLast(route));
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      await exercise(next, trader);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  for (const route of routes.filter(isLast)) await exercise(route, trader);
}

/** Names and bytes of all objects of the store. */
function allObjects(): string[] {
  const entries = readdirSync(storeFolder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => `${file}\n${readFileSync(file, 'latin1')}\n${readFileSync(file, 'hex')}`);
}

test('no secret that was sent is left in logs, topics, tables, Redis or the store', async () => {
  const operator = openOperator(urlOf('operator'), keys.operatorToken);
  const event = {
    slug: 'canary',
    title: 'Canary',
    markets: [{ slug: 'canary', question: 'Canary?' }],
  };
  const { markets } = await operator.importEvents([event]);
  const [market] = markets;
  const trader = await openTrader(market?.tokenIds[0] ?? '', market?.conditionId ?? '');
  await exerciseAll(trader);
  for (const url of ['/operator/status', '/operator/audit', '/operator/trading-mode', '/nowhere']) {
    for (const token of [keys.operatorToken, `${keys.operatorToken}x`]) {
      const sent = { method: 'POST', url, body: '{"mode":"broken"}' };
      await send('operator', sent, { authorization: `Bearer ${token}` });
    }
  }
  const database = () => allRows(engineUrl('CLICKHOUSE'), name);
  await until(async () => (await database()).length > 0);
  const left = {
    logs: services.said,
    topics: await allRecords(engineUrl('KAFKA'), `${name}-`),
    tables: await database(),
    redis: await allValues(redis, name),
    store: allObjects(),
  };
  for (const [place, texts] of Object.entries(left)) {
    expect([place, texts.length > 3]).toEqual([place, true]);
    expect([place, secrets.foundIn(texts.join('\n'))]).toEqual([place, []]);
  }
  // It was not all refused.
  expect(statuses.get(200)).toBeGreaterThan(50);
  // The search works: the caller's id is found in all of them but the logs.
  expect(left.topics.join('\n')).toContain(trader.key.apiKey.replaceAll('-', ''));
  expect(secrets.count).toBeGreaterThan(300);
}, 600_000);

import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { ordersPerRequestMax } from '@pm/schemas/http/trading';
import { cacheBudgets, cacheBytesMin } from '@pm/schemas/redis/cache';
import { isCacheKey, type RedisKeys, redisKeys, retryLimits } from '@pm/schemas/redis/keys';
import {
  call,
  cancelAll,
  ExchangeUnderTest,
  order,
  place,
  type Trader,
  until,
} from '../exchange-under-test.ts';
import { OwnRedis } from './own-redis.ts';

// An exchange whose Redis of what is kept for a time is another server than that of its ledger, and a small one.
const cacheBytes = cacheBytesMin;
const maxMemoryBytes = 16 * 1_048_576;
let server: OwnRedis;
let cache: RedisClient;
let exchange: ExchangeUnderTest;
let trader: Trader;

beforeAll(async () => {
  server = await OwnRedis.start({ maxmemory: String(maxMemoryBytes) });
  cache = openRedis({ url: server.url, log: silentLog });
  exchange = await ExchangeUnderTest.open('two_servers', 1, {
    PM_REDIS_CACHE_URL: server.url,
    PM_REDIS_CACHE_BYTES: String(cacheBytes),
  });
  trader = await exchange.openTrader('100');
}, 180_000);

afterAll(async () => {
  await exchange?.close();
  cache?.disconnect();
  await server?.stop();
}, 60_000);

const namesOn = async (redis: RedisClient) => (await redis.keys(`${exchange.name}:*`)).sort();
const placed = { status: 200, body: [expect.objectContaining({ success: true, status: 'live' })] };

/** The name of a stored key in `redisKeys`; the most exact one. */
function kindOf(stored: string): keyof RedisKeys {
  const all = Object.entries(redisKeys(exchange.name)).map(([name, key]) => {
    const text = typeof key === 'function' ? (key as (part: string) => string)('') : key;
    return [name as keyof RedisKeys, text] as const;
  });
  const found = all.filter(([, text]) => text.startsWith(exchange.name) && stored.startsWith(text));
  const best = found.sort(([, one], [, other]) => other.length - one.length)[0];
  if (best === undefined) throw new Error(`no key is declared for ${stored}`);
  return best[0];
}

/** Names on the Redis of the ledger once the split is applied, and every order that was reserved. */
async function settledNames(): Promise<readonly string[]> {
  let names: readonly string[] = [];
  await until(async () => {
    names = await namesOn(exchange.redis);
    const kinds = names.map(kindOf);
    const isReserved = kinds.includes('pending') || kinds.includes('waiting');
    return !isReserved && kinds.includes('ledgerMarkets');
  });
  return names;
}

function split(id: string) {
  const body = JSON.stringify({ condition_id: exchange.conditions[0], amount: '1', id });
  return call(exchange.ingresses[0], trader, 'POST', '/account/split', { body });
}

function makeReadKey() {
  return call(exchange.ingresses[0], trader, 'POST', '/auth/readonly-api-key');
}

test('keys of each kind are found on their server alone', async () => {
  const [ingress, other] = exchange.ingresses;
  const [token = ''] = exchange.tokens;
  const first = await place(ingress, trader, [order(trader, token)], 'kept-1');
  expect(first).toMatchObject(placed);
  const again = await place(other, trader, [order(trader, token)], 'kept-1');
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect((await split('kept-split')).status).toBe(200);
  expect((await makeReadKey()).status).toBe(200);

  const kept = new Set<keyof RedisKeys>();
  // Some are gone after a second: a request like one before makes them again.
  const wanted: readonly (keyof RedisKeys)[] = [
    'limits',
    'limitsBytes',
    'retry',
    'retries',
    'usedProofs',
  ];
  await until(async () => {
    await place(other, trader, [order(trader, token)], 'kept-1');
    for (const name of await namesOn(cache)) kept.add(kindOf(name));
    return wanted.every((name) => kept.has(name));
  });
  const folded = new Set((await namesOn(exchange.redis)).map(kindOf));
  expect([...kept].filter((name) => !isCacheKey(name))).toEqual([]);
  expect([...folded].filter((name) => isCacheKey(name))).toEqual([]);
  expect(folded.has('ledgerState')).toBe(true);
});

/** Batches of a wallet without money under keys of their own, until they are refused; returns the refusal. */
async function fill(stranger: Trader): Promise<{ status: number; code: unknown; kept: number }> {
  const [token = ''] = exchange.tokens;
  const orders = Array.from({ length: ordersPerRequestMax }, () => order(stranger, token));
  const most = (cacheBudgets(cacheBytes).retries.orders * retryLimits.walletPart) / 1_024;
  for (let count = 0; count <= most; count += 1) {
    const { status, body } = await place(exchange.ingresses[0], stranger, orders, `fill-${count}`);
    if (status !== 200) return { status, code: Reflect.get(body, 'code'), kept: count };
  }
  throw new Error('a wallet has no bound');
}

/** Wallets beyond those whose parts are the whole: what one may keep is less than its part by a batch. */
const furtherWallets = 6;

test('free keys fill neither the Redis of the ledger nor its neighbour', async () => {
  const before = await settledNames();
  const money = await exchange.ledger.balance(trader.signer.address);
  const codes: unknown[] = [];
  for (let wallet = 0; wallet < 1 / retryLimits.walletPart + furtherWallets; wallet += 1) {
    const { code, kept } = await fill(await exchange.makeKey(exchange.newSigner()));
    codes.push(code);
    if (code === 'retries_unavailable' && kept === 0) break;
  }
  expect(codes).toContain('too_many_retry_keys');
  expect(codes.at(-1)).toBe('retries_unavailable');
  const used = Number(/^used_memory:(\d+)/m.exec(await cache.info('memory'))?.[1]);
  process.stdout.write(`${codes.length} wallets; ${used} bytes of ${maxMemoryBytes} are used\n`);
  expect(used).toBeLessThan(maxMemoryBytes);
  expect(await settledNames()).toEqual(before);
  expect(await exchange.ledger.balance(trader.signer.address)).toEqual(money);

  // Nothing that was kept is forgotten for it, and what needs no memory goes on.
  const [token = ''] = exchange.tokens;
  const again = await place(exchange.ingresses[1], trader, [order(trader, token)], 'kept-1');
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(await place(exchange.ingresses[0], trader, [order(trader, token)])).toMatchObject(placed);
  expect((await cancelAll(exchange.ingresses[0], trader)).length).toBe(2);
}, 240_000);

test('an action for which there is no memory is carried out once all the same', async () => {
  const { actions } = cacheBudgets(cacheBytes).retries;
  const window = Math.floor((Date.now() + retryLimits.ttlMs) / retryLimits.windowMs);
  const all = redisKeys(exchange.name).retries('actions');
  await cache.hincrby(all, String(window), actions);
  // The ledger may still release what canceled orders held: money in all does not change by that.
  const money = async () => {
    const { freeMicro, heldMicro } = await exchange.ledger.balance(trader.signer.address);
    return freeMicro + heldMicro;
  };
  const before = await money();
  const [first, second] = [await split('full-split'), await split('full-split')];
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.headers.get('idempotent-replayed')).toBeNull();
  expect(second.body).toEqual(first.body);
  await until(async () => (await money()) === before - 1_000_000);
  await cache.hincrby(all, String(window), -actions);
});

test('without that server orders and cancels go on, and what needs its memory waits until it is back', async () => {
  const [ingress, other] = exchange.ingresses;
  const [token = ''] = exchange.tokens;
  await server.kill();
  expect(await place(ingress, trader, [order(trader, token)])).toMatchObject(placed);
  expect(await cancelAll(other, trader)).toHaveLength(1);
  const waits = await place(ingress, trader, [order(trader, token)], 'while-away');
  expect(waits).toMatchObject({ status: 503, body: { code: 'retries_unavailable' } });
  expect(await split('while-away')).toMatchObject({
    status: 503,
    body: { code: 'retries_unavailable' },
  });
  expect(await makeReadKey()).toMatchObject({ status: 503, body: { code: 'proofs_unavailable' } });
  expect((await exchange.ledger.state()).ready).toBe(true);

  server.start();
  await until(() =>
    cache.ping().then(
      () => true,
      () => false,
    ),
  );
  expect(await cache.hlen(redisKeys(exchange.name).retries('orders'))).toBe(0);
  await until(async () => {
    const answer = await place(ingress, trader, [order(trader, token)], 'while-away');
    return answer.status === 200;
  });
  expect((await split('while-away')).status).toBe(200);
  await until(async () => (await makeReadKey()).status === 200);
}, 120_000);

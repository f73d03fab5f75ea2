import { setTimeout as wait } from 'node:timers/promises';
import {
  authFrame,
  type BuiltOrder,
  buildOrder,
  ExchangeClient,
  type Signer,
  signedHeaders,
  walletFromPrivateKey,
} from '@pm/client';
import { testAccounts } from '@pm/deploy/demo/wallets';
import type { PortName } from '@pm/deploy/local/ports';
import type { ScaledService } from '@pm/deploy/stack/scale';
import { present } from '@pm/kit/assert';
import type { ApiKeyTrio, PlacementResult } from '@pm/schemas/http/trading';
import type { SigningDomain } from '@pm/schemas/signing';
import { runLength } from '../../../kit/test/long-runs.ts';
import { StreamClient } from '../../../streams/test/stream-client.ts';
import { LogTruth } from '../streams/log-truth.ts';
import { openTraders } from '../traders.ts';
import { eventOf, untilNone, WholeExchange } from '../whole-exchange.ts';

const seed = 20_261_126;
/** One for each of two processes; every further one costs all 13 processes its ticks. */
const partitions = 2;
const marketCount = 4;
const scale = { ingress: 2, matcher: 2, projectors: 2, 'query-api': 2, streams: 2, gateway: 2 };
/** The retry budget that the client library has by default. */
const retry = { firstPauseMs: 100, longestPauseMs: 2_000, totalMs: 30_000 };
/** Between two actions of a trader, milliseconds: an order or two are on their way at any time. */
const thinkMs = { least: 150, most: 600 };
/** Longest waits for what comes by itself: many times what it takes on a machine of its own, milliseconds. */
const knownMaxMs = 120_000;
/** Orders that are placed over the restarts and after the last one, and the longest wait for them. */
const placedMin = 50;
const placedMaxMs = 240_000;
/** Sales, each followed at once by what its proceeds pay for and by reads; and traders who sell at the same time. */
const sales = runLength({ test: 8, deep: 10_000 });
/** Each has four sales at least, if there are as many: one of each kind, and the first kind at both ingresses. */
const sellers = Math.min(marketCount, Math.ceil(sales / 4));
/** A wallet has too few retry keys an hour to sell all of a long run. */
const salesOfSeller = 500;
/** Tries of a read of own rows; each waits for the newest records before it is refused. */
const servedTries = 50;
/** Longer than a session without heartbeats lives, milliseconds. */
const sessionMs = 16_000;

let exchange: WholeExchange;
let domain: SigningDomain;

beforeAll(async () => {
  const env = { 'query-api': { PM_RATE_LIMIT_SCALE: '1' } };
  exchange = await WholeExchange.open('scale', {
    partitions,
    events: [eventOf('scale', marketCount)],
    scale,
    env,
  });
  domain = await exchange.client(walletOf(1)).signingDomain();
}, 900_000);

afterAll(() => exchange?.close(), 90_000);

const walletOf = (number: number): Signer =>
  walletFromPrivateKey(`0x${String(number).padStart(64, '6')}`);

/** Base URLs of both processes of a service. */
function bothOf(service: ScaledService, port: PortName): readonly [string, string] {
  const [first = '', second = ''] = (exchange.places?.of(service) ?? []).map(
    ({ ports }) => `http://127.0.0.1:${ports[port]}`,
  );
  return [first, second];
}

interface Sent {
  readonly key: ApiKeyTrio;
  readonly signer: Signer;
  readonly body?: string;
  readonly more?: Readonly<Record<string, string>>;
}

/** One request straight at a process, with the proof of a key, and without a second try. */
async function ask(baseUrl: string, method: string, path: string, sent: Sent) {
  const { key, signer, body = '', more = {} } = sent;
  const holder = { ...key, address: signer.checksummed };
  const signed = signedHeaders(holder, { method: method as 'POST', path, body }, Date.now());
  const response = await fetch(baseUrl + path, {
    method,
    headers: { 'content-type': 'application/json', ...signed, ...more },
    body: body === '' ? null : body,
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** A read of own rows that is late is refused as unavailable, which says nothing of the key: it is sent again. */
async function askUntilServed(baseUrl: string, method: string, path: string, sent: Sent) {
  for (let left = servedTries; ; left -= 1) {
    const response = await ask(baseUrl, method, path, sent);
    if (response.status !== 503 || left === 0) return response;
  }
}

function orderOf(signer: Signer, key: ApiKeyTrio, token: string, price = '0.10'): BuiltOrder {
  const context = { signer, domain, negRisk: false, owner: key.apiKey, nowMs: Date.now() };
  return buildOrder({ tokenId: token, side: 'BUY', price, size: '1' }, context);
}

/** A key of the wallet, made at this ingress. */
function connectAt(baseUrl: string, signer: Signer, nonce = 0n): Promise<ApiKeyTrio> {
  return new ExchangeClient({ baseUrl, signer, domain }).connect(nonce);
}

const tokenIn = (index: number): string => exchange.markets[index]?.tokenIds[0] ?? '';

test('a key that one ingress gives out works at once at the other and at every query-api', async () => {
  const [first, second] = bothOf('ingress', 'ingress');
  const readers = bothOf('query-api', 'queryApi');
  for (let number = 10; number < 18; number += 1) {
    const signer = walletOf(number);
    const key = await connectAt(number % 2 === 0 ? first : second, signer);
    const other = number % 2 === 0 ? second : first;
    const answers = await Promise.all([
      ask(other, 'DELETE', '/cancel-all', { key, signer }),
      ...readers.map((url) => askUntilServed(url, 'GET', '/data/orders', { key, signer })),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  }
}, 240_000);

test('a key whose revocation was answered is refused at every ingress and query-api', async () => {
  const urls = [...bothOf('ingress', 'ingress'), ...bothOf('query-api', 'queryApi')];
  for (let number = 30; number < 34; number += 1) {
    const signer = walletOf(number);
    const [one, other] = number % 2 === 0 ? urls : [urls[1], urls[0]];
    const key = await connectAt(one ?? '', signer);
    const revoked = await ask(other ?? '', 'DELETE', '/auth/api-key', { key, signer });
    expect([revoked.status, revoked.headers.get('x-revocation-pending')]).toEqual([200, null]);
    const paths = ['/cancel-all', '/cancel-all', '/data/orders', '/data/orders'];
    const answers = await Promise.all(
      urls.map((url, at) => ask(url, at < 2 ? 'DELETE' : 'GET', paths[at] ?? '', { key, signer })),
    );
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  }
}, 240_000);

test('an unknown key is refused everywhere', async () => {
  const signer = walletOf(40);
  const key = await connectAt(bothOf('ingress', 'ingress')[0], signer);
  const unknown = { ...key, apiKey: '00000000-0000-4000-8000-000000000000' as typeof key.apiKey };
  const urls = [...bothOf('ingress', 'ingress'), ...bothOf('query-api', 'queryApi')];
  for (const [index, baseUrl] of urls.entries()) {
    const [method, path] = index < 2 ? ['DELETE', '/cancel-all'] : ['GET', '/data/orders'];
    expect((await ask(baseUrl, method, path, { key: unknown, signer })).status).toBe(401);
  }
}, 240_000);

test('an order that is retried at the other ingress, with its idempotency key or without, has one result', async () => {
  const ingresses = bothOf('ingress', 'ingress');
  const signer = walletOf(50);
  await exchange.deposit([signer], '100');
  const key = await connectAt(ingresses[0], signer);
  for (let round = 0; round < 10; round += 1) {
    const order = orderOf(signer, key, tokenIn(round % marketCount));
    const body = JSON.stringify([order.submission]);
    const more: Record<string, string> =
      round % 2 === 0 ? { 'idempotency-key': `key-${round}` } : {};
    const sent = { key, signer, body, more };
    const [one, other] = round % 4 < 2 ? ingresses : [ingresses[1], ingresses[0]];
    const placed = await ask(one, 'POST', '/orders', sent);
    const again = await ask(other, 'POST', '/orders', sent);
    const [result] = placed.body as readonly PlacementResult[];
    expect(result).toMatchObject({ success: true, status: 'live', orderID: order.orderId });
    const repeated = round % 2 === 0 ? {} : { repeated: true, alive: true };
    expect(again.body).toEqual([{ ...result, ...repeated }]);
    if (round % 2 === 0) expect(again.headers.get('idempotent-replayed')).toBe('true');
  }
  const canceled = await ask(ingresses[1], 'DELETE', '/cancel-all', { key, signer });
  expect((canceled.body as { canceled: string[] }).canceled).toHaveLength(10);
}, 240_000);

test('requests at both query-apis count against one limit', async () => {
  const readers = bothOf('query-api', 'queryApi');
  const limit = 80;
  const headers = { 'x-forwarded-for': '203.0.113.77', 'content-type': 'application/json' };
  const body = JSON.stringify([{ token_id: tokenIn(0) }]);
  // A window may end at any request: then one is left less than the limit.
  let left = 0;
  let refused = 0;
  for (let sent = 0; sent < 2 * limit && refused < 10; sent += 1) {
    const url = `${readers[sent % 2 === 0 ? 0 : 1]}/midpoints`;
    const response = await fetch(url, { method: 'POST', headers, body });
    if (response.status === 200) {
      const remaining = Number(response.headers.get('ratelimit-remaining'));
      expect([left - 1, limit - 1]).toContain(remaining);
      left = remaining;
    } else {
      expect([response.status, left]).toEqual([429, 0]);
      refused += 1;
    }
  }
}, 240_000);

interface Trader {
  readonly signer: Signer;
  readonly key: ApiKeyTrio;
}

async function openTrader(number: number, money: string): Promise<Trader> {
  const signer = walletOf(number);
  await exchange.deposit([signer], money);
  return { signer, key: await connectAt(bothOf('ingress', 'ingress')[0], signer) };
}

/**
 * Amount of the split or withdrawal after each sale, micro-USDC; the sale of one share is the only money of a seller.
 */
const paidMicro = 400_000;

/** A pair of traders in a market of their own, who ask every process in turn. */
class AnsweredSales {
  readonly #market: number;
  readonly #maker: Trader;
  readonly #seller: Trader;
  /** Responses and reads that do not agree with the responses before. */
  readonly wrong: string[] = [];
  #netMicro: number | null = null;
  #sharesMicro = 0;

  private constructor(market: number, maker: Trader, seller: Trader) {
    this.#market = market;
    this.#maker = maker;
    this.#seller = seller;
  }

  /** `number` of the pair: each has wallets of its own. */
  static async open(number: number, market: number, count: number): Promise<AnsweredSales> {
    const maker = await openTrader(1_000 + 2 * number, String(count));
    const seller = await openTrader(1_001 + 2 * number, String(count));
    const sales = new AnsweredSales(market, maker, seller);
    await sales.#act(0, 'split', String(count));
    sales.#sharesMicro = count * 1e6;
    return sales;
  }

  async sell(round: number): Promise<void> {
    await this.#bid();
    const terms = { side: 'SELL', price: '0.50' } as const;
    const sold = await this.#order(this.#gateway, this.#seller, terms);
    this.#expect(`sale ${JSON.stringify(sold)}`, sold.status === 'matched');
    this.#sharesMicro -= 1e6;
    const kind = (['order', 'split', 'withdrawals'] as const)[round % 3] ?? 'order';
    const placed =
      kind === 'order'
        ? await this.#order(this.#ingress(round), this.#seller, { side: 'BUY', price: '0.40' })
        : null;
    if (kind !== 'order') await this.#act(round, kind, '0.4');
    else this.#expect(`order ${JSON.stringify(placed)}`, placed?.status === 'live');
    if (kind === 'split') this.#sharesMicro += paidMicro;
    await this.#readMoney(kind === 'order' ? 0 : paidMicro);
    await Promise.all([this.#readPosition(), placed === null ? null : this.#readOrder(placed)]);
    await this.#withdrawAll(round, placed);
  }

  /** The book shows a bid as soon as it is answered. */
  async #bid(): Promise<void> {
    const { token, key } = { token: tokenIn(this.#market), key: this.#maker.key };
    const order = orderOf(this.#maker.signer, key, token, '0.50');
    const body = JSON.stringify(order.submission);
    const placed = await ask(this.#gateway, 'POST', '/order', { ...this.#maker, body });
    const { status } = placed.body as PlacementResult;
    this.#expect(`bid ${JSON.stringify(placed.body)}`, status === 'live');
    const response = await fetch(`${this.#gateway}/book?token_id=${token}`);
    const { bids } = (await response.json()) as { bids: { price: string; size: string }[] };
    const behind = response.headers.get('x-behind');
    const best = bids.at(-1);
    this.#expect(`book ${behind} ${JSON.stringify(best)}`, Number(best?.price) === 0.5);
  }

  /** It knows what the pair was answered by it, and has public reads wait for that. */
  get #gateway(): string {
    return exchange.baseUrls[this.#market % 2] ?? '';
  }

  #ingress(round: number): string {
    return bothOf('ingress', 'ingress')[round % 2] ?? '';
  }

  async #order(
    url: string,
    { signer, key }: Trader,
    terms: { readonly side: 'BUY' | 'SELL'; readonly price: string },
  ): Promise<PlacementResult> {
    const context = { signer, domain, negRisk: false, owner: key.apiKey, nowMs: Date.now() };
    const order = buildOrder({ tokenId: tokenIn(this.#market), size: '1', ...terms }, context);
    const body = JSON.stringify(order.submission);
    const { body: result } = await ask(url, 'POST', '/order', { key, signer, body });
    return result as PlacementResult;
  }

  /** A split, which a public read is to show, through the gateway; a withdrawal at each ingress in turn. */
  async #act(round: number, action: 'split' | 'withdrawals', amount: string): Promise<void> {
    const id = `${action}-${this.#market}-${round}-${amount}`;
    const of =
      action === 'split' ? { condition_id: exchange.markets[this.#market]?.conditionId } : {};
    const url = action === 'split' ? this.#gateway : this.#ingress(round);
    const body = JSON.stringify({ id, amount, ...of });
    const done = await ask(url, 'POST', `/account/${action}`, { ...this.#seller, body });
    this.#expect(`${action} ${amount} ${JSON.stringify(done.body)}`, done.status === 200);
  }

  /** Money of the seller at every reader; all of it is what one sale brought, less what was paid. */
  async #readMoney(spentMicro: number): Promise<void> {
    const path = '/balance-allowance?asset_type=COLLATERAL&signature_type=0';
    for (const body of await this.#readAll(path)) {
      const owned = Number((body as { balance: string }).balance);
      this.#netMicro ??= owned + spentMicro;
      this.#expect(`money ${owned} of ${this.#netMicro}`, owned === this.#netMicro - spentMicro);
    }
  }

  async #readOrder({ orderID }: PlacementResult): Promise<void> {
    for (const body of await this.#readAll('/data/orders')) {
      const ids = (body as { data: { id: string }[] }).data.map(({ id }) => id);
      this.#expect(`orders ${ids.join()}`, ids.join() === orderID);
    }
  }

  /** Positions are public: the gateway knows that it is the seller who asks. */
  async #readPosition(): Promise<void> {
    const { signer, key } = this.#seller;
    const path = `/positions?user=${signer.address}&limit=10&sizeThreshold=0`;
    const { body } = await askUntilServed(this.#gateway, 'GET', path, { signer, key });
    const found = (body as { asset: string; size: number; outcomeIndex: number }[]).find(
      ({ outcomeIndex }) => outcomeIndex === 0,
    );
    const sizeMicro = Math.round((found?.size ?? 0) * 1e6);
    this.#expect(`position ${sizeMicro} of ${this.#sharesMicro}`, sizeMicro === this.#sharesMicro);
  }

  async #readAll(path: string): Promise<readonly unknown[]> {
    const readers = bothOf('query-api', 'queryApi');
    const asked = readers.map((url) => askUntilServed(url, 'GET', path, this.#seller));
    return (await Promise.all(asked)).map(({ body }) => body);
  }

  /** Nothing is left that could pay for what the next sale is to pay for. */
  async #withdrawAll(round: number, placed: PlacementResult | null): Promise<void> {
    if (placed !== null) {
      const body = JSON.stringify({ orderID: placed.orderID });
      await ask(this.#ingress(round), 'DELETE', '/order', { ...this.#seller, body });
    }
    const leftMicro = (this.#netMicro ?? 0) - (placed === null ? paidMicro : 0);
    if (leftMicro > 0) await this.#act(round + 1, 'withdrawals', (leftMicro / 1e6).toFixed(6));
  }

  #expect(what: string, holds: boolean): void {
    if (!holds) this.wrong.push(what);
  }
}

test(
  'what was answered is true at once at every process: money, own rows, positions and the book',
  async () => {
    const each = Math.min(salesOfSeller, Math.ceil(sales / sellers));
    for (let pairsDone = 0; pairsDone * each < sales; pairsDone += sellers) {
      const pairs = await Promise.all(
        Array.from({ length: sellers }, (_, market) =>
          AnsweredSales.open(pairsDone + market, market, each),
        ),
      );
      await Promise.all(
        pairs.map(async (pair) => {
          for (let round = 0; round < each; round += 1) await pair.sell(round);
        }),
      );
      expect(pairs.flatMap(({ wrong }) => wrong)).toEqual([]);
    }
  },
  240_000 + sales * 2_000,
);

test('what an operator changes counts at every ingress and query-api', async () => {
  const [market] = exchange.markets;
  const signer = walletOf(60);
  await exchange.deposit([signer], '100');
  const [first, second] = bothOf('ingress', 'ingress');
  const key = await connectAt(first, signer);
  const codesAt = async (baseUrl: string) => {
    const body = JSON.stringify(orderOf(signer, key, tokenIn(0)).submission);
    const { body: result } = await ask(baseUrl, 'POST', '/order', { key, signer, body });
    return (result as PlacementResult).code ?? 'placed';
  };
  const differing = (wanted: string) => async () => {
    const codes = [await codesAt(first), await codesAt(second)];
    return codes.filter((code) => code !== wanted);
  };
  await exchange.operate('POST', `markets/${market?.id}/mode`, { mode: 'CANCEL_ONLY' });
  await untilNone('both refuse', differing('cancel_only'), knownMaxMs);
  const closedAt = async () => {
    const shown = bothOf('query-api', 'queryApi').map(async (baseUrl) => {
      const response = await fetch(`${baseUrl}/markets/${market?.id}`);
      return (await response.json()) as { readonly acceptingOrders: boolean };
    });
    return (await Promise.all(shown)).filter((one) => one.acceptingOrders).map(String);
  };
  await untilNone('both show it', closedAt, knownMaxMs);
  await exchange.operate('POST', `markets/${market?.id}/mode`, { mode: 'OPEN' });
  await untilNone('both accept', differing('placed'), knownMaxMs);
  await ask(second, 'DELETE', '/cancel-all', { key, signer });
}, 240_000);

/** A connection that cancels the orders of the key when it ends, at one process of streams. */
async function openGuard(baseUrl: string, signer: Signer, key: ApiKeyTrio): Promise<StreamClient> {
  const client = await StreamClient.open(`${baseUrl.replace('http', 'ws')}/v1/stream`);
  const { stream_id: streamId } = await client.of('welcome');
  const holder = { ...key, address: signer.checksummed };
  const proof = { streamId: String(streamId), cancelOnDisconnect: true };
  client.send({ ...authFrame(holder, proof, Date.now()), id: 1 });
  await client.of('authenticated');
  // A connection without a subscription is closed.
  client.send({ op: 'subscribe', id: 2, channel: 'own' });
  await client.of('subscribed');
  return client;
}

test('sessions end with their process of streams, those of the other go on while connected, also when an ingress dies', async () => {
  const urls = bothOf('streams', 'streams');
  const [first] = bothOf('ingress', 'ingress');
  const guarded: { signer: Signer; key: ApiKeyTrio; guard: StreamClient }[] = [];
  for (const [index, url] of urls.entries()) {
    const signer = walletOf(70 + index);
    await exchange.deposit([signer], '100');
    const key = await connectAt(first, signer);
    const guard = await openGuard(url, signer, key);
    const body = JSON.stringify(orderOf(signer, key, tokenIn(index)).submission);
    const placed = await ask(first, 'POST', '/order', { key, signer, body });
    expect(placed.body).toMatchObject({ success: true, status: 'live' });
    guarded.push({ signer, key, guard });
  }
  const openOrders = async (index: number) => {
    const [one = guarded[0], other = one] = guarded;
    const { signer, key } = present(index === 0 ? one : other, 'both are guarded');
    const [reader] = bothOf('query-api', 'queryApi');
    const answer = await askUntilServed(reader, 'GET', '/data/orders', { key, signer });
    return (answer.body as { data: unknown[] }).data.map(String);
  };
  expect([await openOrders(0), await openOrders(1)].map(({ length }) => length)).toEqual([1, 1]);
  // Both processes of streams sent heartbeats to it; those of the second one go on over the other ingress.
  const away = wait(sessionMs);
  await Promise.all([exchange.kill('ingress'), exchange.kill('streams')]);
  await untilNone('its orders are canceled', () => openOrders(0), knownMaxMs);
  await away;
  // Its connection has lived for longer than a session without heartbeats.
  expect(await openOrders(1)).toHaveLength(1);
  for (const { guard } of guarded) guard.socket.terminate();
}, 480_000);

/** Partitions of a view that each of the projectors keeps; null where one does not respond. */
async function ownedBy(baseUrl: string, view: string): Promise<readonly number[] | null> {
  const response = await fetch(`${baseUrl}/status`).catch(() => null);
  if (response === null) return null;
  const { views } = (await response.json()) as {
    views: Record<string, { partition: number; phase: string }[]>;
  };
  const running = (views[view] ?? []).filter(({ phase }) => phase === 'running');
  return running.map(({ partition }) => partition);
}

const viewNames = ['tables', 'books', 'ledger'];

/** Views of which the projectors do not keep each partition once, or one of them keeps none. */
async function unevenViews(): Promise<readonly string[]> {
  const urls = bothOf('projectors', 'projectorsOps');
  const uneven: string[] = [];
  for (const view of viewNames) {
    const owned = await Promise.all(urls.map((url) => ownedBy(url, view)));
    const all = owned.flatMap((some) => some ?? []).sort((one, other) => one - other);
    const isShared = owned.every((some) => some !== null && some.length > 0);
    const isWhole = all.join() === Array.from({ length: partitions }, (_, one) => one).join();
    if (!isShared || !isWhole) uneven.push(`${view}: ${JSON.stringify(owned)}`);
  }
  return uneven;
}

test('projectors share the partitions of each view, and hand them over and back', async () => {
  await untilNone('shared', unevenViews, knownMaxMs);
  await exchange.kill('projectors-2');
  await untilNone('shared again', unevenViews, knownMaxMs);
}, 480_000);

test('a rolling restart of everything under load leaves no order without its result', async () => {
  const accounts = testAccounts().slice(0, 4);
  await exchange.deposit(accounts, '5000');
  const { received, ended, stop } = await openTraders(exchange, {
    accounts,
    baseUrlOf: (index) => present(exchange.baseUrls[index % 2], 'two gateways'),
    seeds: { orders: seed, pauses: seed + 100 },
    retry,
    thinkMs,
  });
  const names = exchange.processes.map(({ name }) => name);
  expect(names).toHaveLength(13);
  const rolling = (async () => {
    for (const name of names) await exchange.restart(name);
  })();
  rolling.catch(() => undefined);
  const startedMs = performance.now();
  // A trader that fails ends the wait.
  await Promise.race([rolling, ended]);
  await rolling;
  const wanted = Math.max(placedMin, received.placed.size + accounts.length);
  const missing = async () =>
    received.placed.size < wanted ? [`${received.placed.size} of ${wanted}`] : [];
  await Promise.race([untilNone('orders are placed', missing, placedMaxMs), ended]);
  await stop();
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  console.log(`${names.length} restarts in ${seconds} s, ${received.placed.size} orders placed`);
  expect(received.unread).toEqual([]);
  expect(received.placed.size).toBeGreaterThanOrEqual(wanted);
  const truth = await LogTruth.read(exchange.log, exchange.markets);
  expect(truth.audit.violations).toEqual([]);
  for (const id of received.placed) expect(truth.audit.orders.has(id)).toBe(true);
  for (const id of received.refused) expect(truth.audit.orders.has(id)).toBe(false);
}, 1_800_000);

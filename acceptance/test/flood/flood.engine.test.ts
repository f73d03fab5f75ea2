import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
  call,
  ExchangeUnderTest,
  type IngressProcess,
  order,
  type Trader,
  until,
} from '../exchange-under-test.ts';

// Floods from one address over HTTP, with the limits of the product. Clocks judge nothing: what passes has to pass.
const partitions = 4;
let exchange: ExchangeUnderTest;
/** An ingress whose limits are a twentieth of the table, for all tests that need no more. */
let narrow: IngressProcess;

beforeAll(async () => {
  exchange = await ExchangeUnderTest.openLone('flood', partitions);
  narrow = await openLimited(0.05);
}, 180_000);

afterAll(() => exchange?.close(), 60_000);

/** An ingress whose limits are the table times `scale`. */
function openLimited(scale: number): Promise<IngressProcess> {
  const limits = { PM_RATE_LIMIT_SCALE: String(scale), PM_TRUSTED_PROXIES: '127.0.0.1' };
  return exchange.openIngress('127.0.0.1', limits);
}

let addresses = 0;

/** An address that a trusted proxy names, and that has sent nothing yet. */
function newAddress(): string {
  addresses += 1;
  return `198.51.100.${addresses}`;
}

/** Keys that are made at a time. */
const madeAtOnce = 10;

/** A key of each of these wallets, by nonce. */
async function makeKeys(
  wanted: readonly (readonly [Trader['signer'], bigint])[],
): Promise<readonly Trader[]> {
  const made: Trader[] = [];
  for (let from = 0; from < wanted.length; from += madeAtOnce) {
    const some = wanted.slice(from, from + madeAtOnce);
    const keys = some.map(([signer, nonce]) => exchange.makeKey(signer, nonce));
    made.push(...(await Promise.all(keys)));
  }
  return made;
}

/** Requests of a client at an address to one ingress. */
function clientAt(ingress: IngressProcess, address: string) {
  const headers = { 'x-forwarded-for': address };
  const ask = (trader: Trader, method: string, path: string, sent: unknown) =>
    call(ingress, trader, method, path, { body: JSON.stringify(sent), headers });
  const token = exchange.tokens[0] ?? '';
  return {
    cancelMany: (trader: Trader, ids: readonly string[]) => ask(trader, 'DELETE', '/orders', ids),
    cancel: (trader: Trader, orderID: string) => ask(trader, 'DELETE', '/order', { orderID }),
    async place(trader: Trader, { orderId, submission } = order(trader, token)) {
      return { orderId, ...(await ask(trader, 'POST', '/order', submission)) };
    },
    /** A BUY that rests, and its cancel. */
    async placeAndCancel(trader: Trader) {
      const placed = await passed(() => this.place(trader));
      const { success, status } = placed.body as { success: boolean; status: string };
      expect([success, ['live', 'delayed'].includes(status)]).toEqual([true, true]);
      const { body, tries } = await passed(() => this.cancel(trader, placed.orderId));
      // The first of several may have canceled it without saying so; a slow machine may not have it in the book yet.
      if (tries === 1 && status === 'live')
        expect(body).toMatchObject({ canceled: [placed.orderId] });
    },
    /** Resolves once this ingress, which has counted nothing of the key and the address yet, knows the key. */
    async untilKnown(trader: Trader) {
      await exchange.forgetCounts();
      await until(async () => (await this.cancel(trader, unknownId())).status === 200);
    },
  };
}

/** Refusal codes of valid requests on a slow machine, which a client sends again; a flood must cause no other code. */
const slowCodes = ['too_late', 'order_unconfirmed', 'cancel_unconfirmed', 'partition_not_ready'];
const triesMax = 20;
const betweenTriesMs = 100;

async function passed<A extends { readonly status: number; readonly body: object }>(
  ask: () => Promise<A>,
): Promise<A & { readonly tries: number }> {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask();
    if (answer.status === 200) return { ...answer, tries };
    expect(slowCodes).toContain((answer.body as { readonly code?: string }).code);
    expect(tries).toBeLessThan(triesMax);
    await wait(betweenTriesMs);
  }
}

const unknownId = () => `0x${randomBytes(32).toString('hex')}`;
const badSecret = () => randomBytes(32).toString('base64url');
const withTrio = (trader: Trader, changes: Partial<Trader['trio']>): Trader => ({
  ...trader,
  trio: { ...trader.trio, ...changes },
});

/** Before the next request after a refused one, milliseconds: a hundred loops send 500 of those a second. */
const refusedPauseMs = 200;

/** Keeps `atOnce` requests in flight or about to be sent again until it is stopped; counts what they got. */
class Flood {
  readonly statuses = new Map<number, number>();
  #isOver = false;
  readonly #loops: readonly Promise<void>[];

  constructor(atOnce: number, send: (loop: number) => Promise<{ readonly status: number }>) {
    this.#loops = Array.from({ length: atOnce }, async (_, loop) => {
      while (!this.#isOver) {
        const { status } = await send(loop);
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
        if (status >= 400) await wait(refusedPauseMs);
      }
    });
  }

  /** Resolves once some request got this status. */
  async got(status: number): Promise<void> {
    await until(async () => this.statuses.has(status));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }
}

test('a flood of bad proofs from an address leaves the good keys behind it able to place and to cancel', async () => {
  const good = await exchange.openTrader('100');
  const client = clientAt(narrow, newAddress());
  await client.untilKnown(good);
  // The proof is judged before the order: signing each would cost this process more than the flood costs ingress.
  const body = order(good, exchange.tokens[0] ?? '');
  const bad = () => withTrio(good, { apiKey: randomUUID() as never, secret: badSecret() as never });
  const flood = new Flood(20, () => client.place(bad(), body));
  try {
    await flood.got(401);
    await flood.got(429);
    for (let round = 0; round < 5; round += 1) await client.placeAndCancel(good);
  } finally {
    await flood.stop();
  }
  // 408 is a request that a busy process did not come to read in time.
  for (const status of flood.statuses.keys()) expect([401, 408, 429]).toContain(status);
}, 180_000);

test('bad proofs for a key lock it out at their address, cancels and other addresses excepted', async () => {
  const good = await exchange.openTrader('100');
  const [client, elsewhere] = [clientAt(narrow, newAddress()), clientAt(narrow, newAddress())];
  await elsewhere.untilKnown(good);
  const resting = (await passed(() => elsewhere.place(good))).orderId;
  const body = order(good, exchange.tokens[0] ?? '');
  const bad = () => withTrio(good, { secret: badSecret() as never });
  const flood = new Flood(10, () => client.place(bad(), body));
  try {
    await until(async () => (await client.place(good)).status === 429);
    await passed(() => client.cancel(good, resting));
    for (let round = 0; round < 5; round += 1) await elsewhere.placeAndCancel(good);
  } finally {
    await flood.stop();
  }
}, 180_000);

test('a hundred keys at one address that search for unknown orders leave orders and cancels to others', async () => {
  const wallets = Array.from({ length: 50 }, () => exchange.newSigner());
  const wanted = wallets.flatMap((signer) => [0n, 1n].map((nonce) => [signer, nonce] as const));
  const keys = await makeKeys(wanted);
  const [good, neighbor] = [await exchange.openTrader('100'), await exchange.openTrader('100')];
  const ingress = await openLimited(1);
  const [client, elsewhere] = [clientAt(ingress, newAddress()), clientAt(ingress, newAddress())];
  const ids = Array.from({ length: 100 }, unknownId);
  for (const trader of [good, neighbor]) await elsewhere.untilKnown(trader);
  const flood = new Flood(keys.length, (loop) => client.cancelMany(keys[loop] ?? good, ids));
  try {
    // The searches of the address have all of their places.
    await flood.got(503);
    for (let round = 0; round < 5; round += 1) await elsewhere.placeAndCancel(good);
    // The memory of this ingress has the order, so no partition is searched: also at the same address it passes.
    await client.placeAndCancel(neighbor);
    const missing = unknownId();
    const searched = await passed(() => elsewhere.cancel(good, missing));
    expect(Object.keys((searched.body as { not_canceled: object }).not_canceled)).toEqual([
      missing,
    ]);
  } finally {
    await flood.stop();
  }
  for (const status of flood.statuses.keys()) expect([200, 429, 503]).toContain(status);
}, 300_000);

test('wallets without money at an address use up their own part, and one with money there goes on', async () => {
  const wanted = Array.from({ length: 20 }, () => [exchange.newSigner(), 0n] as const);
  const free = await makeKeys(wanted);
  // An ingress that knows this key knows those that were made before it.
  const good = await exchange.openTrader('100');
  const client = clientAt(narrow, newAddress());
  await client.untilKnown(good);
  const flood = new Flood(free.length, (loop) => client.place(free[loop] ?? good));
  try {
    await flood.got(400);
    await flood.got(429);
    for (let round = 0; round < 5; round += 1) await client.placeAndCancel(good);
  } finally {
    await flood.stop();
  }
  // 200: on a slow machine the refusal of the log has not come in time.
  for (const status of flood.statuses.keys()) expect([200, 400, 429]).toContain(status);
}, 180_000);

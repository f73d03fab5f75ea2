import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ExchangeClient, type Signer, walletFromPrivateKey } from '@pm/client';
import type { ImportEvent } from '@pm/schemas/http/operator';
import { runLength } from '../../../kit/test/long-runs.ts';
import { OrderLoop } from '../clocks/order-loop.ts';
import { LogTruth } from '../streams/log-truth.ts';
import { eventOf, type ListedMarket, untilNone, WholeExchange } from '../whole-exchange.ts';

const partitions = 2;
/** More appends than an import makes. */
const appendsMax = 40;
/** Longest waits for what comes by itself: many times what it takes on a machine of its own, milliseconds. */
const comesMaxMs = 120_000;
const openMaxMs = 900_000;
const testMaxMs = 1_800_000;

const folder = mkdtempSync(join(tmpdir(), 'breaks-'));
const [hangFile, stopFile, pipe] = ['hang', 'stop', 'pipe'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
const signer: Signer = walletFromPrivateKey(`0x${'5'.repeat(64)}`);
let exchange: WholeExchange;
let client: ExchangeClient;
let loop: OrderLoop;
/** Markets that were imported later. */
const others: ListedMarket[] = [];

const preloading = (name: string) => `--import=${pathToFileURL(join(__dirname, name)).href}`;

/** An event with a market in each partition. */
const spreadEvent = (name: string): ImportEvent => eventOf(name, partitions);

const tokenOf = ({ tokenIds: [first = ''] }: ListedMarket) => first;

beforeAll(async () => {
  for (const file of [hangFile, stopFile]) writeFileSync(file, '');
  execFileSync('mkfifo', [pipe]);
  exchange = await WholeExchange.open('breaks', {
    partitions,
    events: [spreadEvent('first')],
    scale: { matcher: 2 },
    env: {
      'matcher-2': { NODE_OPTIONS: preloading('hung-files.mjs'), TEST_HANG_FILE: hangFile },
      operator: { NODE_OPTIONS: preloading('stopped-at-record.mjs'), TEST_STOP_FILE: stopFile },
    },
  });
  client = exchange.client(signer);
  await exchange.deposit([signer], '10000');
  const key = await client.connect();
  const domain = await client.signingDomain();
  const tokens = exchange.markets.map(tokenOf);
  loop = new OrderLoop({ baseUrl: exchange.baseUrls[0], signer, key, domain, tokens });
  await loop.goesOn('before anything breaks');
}, openMaxMs);

afterAll(async () => {
  await loop?.close().catch(() => undefined);
  await exchange?.close();
  rmSync(folder, { recursive: true, force: true });
}, openMaxMs);

/** Each of these markets takes an order that its book shows. */
async function booksGoOn(markets: readonly ListedMarket[]): Promise<void> {
  const place = { side: 'BUY', price: '0.07', size: '5' } as const;
  const goesOn = async (market: ListedMarket) => {
    const tokenId = tokenOf(market);
    const bids = async () => (await client.book(tokenId).catch(() => null))?.bids;
    await untilNone('it has a book', async () => ((await bids()) ? [] : [market.slug]), comesMaxMs);
    const placed = await client.placeOrder({ tokenId, ...place });
    expect(placed).toMatchObject({ success: true, status: 'live' });
    const missing = async () =>
      (await bids())?.some(({ price }) => price === place.price) ? [] : [market.slug];
    await untilNone('its book shows the order', missing, comesMaxMs);
    await client.cancelOrder(placed.orderID);
  };
  await Promise.all(markets.map(goesOn));
}

async function listed(event: ImportEvent): Promise<readonly ListedMarket[]> {
  const { markets } = await exchange.operator.importEvents([event]);
  others.push(...markets);
  return markets;
}

/** Kills the operator at this append of an import; false when the import ends before it. */
async function isCut(event: ImportEvent, place: string): Promise<boolean> {
  writeFileSync(stopFile, place);
  let isOver = false;
  const importing = exchange.operator.importEvents([event]);
  const ended = importing
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });
  const isThere = () => readFileSync(stopFile, 'utf8') === '';
  const missing = async () => (isOver || isThere() ? [] : [place]);
  await untilNone('the import ends or is cut', missing, comesMaxMs);
  const isReached = isThere();
  writeFileSync(stopFile, '');
  if (isReached) await exchange.kill('operator');
  await ended;
  if (!isReached) await importing;
  return isReached;
}

/** After an append is before the next one, but for what the process knows of it. */
const moments = ['after', 'before'].slice(0, runLength({ test: 1, deep: 2 }));

test.each(moments)(
  'an operator that is killed %s any append of an import leaves books that go on',
  async (moment) => {
    let cuts = 0;
    for (let append = 1; append <= appendsMax; append += 1) {
      const name = `cut-${moment}-${append}`;
      if (!(await isCut(spreadEvent(name), `${append} ${moment}`))) break;
      cuts += 1;
      // Another import comes first, and the one that was cut is completed by sending it again.
      const other = await listed(spreadEvent(`${name}-other`));
      await booksGoOn([...exchange.markets, ...other]);
      await booksGoOn(await listed(spreadEvent(name)));
    }
    expect(cuts).toBeGreaterThan(2);
    expect(cuts).toBeLessThan(appendsMax);
    await loop.goesOn('after all cuts');
  },
  testMaxMs,
);

test(
  'trading goes on while four file calls of a matcher hang',
  async () => {
    await loop.goesOn('before files hang');
    loop.forget();
    writeFileSync(hangFile, pipe);
    const unread = async () => (readFileSync(hangFile, 'utf8') === '' ? [] : ['pipe']);
    await untilNone('the calls hang', unread, comesMaxMs);
    await booksGoOn(exchange.markets);
    await loop.goesOn('while files hang');
    console.log(`longest time without a placed order ${Math.round(loop.longestMs)} ms`);
    // Opened for writing, the pipe lets the calls go.
    closeSync(openSync(pipe, 'r+'));
    await loop.goesOn('files are back');
  },
  testMaxMs,
);

test(
  'nothing was lost or doubled, and every process is ready',
  async () => {
    await loop.close();
    const notReady = async () =>
      exchange.processes.filter(({ state }) => state !== 'ready').map(({ name }) => name);
    await untilNone('all are ready', notReady, comesMaxMs);
    const truth = await LogTruth.read(exchange.log, [...exchange.markets, ...others]);
    expect(truth.audit.violations).toEqual([]);
    for (const id of loop.placed) expect(truth.audit.orders.has(id)).toBe(true);
  },
  testMaxMs,
);

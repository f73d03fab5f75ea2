import { authFrame, ExchangeClient } from '@pm/client';
import { testAccounts } from '@pm/deploy/demo/wallets';
import { present } from '@pm/kit/assert';
import { Random } from '@pm/kit/random';
import { streamPaths } from '@pm/schemas/streams/channels';
import { streamCloses } from '@pm/schemas/streams/codes';
import { runLength } from '../../../kit/test/long-runs.ts';
import type { Received } from '../../src/smoke/trader.ts';
import { openTraders } from '../traders.ts';
import { untilNone, WholeExchange } from '../whole-exchange.ts';
import { ClientReader, type SeenBook } from './client-reader.ts';
import { CuttingProxy } from './cutting-proxy.ts';
import { Disturbances, type Disturbed } from './disturbances.ts';
import { LogTruth, type OwnFillText } from './log-truth.ts';
import { RawReader } from './raw-reader.ts';

const seed = 20_261_123;
const partitions = 2;
/** One in each partition, the second with fees. */
const marketCount = 2;
/** Each has two readers of every book. */
const traderCount = 3;
const depositUsdc = '5000';
/** Fewest connections that are cut; every process is killed once for each fifty of them. */
const cuts = runLength({ test: 25, deep: 500 });
const killRounds = Math.ceil(cuts / 50);
/** A connection is never silent for longer without a reason (docs/trading/streams.md, Connections). */
const silenceMaxMs = 5_000;
/** Longer than the broker, and after it the matcher, take to come back on a busy machine. */
const retry = { firstPauseMs: 250, longestPauseMs: 1_000, totalMs: 600_000 };
/** Between two actions of a trader, milliseconds. */
const thinkMs = { least: 80, most: 400 };
/** Readers and projections reach the end of the log within so long once orders stop, milliseconds. */
const quietMaxMs = 180_000;
/** Longest time after the last kill until enough was traded, milliseconds. */
const tradedMaxMs = 600_000;
/** Subscriptions of a reader begin within so long, milliseconds. */
const beginMaxMs = 120_000;

let exchange: WholeExchange;
let proxy: CuttingProxy;
let clientReaders: readonly ClientReader[] = [];
let rawReaders: readonly RawReader[] = [];

const accounts = testAccounts().slice(0, traderCount);

beforeAll(async () => {
  const markets = Array.from({ length: marketCount }, (_, index) => ({
    slug: `kills-${index}`,
    question: `Kills ${index}?`,
    feeRateBps: index % 2 === 0 ? 0 : 441,
    minOrderSize: '1',
  }));
  const events = [{ slug: 'kills', title: 'Kills', markets }];
  exchange = await WholeExchange.open('kills', {
    partitions,
    events,
    ownBroker: true,
    hasSecondStreams: true,
    // States are written often, so that kills come between and during writes.
    env: { streams: { PM_STREAMS_SAVE_RECORDS: '200', PM_STREAMS_SAVE_MS: '1000' } },
  });
  await exchange.deposit(accounts, depositUsdc);
  const ports = exchange.baseUrls.map((url) => Number(new URL(url).port));
  proxy = new CuttingProxy(ports, new Random(seed + 1));
}, 900_000);

afterAll(async () => {
  await Promise.all(clientReaders.map((reader) => reader.close()));
  for (const reader of rawReaders) reader.close();
  await proxy?.close();
  await exchange?.close();
}, 90_000);

const tokens = (): readonly string[] => exchange.markets.flatMap(({ tokenIds }) => tokenIds);

/** A reader by the client and one by the protocol for each wallet; both read books of all markets. */
async function openReaders(): Promise<void> {
  const streamUrl = `ws://127.0.0.1:${await proxy.listen()}`;
  for (const [index, signer] of accounts.entries()) {
    const client = exchange.client(signer, { streamUrl });
    const trio = await client.connect();
    const wallet = signer.address.toLowerCase();
    const reader = new ClientReader(client, wallet, new Random(seed + 100 + index));
    clientReaders = [...clientReaders, reader];
    const key = { ...trio, address: signer.checksummed };
    const raw = new RawReader(streamUrl + streamPaths.own, {
      tokens: tokens(),
      authFrame: (streamId) => authFrame(key, { streamId, cancelOnDisconnect: false }, Date.now()),
    });
    rawReaders = [...rawReaders, raw];
    raw.connect();
    await reader.open(tokens(), partitions);
    const late = async () => (raw.hasBegun(partitions) ? [] : ['a subscription', ...raw.problems]);
    await untilNone(`reader ${index} begins`, late, beginMaxMs);
  }
}

/** Books that are not those of the log at their place. */
function wrongBooks(truth: LogTruth, books: readonly SeenBook[]): readonly SeenBook[] {
  return books.filter(({ token, offset, hash }) => hash !== truth.bookAt(token, offset));
}

/** Fills of each partition in their order. */
function inPartitions(fills: readonly OwnFillText[]): readonly (readonly string[])[] {
  return Array.from({ length: partitions }, (_, partition) =>
    fills.filter((fill) => fill.partition === partition).map(({ text }) => text),
  );
}

/** Fills and books of the current log that readers do not have yet, one line each. */
async function missing(): Promise<readonly string[]> {
  const now = await LogTruth.read(exchange.log, exchange.markets);
  const late: string[] = [];
  for (const [index, { wallet }] of clientReaders.entries()) {
    const [byClient, raw] = [clientReaders[index], rawReaders[index]];
    for (const [name, reader] of Object.entries({ client: byClient, raw })) {
      const count = reader?.fills.length;
      const logged = now.fillsOf(wallet).length;
      if (count !== logged) late.push(`${name} ${index} has ${count} of ${logged} fills`);
      for (const token of tokens()) {
        if (reader?.newestBook(token) !== now.newestBook(token))
          late.push(`${name} ${index} has another book of ${token}`);
      }
    }
  }
  return late;
}

/** Counts of the run that are too low for a meaningful result, one text each. */
async function tooFew({ placed }: Pick<Received, 'placed'>): Promise<readonly string[]> {
  const readers = [...clientReaders, ...rawReaders];
  const counts = [
    ['orders', placed.size],
    ['own fills', clientReaders.reduce((sum, { fills }) => sum + fills.length, 0)],
    ...readers.map(({ books }) => ['books', books.length] as const),
    ...rawReaders.map(({ checked }) => ['checksums', checked] as const),
  ] as const;
  return counts.filter(([, count]) => count <= cuts).map(([of, count]) => `${count} ${of}`);
}

let truth: LogTruth;
let disturbed: Disturbed;

/** Counts of the run in one line. */
function summary(): string {
  const { cuts: cut, stalls, kills } = disturbed;
  const readers = [...clientReaders, ...rawReaders];
  const sumOf = (of: (reader: (typeof readers)[number]) => number) =>
    readers.reduce((sum, reader) => sum + of(reader), 0);
  const checked = rawReaders.reduce((sum, reader) => sum + reader.checked, 0);
  return [
    `${cut} cuts, ${stalls} stalls, ${kills.length} kills, ${proxy.opened} connections`,
    `${sumOf(({ books }) => books.length)} books, ${checked} checksums`,
    `${sumOf(({ fills }) => fills.length)} own fills`,
    `longest silence ${Math.round(proxy.longestSilenceMs)} ms`,
  ].join(', ');
}

test('trading goes on over cuts, stalls and kills of streams, matcher and broker, and readers reach the end of the log', async () => {
  await openReaders();
  const { received, ended, stop } = await openTraders(exchange, {
    accounts,
    baseUrlOf: () => exchange.baseUrls[0],
    seeds: { orders: seed + 200, pauses: seed + 300 },
    retry,
    thinkMs,
  });
  const random = new Random(seed);
  const disturbances = new Disturbances(exchange, { proxy, readers: rawReaders, random });
  const running = disturbances.run(cuts, killRounds);
  running.catch(() => undefined);
  try {
    // A trader that fails ends the wait.
    await Promise.race([running, ended]);
  } finally {
    disturbances.stop();
    disturbed = await running;
  }
  await Promise.race([untilNone('enough was traded', () => tooFew(received), tradedMaxMs), ended]);
  await stop();
  expect(received.unread).toEqual([]);
  expect(disturbed.cuts).toBeGreaterThanOrEqual(cuts);
  await untilNone('readers reach the end of the log', missing, quietMaxMs);
  truth = await LogTruth.read(exchange.log, exchange.markets);
  expect(truth.audit.violations).toEqual([]);
  expect([...received.placed].filter((id) => !truth.audit.orders.has(id))).toEqual([]);
  expect(received.placed.size).toBeGreaterThan(cuts);
  console.log(summary());
}, 1_800_000);

test('every book of every reader was that of the log at the same offset', () => {
  for (const reader of [...clientReaders, ...rawReaders]) {
    expect(reader.problems).toEqual([]);
    expect(wrongBooks(truth, reader.books)).toEqual([]);
    expect(reader.books.length).toBeGreaterThan(cuts);
  }
});

test('checksums of the streams, GET /book and the books of readers are the same', async () => {
  for (const reader of rawReaders) expect(reader.checked).toBeGreaterThan(cuts);
  const client = new ExchangeClient({ baseUrl: present(exchange.baseUrls[1], 'two gateways') });
  const differing = async () => {
    const books = await Promise.all(tokens().map((token) => client.book(token)));
    return books.flatMap(({ asset_id: token, hash }) =>
      rawReaders.every((reader) => reader.checksumOf(token) === hash) ? [] : [token],
    );
  };
  await untilNone('GET /book has the hash of the checksums', differing, quietMaxMs);
  for (const reader of rawReaders) expect(reader.problems).toEqual([]);
}, 240_000);

test('every fill of every wallet came exactly once, in the order of its partition', () => {
  let fills = 0;
  for (const [index, { wallet, fills: byClient }] of clientReaders.entries()) {
    const expected = inPartitions(truth.fillsOf(wallet));
    expect(inPartitions(byClient)).toEqual(expected);
    expect(inPartitions(rawReaders[index]?.fills ?? [])).toEqual(expected);
    fills += byClient.length;
  }
  expect(fills).toBeGreaterThan(cuts);
});

test('no connection was silent for longer than 5 s: the log that was away was stated, then the reason of the close', () => {
  expect(proxy.longestSilenceMs).toBeLessThanOrEqual(silenceMaxMs);
  expect(disturbed.kills).toContain('kafka');
  expect(Math.max(...rawReaders.map(({ lagMs }) => lagMs))).toBeGreaterThan(1_000);
  const codes = new Set(rawReaders.flatMap(({ closes }) => [...closes.keys()]));
  expect(codes).toContain(streamCloses.logAway.code);
  // 1006: cut, or its service was killed.
  const allowed = new Set<number>([1006, streamCloses.logAway.code]);
  expect([...codes].filter((code) => !allowed.has(code))).toEqual([]);
});

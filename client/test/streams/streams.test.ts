import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';
import { runLength } from '../../../kit/test/long-runs.ts';
import { ExchangeClient } from '../../src/exchange-client.ts';
import { signedHeaders } from '../../src/http.ts';
import type { OwnEvent, TradeMessage } from '../../src/streams/frames.ts';
import { FakeLog, marketOf, seededRandom } from './fake-exchange-log.ts';
import { FakeStreamServer, noFaults } from './fake-stream-server.ts';

const key = { apiKey: 'key', secret: `${'A'.repeat(43)}=`, passphrase: 'p', address: '0x00' };
/** Ends no test: on a busy machine a connection may be cut many times before it carries a message. */
const retry = { firstPauseMs: 1, longestPauseMs: 4, totalMs: 600_000 };
const cutsMin = runLength({ test: 50, deep: 1_000 });

let servers: FakeStreamServer[] = [];
let endings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(endings.map((end) => end()));
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
  endings = [];
});

async function opened(seed: number, more: { silenceMs?: number; queueMax?: number } = {}) {
  const random = seededRandom(seed);
  const log = new FakeLog(random, { tokens: 3, partitions: 2 });
  const server = await FakeStreamServer.open(log, random);
  servers.push(server);
  const client = new ExchangeClient({
    baseUrl: server.baseUrl,
    retry,
    streamSilenceMs: more.silenceMs ?? 200,
    ...(more.queueMax === undefined ? {} : { streamQueueMax: more.queueMax }),
  });
  client.useKey(key);
  return { server, log, client };
}

function ending<Iterator extends { return?: () => Promise<unknown> }>(
  iterator: Iterator,
): Iterator {
  endings.push(async () => await iterator.return?.());
  return iterator;
}

/** Rejects after some seconds, with what is there by then. */
async function until(isDone: () => boolean, found: () => unknown = () => ''): Promise<void> {
  for (let tries = 0; !isDone(); tries += 1) {
    if (tries > 3_000) throw new Error(`it does not come: ${JSON.stringify(found())}`);
    await sleep(5);
  }
}

test(`books equal those of the exchange and own events come once, across ${cutsMin} cuts`, async () => {
  const { server, log, client } = await opened(11);
  const wrong: string[] = [];
  const seen = new Map<string, number>();
  const own: string[] = [];
  const trades: number[] = [];
  const followBook = async (token: string) => {
    for await (const book of ending(client.stream.book(token))) {
      const { bids, asks, seq } = book;
      const state = log.books.get(token)?.states[seq];
      if (JSON.stringify(state) !== JSON.stringify({ bids, asks })) wrong.push(`${token} ${seq}`);
      if (seq < (seen.get(token) ?? 0) || book.gap) wrong.push(`${token} ${seq} again`);
      seen.set(token, seq);
    }
  };
  const followOwn = async () => {
    for await (const event of ending(client.own.events())) {
      if (event.type === 'event') own.push(`${event.at.partition} ${event.seq}`);
    }
  };
  const [token = ''] = log.books.keys();
  const followTrades = async () => {
    for await (const { seq } of ending(client.stream.trades(marketOf(token)))) trades.push(seq);
  };
  const all = [...[...log.books.keys()].map(followBook), followOwn(), followTrades()];
  const failed = Promise.race(all.map((one) => one.then(() => new Promise(() => undefined))));
  failed.catch((error: unknown) => wrong.push(String(error)));
  await until(() => server.subscriptions === 6 && seen.size === 3);

  server.faults = { cut: 0.06, drop: 0.006, duplicate: 0.05, stall: 0.001 };
  const wasEachSeen = () => {
    const { cuts, drops, stalls, merges } = server.counts;
    return cuts >= cutsMin && Math.min(drops, stalls, merges) > 0;
  };
  for (let steps = 0; !wasEachSeen() && wrong.length === 0; steps += 1) {
    server.step();
    if (steps % 4 === 0) await nextTick();
    if (server.connected === 0) await sleep(1);
  }
  server.faults = noFaults;
  const count = log.own.reduce((sum, { seq }) => sum + seq, 0);
  await until(
    () =>
      wrong.length > 0 ||
      ([...log.books].every(([name, { seq }]) => seen.get(name) === seq) &&
        own.length >= count &&
        trades.at(-1) === log.trades.get(marketOf(token))?.seq),
    () => ({
      books: [...log.books].map(([name, { seq }]) => [seq, seen.get(name)]),
      own: [count, own.length],
      trades: [log.trades.get(marketOf(token))?.seq, trades.at(-1)],
      connected: server.connected,
    }),
  );

  expect(wrong).toEqual([]);
  expect(server.counts.cuts).toBeGreaterThanOrEqual(cutsMin);
  expect(server.counts.drops).toBeGreaterThan(0);
  expect(server.counts.stalls).toBeGreaterThan(0);
  expect(server.counts.merges).toBeGreaterThan(0);
  for (const { partition, seq } of log.own) {
    const received = own.filter((one) => one.startsWith(`${partition} `));
    expect(received).toEqual(Array.from({ length: seq }, (_, at) => `${partition} ${at + 1}`));
  }
  expect(trades).toEqual(trades.map((_, at) => at + 1));
}, 600_000);

test('one connection carries all subscriptions, and ends with the last of them', async () => {
  const { server, log, client } = await opened(1);
  const books = [...log.books.keys()].map((token) => ending(client.stream.book(token)));
  await Promise.all(books.map((book) => book.next()));
  expect(server.counts.connections).toBe(1);
  await Promise.all(books.map((book) => book.return?.()));
  await until(() => server.connected === 0);
});

test('partitions that are not live are named', async () => {
  const { server, client } = await opened(6);
  server.partitions = [
    { partition: 0, live: true },
    { partition: 3, live: false },
  ];
  expect(client.stream.standingStill).toBeNull();
  void ending(client.stream.book('1')).next();
  const still = () => [...(client.stream.standingStill ?? [null])];
  await until(() => still().join() === '3', still);
  server.partitions = [{ partition: 3, live: true }];
  await until(() => still().length === 0, still);
});

test('a second subscription to the same key has a connection of its own', async () => {
  const { server, client } = await opened(2);
  const [first, second] = [client.stream.book('1000'), client.stream.book('1000')].map(ending);
  expect((await first?.next())?.value).toEqual((await second?.next())?.value);
  expect(server.counts.connections).toBe(2);
});

test('books that were not read are merged into the newest', async () => {
  const { server, log, client } = await opened(3);
  const book = ending(client.stream.book('1000'));
  await book.next();
  for (let steps = 0; steps < 300; steps += 1) server.step();
  await sleep(100);
  const { value } = await book.next();
  expect(value?.seq).toBe(log.books.get('1000')?.seq);
});

test('a reader that stops is paused at its limit, and gets everything later', async () => {
  const { server, log, client } = await opened(4, { queueMax: 20 });
  const market = marketOf('1000');
  const trades = ending(client.stream.trades(market));
  const received: number[] = [];
  const read = async () => {
    const { value } = await trades.next();
    if (value !== undefined) received.push((value as TradeMessage).seq);
  };
  const first = read();
  await until(() => server.subscriptions === 1);
  while ((log.trades.get(market)?.seq ?? 0) < 100) {
    server.step();
    await nextTick();
  }
  await until(() => server.subscriptions === 0);
  await first;
  while (received.length < 100) await read();
  expect(received).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
});

test('events that the exchange no longer has are an error, a book goes on with a mark', async () => {
  const { server, log, client } = await opened(5);
  const market = marketOf('1000');
  const trades = ending(client.stream.trades(market));
  const book = ending(client.stream.book('1000'));
  const next = trades.next();
  await book.next();
  await until(() => server.subscriptions === 2);
  while ((log.trades.get(market)?.seq ?? 0) < 1) server.step();
  await next;
  server.cutAll();
  server.retained = 1;
  for (let steps = 0; steps < 200; steps += 1) log.step();
  await expect(trades.next()).rejects.toMatchObject({
    name: 'StreamGapError',
    channel: 'trades',
    key: market,
  });
  expect(await trades.next()).toEqual({ value: undefined, done: true });
  const { value } = await book.next();
  const { value: marked } = value?.gap === true ? { value } : await book.next();
  expect(marked).toMatchObject({ gap: true, seq: log.books.get('1000')?.seq });
});

test('a replaced log is a gap', async () => {
  const { server, client } = await opened(6);
  const own = ending(client.own.events());
  await own.next();
  await own.next();
  server.epoch = 'bbbbbbbbbbbbbbbb';
  server.cutAll();
  await expect(own.next()).rejects.toMatchObject({ name: 'StreamGapError', nextSeq: null });
});

test('a book whose checksum is wrong is loaded again, and given up when it stays wrong', async () => {
  const { server, client } = await opened(7);
  server.hasWrongChecksums = true;
  const book = ending(client.stream.book('1000'));
  await book.next();
  const stepping = setInterval(() => server.step(), 1);
  const read = async () => {
    for await (const _ of book) await nextTick();
  };
  await expect(read()).rejects.toThrow('the checksum of book 1000 stays wrong');
  clearInterval(stepping);
});

test('a passing refusal is repeated, another one is an error', async () => {
  const { server, client } = await opened(8);
  server.refusals = [{ code: 'unavailable', retryable: true }];
  const book = ending(client.stream.book('1000'));
  await book.next();
  server.refusals = [{ code: 'unknown_key', retryable: false }];
  const other = ending(client.stream.book('1001'));
  await expect(other.next()).rejects.toMatchObject({
    name: 'StreamRefusedError',
    code: 'unknown_key',
  });
});

test('a close by policy is an error, an outage only after the retry budget', async () => {
  const { server, client } = await opened(9);
  const book = ending(client.stream.book('1000'));
  await book.next();
  server.closeAll(1008, 'too many wrong frames');
  await expect(book.next()).rejects.toMatchObject({ code: 'close_1008' });
  const hasty = new ExchangeClient({
    baseUrl: 'http://127.0.0.1:9',
    retry: { firstPauseMs: 1, longestPauseMs: 1, totalMs: 30 },
  });
  await expect(hasty.stream.book('1000').next()).rejects.toMatchObject({ code: 'no_answer' });
});

test('own events prove the key for this connection and this option alone', async () => {
  const { server, client } = await opened(10);
  const own = ending(client.own.events({ cancelOnDisconnect: true }));
  const { value } = await own.next();
  expect((value as OwnEvent).type).toBe('snapshot');
  const [proof] = server.proofs;
  const headers = proof?.['headers'] as Record<string, string>;
  const nowMs = Number(headers['SERVICE_TIMESTAMP']);
  const path = '/v1/stream?stream_id=s-1&cancel_on_disconnect=true';
  expect(headers).toEqual(signedHeaders(key, { method: 'GET', path, body: '' }, nowMs));
  expect(proof?.['cancel_on_disconnect']).toBe(true);
});

test.each([-3_600_000, 3_600_000])(
  'own events prove the key at the time of the exchange, %d ms from here',
  async (aheadMs) => {
    const { server, client } = await opened(13);
    server.aheadMs = aheadMs;
    await ending(client.own.events()).next();
    const headers = server.proofs[0]?.['headers'] as Record<string, string>;
    const offMs = Number(headers['SERVICE_TIMESTAMP']) - (Date.now() + aheadMs);
    // Largest difference that the exchange accepts.
    expect(Math.abs(offMs)).toBeLessThan(30_000);
  },
);

test('leaving a loop ends the subscription', async () => {
  const { server, client } = await opened(12);
  for await (const book of client.stream.book('1000')) {
    expect(book.token).toBe('1000');
    break;
  }
  await until(() => server.connected === 0);
});

import { noQuote } from '@pm/domain/books/quote';
import { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { redisKeys } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import { followInvalidations, type InvalidationListener } from '../../src/books/invalidation.io.ts';
import { StoredBooks } from '../../src/books/stored-books.io.ts';
import { marketEntry, token } from '../in-memory.ts';

/** Books out of a real Redis, kept in memory only as long as it reports changes. */
/** A database of its own: other suites have listeners on the same server. */
const url = `${engineUrl('REDIS')}/7`;
const prefix = `query-api-${process.pid}-${Date.now()}`;
const keys = redisKeys(prefix);
const catalog = new Catalog();
catalog.apply(marketEntry(1));
catalog.apply(marketEntry(2, { partition: 5 }));
const listing = (market: number, outcome: 0 | 1) =>
  catalog.listing(token(market, outcome)) as Listing;
const yes = listing(1, 0);
const no = listing(1, 1);

let writer: RedisClient;
let reader: RedisClient;
let source: StoredBooks;
let runner: InvalidationListener;

const write = (one: Listing, json: string, bid = '0.5') =>
  writer.hset(keys.book(one.token), {
    json,
    version: '1',
    bid,
    ask: '',
    last: '0.4',
    lastSide: 'SELL',
    marketLast: '0.3',
    timeMs: '1',
  });

async function until(isSo: () => boolean): Promise<void> {
  const endMs = Date.now() + 8_000;
  while (!isSo()) {
    if (Date.now() > endMs) throw new Error('did not come to pass');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

beforeEach(async () => {
  writer = openRedis({ url, log: silentLog });
  reader = openRedis({ url, log: silentLog });
  await writer.hset(keys.bookMarks, '0', '17');
  source = new StoredBooks(reader, keys);
  runner = followInvalidations({
    redis: reader,
    prefix: keys.bookPrefix,
    log: silentLog,
    onInvalidate: (changed) => source.invalidate(changed),
    onCoherent: (isCoherent) => source.setCoherent(isCoherent),
  });
  await until(() => source.isCoherent);
});

afterEach(async () => {
  runner.close();
  const left = await writer.keys(`${prefix}*`);
  if (left.length > 0) await writer.del(...left);
  writer.disconnect();
  reader.disconnect();
});

const bookOf = async (one: Listing) => (await source.books([one]))[0]?.toString() ?? null;

it('keeps a book until it changes, and never longer', async () => {
  await write(yes, '{"n":0}');
  expect(source.cached(yes.token)).toBeUndefined();
  expect(await bookOf(yes)).toBe('{"n":0}');
  expect(source.cached(yes.token)?.toString()).toBe('{"n":0}');
  for (let n = 1; n <= 50; n += 1) {
    await write(yes, `{"n":${n}}`);
    await until(() => source.cached(yes.token) === undefined);
    expect(await bookOf(yes)).toBe(`{"n":${n}}`);
    expect(source.cached(yes.token)?.toString()).toBe(`{"n":${n}}`);
  }
});

it('never ends with an old book when reads and writes race', async () => {
  for (let n = 0; n < 300; n += 1) {
    const reads = [bookOf(yes), bookOf(yes)];
    await Promise.all([...reads, write(yes, `{"n":${n}}`), bookOf(yes)]);
  }
  await write(yes, '{"n":"last"}');
  await until(
    () =>
      source.cached(yes.token)?.toString() === undefined ||
      source.cached(yes.token)?.toString() === '{"n":"last"}',
  );
  expect(await bookOf(yes)).toBe('{"n":"last"}');
});

it('reads quotes of many tokens and drops them with their books', async () => {
  await write(yes, '{}');
  const quotes = await source.quotes([yes, no, yes]);
  expect(quotes.get(yes.token)).toEqual({
    bid: 5000,
    ask: null,
    last: 4000,
    lastSide: 'SELL',
    marketLast: 3000,
  });
  expect(quotes.get(no.token)).toEqual(noQuote);
  await write(yes, '{}', '0.6');
  await until(() => source.size === 0);
  expect((await source.quotes([yes])).get(yes.token)?.bid).toBe(6000);
});

it('knows an empty book from one that is not built yet', async () => {
  expect(await source.books([no])).toEqual([null]);
  await expect(source.books([listing(2, 0)])).rejects.toMatchObject({
    code: 'books_not_ready',
    reaction: 'retry',
  });
  await expect(source.quotes([listing(2, 0)])).rejects.toMatchObject({ code: 'books_not_ready' });
});

it('knows an empty book from one that was lost', async () => {
  await write(yes, '{"n":1}');
  await writer.hset(keys.bookMarks, keys.bookMarkOf(1), '0');
  await bookOf(yes);
  await writer.del(keys.book(yes.token));
  await until(() => source.cached(yes.token) === undefined);
  const lost = { code: 'books_not_ready', reaction: 'retry' };
  await expect(source.books([yes])).rejects.toMatchObject(lost);
  await expect(source.quotes([yes])).rejects.toMatchObject(lost);
  await write(yes, '{"n":1}');
  expect(await bookOf(yes)).toBe('{"n":1}');
});

it('drops everything when the database is flushed', async () => {
  await write(yes, '{"n":1}');
  await bookOf(yes);
  await writer.del(...(await writer.keys(`${prefix}*`)));
  await until(() => source.cached(yes.token) === undefined);
  await expect(source.books([yes])).rejects.toMatchObject({ code: 'books_not_ready' });
});

it('keeps nothing while invalidations do not arrive, reads on, and keeps again afterwards', async () => {
  await write(yes, '{"n":1}');
  await bookOf(yes);
  const states: boolean[] = [];
  const watched = source.setCoherent.bind(source);
  source.setCoherent = (isCoherent) => {
    states.push(isCoherent);
    watched(isCoherent);
  };
  // The listener redirects invalidations to itself.
  const clients = String(await writer.client('LIST')).split('\n');
  const listeners = clients.flatMap((line) => {
    const id = /\bid=(\d+) /.exec(line)?.[1];
    const isOwn = ` ${line} `.includes(' db=7 ');
    return id !== undefined && isOwn && ` ${line} `.includes(` redir=${id} `) ? [id] : [];
  });
  expect(listeners).toHaveLength(1);
  for (const id of listeners) await writer.client('KILL', 'ID', id);
  await until(() => states.includes(false));
  expect(source.cached(yes.token)).toBeUndefined();
  expect(await bookOf(yes)).toBe('{"n":1}');
  await until(() => source.isCoherent);
  await bookOf(yes);
  expect(source.cached(yes.token)?.toString()).toBe('{"n":1}');
  await write(yes, '{"n":2}');
  await until(() => source.cached(yes.token) === undefined);
});

it('is a fault that passes when Redis is away', async () => {
  const away = openRedis({ url: 'redis://127.0.0.1:9', log: silentLog, commandTimeoutMs: 200 });
  const awaySource = new StoredBooks(away, keys);
  await expect(awaySource.books([yes])).rejects.toMatchObject({ reaction: 'retry' });
  away.disconnect();
});

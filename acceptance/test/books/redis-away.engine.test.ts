import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ensureEngineJars } from '@pm/deploy/local/engines/download-engines';
import { findRedis } from '@pm/deploy/local/engines/redis-server';
import { defaultCacheDir } from '@pm/deploy/local/paths';
import { holdFreePorts } from '@pm/deploy/local/ports';
import type { Listing } from '@pm/domain/markets/market';
import { type HttpApp, openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { redisKeys } from '@pm/schemas/redis/keys';
import {
  followInvalidations,
  type InvalidationListener,
} from '../../../query-api/src/books/invalidation.io.ts';
import { StoredBooks } from '../../../query-api/src/books/stored-books.io.ts';
import { addReadRoutes } from '../../../query-api/src/http/app.route.ts';
import { get, post, type Seen, token, World } from '../../../query-api/test/in-memory.ts';

/** query-api with a Redis of its own, which goes away and comes back empty. */
const keys = redisKeys('away');
const world = new World();
const [yes, no] = [token(1, 0), token(1, 1)];
const partition = String((world.catalog.listing(yes) as Listing).market.partition);
const body = '{"bids":[{"price":"0.5","size":"1"}],"asks":[]}';
const folder = mkdtempSync(join(tmpdir(), 'redis-away-'));

let command: string;
let port: number;
let server: ChildProcess;
let redis: RedisClient;
let invalidation: InvalidationListener;
let app: HttpApp;

function startServer(): ChildProcess {
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  return spawn(command, settings, { stdio: 'ignore' });
}

const fill = async (): Promise<void> => {
  const cells = {
    json: body,
    version: '1',
    bid: '0.5',
    ask: '',
    last: '',
    lastSide: '',
    timeMs: '1',
  };
  await redis.hset(keys.book(yes), cells);
  await redis.hset(keys.bookMarks, partition, '17');
};

async function until<T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  const endMs = Date.now() + 30_000;
  for (;;) {
    const value = await read().catch(() => null);
    if (value !== null && isSo(value)) return value;
    if (Date.now() > endMs) throw new Error('did not come to pass');
    await wait(20);
  }
}

beforeAll(async () => {
  command = await findRedis(await ensureEngineJars(defaultCacheDir, () => {}), 'auto');
  const held = await holdFreePorts(1);
  port = held.ports[0] ?? 0;
  await held.release();
  server = startServer();
  redis = openRedis({ url: `redis://127.0.0.1:${port}`, log: silentLog, commandTimeoutMs: 500 });
  await until(
    () => redis.ping(),
    (answer) => answer === 'PONG',
  );
  const books = new StoredBooks(redis, keys);
  invalidation = followInvalidations({
    redis,
    prefix: keys.bookPrefix,
    log: silentLog,
    onInvalidate: (changed) => books.invalidate(changed),
    onCoherent: (isCoherent) => books.setCoherent(isCoherent),
  });
  app = openHttp({ log: silentLog, bodyLimitBytes: 1024 });
  addReadRoutes(app, { ...world.parts(), books });
}, 60_000);

afterAll(async () => {
  invalidation?.close();
  redis?.disconnect();
  if (server?.exitCode === null) {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});

const hotReads: readonly (() => Promise<Seen>)[] = [
  ...[`book?token_id=${yes}`, `book?token_id=${no}`, `price?token_id=${yes}&side=SELL`],
  ...[`midpoint?token_id=${yes}`, `spread?token_id=${yes}`, `last-trade-price?token_id=${yes}`],
  ...[`prices?token_ids=${yes}`, `clob/midpoints?token_ids=${yes}`],
]
  .map((path) => () => get(app, `/${path}`))
  .concat([() => post(app, '/books', [{ token_id: yes }, { token_id: no }])]);

async function expectRefused(): Promise<void> {
  for (const read of hotReads)
    expect(await read()).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
}

it('returns 503 while Redis is away and while it is empty, and never an empty book', async () => {
  const book = () => get(app, `/book?token_id=${yes}`);
  await fill();
  expect((await book()).text).toBe(body);
  expect((await get(app, `/book?token_id=${no}`)).body).toMatchObject({ bids: [], asks: [] });

  server.kill('SIGKILL');
  await once(server, 'exit');
  // The cached book may be returned until the loss is noticed.
  const first = await until(book, ({ status, text }) => status === 503 || text !== body);
  expect(first.status).toBe(503);
  await expectRefused();

  server = startServer();
  await until(
    () => redis.ping(),
    (answer) => answer === 'PONG',
  );
  await expectRefused();

  await fill();
  expect((await until(book, ({ status }) => status === 200)).text).toBe(body);
}, 90_000);

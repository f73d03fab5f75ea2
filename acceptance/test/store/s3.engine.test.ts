import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ensureStoreServer,
  type StoreServer,
  storeServer,
} from '@pm/deploy/local/engines/store-server';
import { defaultCacheDir } from '@pm/deploy/local/paths';
import { freePorts } from '@pm/deploy/local/ports';
import { type Supervisor, startProcesses } from '@pm/deploy/local/supervisor';
import { type ObjectStore, openObjectStore, type StorePlace } from '@pm/kit/objects';
import { describeStore } from '../../../kit/test/objects/store-suite.ts';
import { CuttingProxy } from './cutting-proxy.ts';

/** A real server that speaks the API of S3: S3Proxy on a folder. */
let server: StoreServer;
let supervisor: Supervisor;
let proxy: CuttingProxy;
let dataDir: string;
const opened: ObjectStore[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pm-s3-'));
  const libDir = await ensureStoreServer(defaultCacheDir, () => {});
  const { redis: port } = await freePorts();
  server = storeServer({ libDir, dataDir, logDir: dataDir, port });
  supervisor = await startProcesses({ dataDir, progress: () => {} }, [server.process]);
  proxy = await CuttingProxy.open(port);
}, 600_000);

afterAll(async () => {
  for (const store of opened) store.close();
  proxy?.close();
  await supervisor?.stop();
  await rm(dataDir, { recursive: true, force: true });
}, 60_000);

async function open(given: Partial<Extract<StorePlace, { kind: 's3' }>> = {}) {
  const { endpoint, accessKeyId, secretAccessKey, bucket } = server;
  const account = { accessKeyId, secretAccessKey };
  const place = { bucket, prefix: 'one/', region: 'us-east-1', endpoint, account, ...given };
  const store = await openObjectStore({ kind: 's3', ...place });
  opened.push(store);
  return store;
}

describeStore('S3', { open: () => open({ prefix: 'suite/of/all/' }) });

describe('S3', () => {
  const name = 'snapshots/p1/7.snapshot';
  const content = Buffer.alloc(2_000_000, 'content ');

  afterEach(() => {
    proxy.damage = null;
  });

  test('keeps the objects of one prefix apart from those of another', async () => {
    await (await open({ prefix: 'a/' })).put(name, [content]);
    expect(await (await open({ prefix: 'b/' })).get(name)).toBeNull();
  });

  test.each([
    ['another secret', { account: { accessKeyId: 'exchange', secretAccessKey: 'wrong' } }],
    ['another key', { account: { accessKeyId: 'unknown', secretAccessKey: 'wrong' } }],
    ['a bucket that is not there', { bucket: 'nowhere' }],
  ])('refuses %s, and says so', async (_, given) => {
    const store = await open(given);
    const refused = { code: 'store_refused', reaction: 'retry' };
    await expect(store.put(name, [content])).rejects.toMatchObject(refused);
    await expect(store.list('snapshots/p1/')).rejects.toMatchObject(refused);
  });

  test('has no object of a writer whose connection ended half way', async () => {
    proxy.damage = { direction: 'request', cutAfter: 1_000_000 };
    const cut = await open({ endpoint: proxy.url, prefix: 'cut/' });
    await expect(cut.put(name, [content])).rejects.toMatchObject({ code: 'store_failed' });
    expect(await (await open({ prefix: 'cut/' })).get(name)).toBeNull();
  });

  test('stores no body that was changed on its way, and the right one with the next attempt', async () => {
    proxy.damage = { direction: 'request', flipAt: 1_000_000 };
    const changed = await open({ endpoint: proxy.url, prefix: 'changed/' });
    await changed.put(name, [content]);
    expect(proxy.flipped).toBe(1);
    const stored = await (await open({ prefix: 'changed/' })).get(name);
    expect(stored?.equals(content)).toBe(true);
  });

  test('does not return a body that ends early', async () => {
    await (await open({ prefix: 'early/' })).put(name, [content]);
    proxy.damage = { direction: 'response', cutAfter: 1_000_000 };
    const early = await open({ endpoint: proxy.url, prefix: 'early/' });
    await expect(early.get(name)).rejects.toMatchObject({ code: 'store_failed' });
    proxy.damage = null;
    expect((await early.get(name))?.equals(content)).toBe(true);
  });

  test('says that a server which does not answer has failed', async () => {
    const away = await open({ endpoint: 'http://127.0.0.1:9' });
    await expect(away.get(name)).rejects.toMatchObject({ code: 'store_failed', reaction: 'retry' });
  });
});

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressesOf } from '@pm/deploy/installation/read-addresses';
import { atServer } from '@pm/deploy/installation/server';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { freePorts } from '@pm/deploy/local/ports';
import { loadOrMakeKeys } from '@pm/deploy/setup/keys';
import { type LogAdmin, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRedis } from '@pm/kit/redis';
import { topicName } from '@pm/kit/registry';
import type { PreflightLine } from '@pm/operate/preflight/run-preflight';
import { topics } from '@pm/schemas/log/topics';
import { OwnRedis } from '../ledger/own-redis.ts';
import { engineUrls, namesOf, setUpNamed, variablesOf } from '../services-under-test.ts';
import { preflightLines } from './preflight-lines.ts';

jest.setTimeout(120_000);

const name = `preflight_${process.pid}`;
/** The Redis of tests has `appendfsync everysec`. */
const given = () => ({ ...variablesOf(name), PM_LEDGER_SYNC: 'any' });
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pm-preflight-'));
  // By some topic preflight sees which settings are shown.
  await withAdmin((admin) =>
    admin.ensureTopics([{ ...small, name: `${name}.any`, maxMessageBytes: 1 << 20 }]),
  );
});

const small = {
  partitions: 1,
  replicationFactor: 1,
  minInSyncReplicas: 1,
  compacted: false,
  retentionMs: -1,
};

async function withAdmin<T>(work: (admin: LogAdmin) => Promise<T>): Promise<T> {
  const { kafka } = engineUrls();
  const log = openLogClient({ brokers: [kafka], clientId: 'preflight-test', log: silentLog });
  try {
    return await work(await log.admin());
  } finally {
    await log.close();
  }
}

afterAll(async () => {
  await atServer(addressesOf(engineUrls(), {}), (server) =>
    server.command(`DROP DATABASE IF EXISTS ${name}`),
  );
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Topics, keys, tables and subjects under the names of this exchange. */
async function contents(): Promise<unknown> {
  const urls = engineUrls();
  const redis = openRedis({ url: urls.redis, log: silentLog });
  try {
    const places = await withAdmin((admin) =>
      Promise.all(
        Object.values(topics).map(async (topic) => {
          const full = topicName(topic, `${name}-`);
          return (await admin.hasTopic(full)) ? [full, ...(await admin.bounds(full))] : [];
        }),
      ),
    );
    const keys = (await redis.keys(`*${name}*`)).sort();
    const sql =
      'SELECT name, total_rows FROM system.tables WHERE database = {name:String} ORDER BY 1';
    const tables = await atServer(addressesOf(urls, {}), (server) =>
      server.selectRows(sql, { name }),
    );
    const subjects = (await (await fetch(`${urls.registry}/subjects`)).json()) as string[];
    const own = subjects.filter((subject) => subject.startsWith(name)).sort();
    return { topics: places, keys, tables, subjects: own };
  } finally {
    redis.disconnect();
  }
}

const linesWith = (lines: readonly PreflightLine[], verdict: PreflightLine['verdict']) =>
  lines
    .filter((line) => line.verdict === verdict)
    .map(({ engine, need, line }) => `${engine}: ${need}: ${line}`);

/** The engines of tests have no accounts of services, and the local ClickHouse shows no roles. */
const notShown = /^(clickhouse|redis): rights of (?!set-up)/;

test('the engines of tests fit, before and after an exchange was set up, and nothing is changed', async () => {
  const before = await contents();
  const lines = await preflightLines(given(), folder);
  expect(linesWith(lines, 'no')).toEqual([]);
  expect(linesWith(lines, 'unknown').filter((line) => !notShown.test(line))).toEqual([]);
  expect(lines.length).toBeGreaterThan(40);
  expect(await contents()).toEqual(before);

  await setUpNamed(name, { keys: loadOrMakeKeys(join(folder, 'keys.json')), partitions: 2 });
  const setUp = await contents();
  const again = await preflightLines(given(), folder);
  expect(linesWith(again, 'no')).toEqual([]);
  expect(linesWith(again, 'yes')).toContainEqual(
    'kafka: log of this installation: 2 partitions were opened with these keys and this fee wallet',
  );
  expect(await contents()).toEqual(setUp);
});

test('a log that was opened with other keys does not fit', async () => {
  const other = mkdtempSync(join(tmpdir(), 'pm-preflight-other-'));
  loadOrMakeKeys(join(other, 'keys.json'));
  const lines = await preflightLines(given(), other);
  rmSync(other, { recursive: true, force: true });
  expect(linesWith(lines, 'no')).toEqual([
    expect.stringContaining('log of this installation: partition'),
  ]);
});

test('a Redis that evicts and keeps nothing, and ports where nothing listens, do not fit', async () => {
  const redis = await OwnRedis.start({ 'maxmemory-policy': 'allkeys-lru', maxmemory: '100mb' });
  const [port = 0] = Object.values(await freePorts());
  try {
    const lines = await preflightLines(
      {
        ...given(),
        PM_REDIS_CACHE_URL: redis.url,
        PM_CLICKHOUSE_URL: `http://127.0.0.1:${port}`,
        PM_REGISTRY_URL: `http://127.0.0.1:${port}/apis/ccompat/v7`,
      },
      folder,
    );
    const refused = lines.filter(({ verdict }) => verdict === 'no');
    expect(refused.map(({ engine, need }) => `${engine}: ${need}`)).toEqual([
      'registry: answers and signs in',
      'clickhouse: answers and signs in',
      'redis cache: eviction',
      'redis cache: persistence',
      'redis cache: memory',
    ]);
    expect(refused.every(({ todo }) => todo !== undefined)).toBe(true);
  } finally {
    await redis.stop();
  }
});

/** Lines and exit code of the command. */
async function preflightCommand(env: Readonly<Record<string, string>>) {
  const entry = join(repositoryRoot, 'operate/dist/commands/preflight.js');
  const args = [entry, '--json', '--replication', '1', '--data', join(folder, 'none')];
  const more = { PATH: process.env['PATH'] ?? '', PM_REPLICATION_MIN: '1' };
  return await new Promise<{ readonly code: unknown; readonly lines: readonly PreflightLine[] }>(
    (done) => {
      execFile(process.execPath, args, { env: { ...more, ...env } }, (error, stdout) => {
        const texts = stdout.trim().split('\n');
        done({
          code: error === null ? 0 : error.code,
          lines: texts.map((line) => JSON.parse(line) as PreflightLine),
        });
      });
    },
  );
}

test('the command ends with 0 when nothing is a no, else with 1, and prints lines of JSON', async () => {
  const fresh = { ...given(), ...namesOf(`${name}_fresh`) };
  const fit = await preflightCommand(fresh);
  expect(linesWith(fit.lines, 'no')).toEqual([]);
  expect(fit.code).toBe(0);
  const unfit = await preflightCommand({ ...fresh, PM_LEDGER_SYNC: 'always' });
  expect(unfit.code).toBe(1);
  expect(unfit.lines.find(({ verdict }) => verdict === 'no')).toEqual({
    engine: 'redis',
    need: 'persistence',
    page: 'redis.md',
    verdict: 'no',
    line: expect.stringContaining('everysec'),
    todo: expect.stringContaining('appendfsync always'),
  });
});

test('a topic with another setting does not fit, and says which', async () => {
  const { PM_TOPIC_PREFIX: prefix = '' } = namesOf(`${name}_other`);
  await withAdmin((admin) =>
    admin.ensureTopics([{ ...small, name: `${prefix}transfers`, maxMessageBytes: 2_000_000 }]),
  );
  const lines = await preflightLines({ ...given(), PM_TOPIC_PREFIX: prefix }, folder);
  const refused = lines.filter(({ verdict }) => verdict === 'no');
  expect(refused.map(({ need }) => need)).toEqual([
    'topics that exist',
    'topic setting max.message.bytes',
  ]);
  expect(refused[0]?.line).toContain('transfers: max.message.bytes is 2000000, wanted is 1048576');
});

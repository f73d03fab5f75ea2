import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAddresses } from '@pm/deploy/installation/read-addresses';
import { openClickHouse } from '@pm/kit/clickhouse';
import {
  clickhouseAccount,
  kafkaConnection,
  redisConnection,
  registryConnection,
} from '@pm/kit/config';
import { openLogClient } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { openRedis } from '@pm/kit/redis';
import { openRegistry } from '@pm/kit/registry';
import { topics } from '@pm/schemas/log/topics';
import { type Certificates, makeCertificates } from '../../src/faults/certificates.ts';
import { callerOf, openTlsFront, type TlsFront } from '../../src/faults/tls-front.ts';
import { preflightLines } from '../preflight/preflight-lines.ts';
import { engineUrls } from '../services-under-test.ts';
import { type SecuredKafka, startSecuredKafka } from './secured-kafka.ts';
import { type SecuredRedis, startSecuredRedis } from './secured-redis.ts';

jest.setTimeout(90_000);

const password = 'Kf7-canary-of-the-password';
const { log, lines } = recordedLog();
let folder: string;
let certificates: Certificates;
let kafka: SecuredKafka;
let redis: SecuredRedis;
let registry: TlsFront;
let clickhouse: TlsFront;
let shared: Record<string, string>;

/** A log whose lines are kept, to search them for secrets. */
function recordedLog() {
  const lines: string[] = [];
  const keep = (...said: readonly unknown[]) => void lines.push(JSON.stringify(said));
  const log: Log = {
    debug: keep,
    info: keep,
    warn: keep,
    error: keep,
    child: () => log,
  };
  return { log, lines };
}

function token(lifetimeS: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const nowS = Math.floor(Date.now() / 1000);
  return `${part({ alg: 'none' })}.${part({ sub: 'admin', iat: nowS - 5, exp: nowS + lifetimeS })}.`;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pm-secured-'));
  certificates = makeCertificates(folder);
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${password}\n`);
  const urls = engineUrls();
  const judge = (request: Parameters<typeof callerOf>[0]) => {
    const given = callerOf(request);
    return given.user === 'exchange' && given.password === password ? null : 401;
  };
  [kafka, redis, registry, clickhouse] = await Promise.all([
    startSecuredKafka({ folder, certificates, users: { admin: password } }),
    startSecuredRedis(folder, certificates, [
      'user default off',
      `user exchange on >${password} ~* +@all`,
    ]),
    openTlsFront(urls.registry, certificates, judge),
    openTlsFront(urls.clickhouse, certificates, (request) => {
      const given = callerOf(request);
      return given.user === 'pm_writer' && given.password === password ? null : 403;
    }),
  ]);
  shared = {
    PM_KAFKA_BROKERS: kafka.broker,
    PM_KAFKA_TLS_CA: certificates.caFile,
    PM_REGISTRY_URL: `${registry.url}/apis/ccompat/v7`,
    PM_REGISTRY_TLS_CA: certificates.caFile,
    PM_REGISTRY_USERNAME: 'exchange',
    PM_REGISTRY_PASSWORD_FILE: passwordFile,
    PM_REDIS_URL: redis.url,
    PM_REDIS_TLS_CA: certificates.caFile,
    PM_REDIS_USERNAME: 'exchange',
    PM_REDIS_PASSWORD_FILE: passwordFile,
    PM_CLICKHOUSE_URL: clickhouse.url,
    PM_CLICKHOUSE_TLS_CA: certificates.caFile,
    PM_CLICKHOUSE_USER: 'pm_writer',
    PM_CLICKHOUSE_PASSWORD_FILE: passwordFile,
  };
});

afterAll(async () => {
  await Promise.all([kafka?.stop(), redis?.stop(), registry?.close(), clickhouse?.close()]);
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const scram = () => ({
  PM_KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
  PM_KAFKA_SASL_USERNAME: 'admin',
  PM_KAFKA_SASL_PASSWORD_FILE: join(folder, 'password'),
});

/** Writes and reads a record with our own requests, over the connections of these variables. */
async function roundTrip(topic: string, variables: Record<string, string>): Promise<string> {
  const connection = kafkaConnection(readAddresses({ ...shared, ...variables }));
  const client = openLogClient({ ...connection, clientId: 'secured', log });
  try {
    const admin = await client.admin();
    const counts = { partitions: 1, replicationFactor: 1, minInSyncReplicas: 1 };
    const rest = { compacted: false, maxMessageBytes: 1 << 20, retentionMs: -1 };
    await admin.ensureTopics([{ name: topic, ...counts, ...rest }]);
    const producer = await client.producer();
    const value = Buffer.from(topic);
    await producer.send([{ topic, partition: 0, key: null, value }]);
    return await new Promise<string>((resolve, reject) => {
      client
        .reader({
          topic,
          positions: new Map([[0, 0]]),
          dense: true,
          onBatch: async ({ records }) => resolve(String(records[0]?.value)),
          onFault: reject,
        })
        .catch(reject);
    });
  } finally {
    await client.close();
  }
}

/** A broker that starts refuses connections at first. */
async function eventually<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === 40) throw error;
      await new Promise((done) => setTimeout(done, 500));
    }
  }
}

test('records are written and read with each mechanism over TLS', async () => {
  expect(await eventually(() => roundTrip('by-scram', scram()))).toBe('by-scram');
  const shorter = { ...scram(), PM_KAFKA_SASL_MECHANISM: 'SCRAM-SHA-256' };
  expect(await roundTrip('by-scram-256', shorter)).toBe('by-scram-256');
  const plain = { ...scram(), PM_KAFKA_SASL_MECHANISM: 'PLAIN' };
  expect(await roundTrip('by-plain', plain)).toBe('by-plain');
  const tokenFile = join(folder, 'token');
  const bearer = {
    PM_KAFKA_SASL_MECHANISM: 'OAUTHBEARER',
    PM_KAFKA_SASL_TOKEN_FILE: tokenFile,
  };
  writeFileSync(tokenFile, token(60));
  expect(await roundTrip('by-token', bearer)).toBe('by-token');
  const pool = { PM_KAFKA_SASL_EXTENSIONS: 'logicalCluster=lkc-1,identityPoolId=pool-1' };
  expect(await roundTrip('by-pool', { ...bearer, ...pool })).toBe('by-pool');
});

test('the broker gets the extensions of a token: it refuses one with the reserved name', async () => {
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, token(60));
  const { ssl } = kafkaConnection(readAddresses({ ...shared, ...scram() }));
  const signedIn = (extensions: Readonly<Record<string, string>>) => {
    const sasl = { mechanism: 'oauthbearer', tokenFile, extensions } as const;
    const brokers = [kafka.broker];
    const client = openLogClient({ brokers, clientId: 'pool', log, ...(ssl && { ssl }), sasl });
    return client.admin().finally(() => client.close());
  };
  await eventually(() => signedIn({ logicalCluster: 'lkc-1' }));
  await expect(signedIn({ auth: 'none' })).rejects.toThrow('authentication failed');
});

test('preflight says of each engine that a wrong password does not sign in', async () => {
  const wrong = certificatesLine();
  const passwords = Object.keys(shared).filter((name) => name.endsWith('PASSWORD_FILE'));
  const found = await preflightLines({
    ...shared,
    ...scram(),
    PM_KAFKA_SASL_PASSWORD_FILE: wrong,
    ...Object.fromEntries(passwords.map((name) => [name, wrong])),
  });
  const refused = found.filter(({ verdict }) => verdict === 'no');
  expect(refused.map(({ engine, need }) => `${engine}: ${need}`)).toEqual(
    ['kafka', 'registry', 'clickhouse', 'redis'].map((engine) => `${engine}: answers and signs in`),
  );
  expect(JSON.stringify(found)).not.toContain(password.slice(0, 5));
});

test.each([
  ['a wrong password', () => ({ ...scram(), PM_KAFKA_SASL_PASSWORD_FILE: certificatesLine() })],
  ['no sign-in', () => ({})],
  [
    'a certificate of another authority',
    () => ({ ...scram(), PM_KAFKA_TLS_CA: certificates.otherCaFile }),
  ],
])('the broker is not reached with %s, and no log line has a secret', async (_, variables) => {
  await expect(roundTrip('refused', variables())).rejects.toThrow();
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.join('\n')).not.toContain(password);
});

function certificatesLine(): string {
  const file = join(folder, 'wrong');
  writeFileSync(file, `${password.slice(0, 5)}\n`);
  return file;
}

test('Redis, the registry and ClickHouse are used over TLS with a user, and not without', async () => {
  const whole = readAddresses(shared);
  const store = openRedis({ ...redisConnection(whole), log });
  await store.set('a', '1');
  expect(await store.get('a')).toBe('1');
  store.disconnect();
  const registered = openRegistry({
    ...registryConnection(whole),
    topicPrefix: `secured-${process.pid}-`,
    log,
  });
  await registered.register([topics.routing]);
  const tables = openClickHouse({ ...clickhouseAccount(whole), database: 'system', log });
  expect(await tables.selectRows('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await tables.command('SELECT 1');
  await tables.close();

  const other = Object.fromEntries(
    Object.entries(shared).map(([name, value]) => [
      name,
      name.endsWith('_CA') ? certificates.otherCaFile : value,
    ]),
  );
  const anonymous = Object.fromEntries(
    Object.entries(shared).filter(([name]) => !/_(USERNAME|USER|PASSWORD_FILE)$/.test(name)),
  );
  for (const variables of [other, anonymous]) {
    const refused = readAddresses(variables);
    const refusedStore = openRedis({ ...redisConnection(refused), log, commandTimeoutMs: 500 });
    await expect(refusedStore.get('a')).rejects.toThrow();
    refusedStore.disconnect();
    const refusedRegistry = openRegistry({
      ...registryConnection(refused),
      topicPrefix: 'x',
      log,
      maxTries: 1,
    });
    await expect(refusedRegistry.register([topics.routing])).rejects.toThrow();
    const refusedTables = openClickHouse({
      ...clickhouseAccount(refused),
      database: 'system',
      log,
    });
    await expect(refusedTables.selectRows('SELECT 1')).rejects.toThrow();
    await expect(refusedTables.command('SELECT 1')).rejects.toThrow();
    await refusedTables.close();
  }
  expect(lines.join('\n')).not.toContain(password);
});

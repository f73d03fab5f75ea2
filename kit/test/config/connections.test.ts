import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  clickhouseAccount,
  kafkaConnection,
  redisCacheConnection,
  redisConnection,
  registryConnection,
  storeConnection,
} from '../../src/config/connections.io.ts';
import {
  clickhouseFields,
  kafkaFields,
  redisCacheFields,
  redisFields,
  registryFields,
  storeFields,
} from '../../src/config/engines.io.ts';
import { readConfig } from '../../src/config/read.io.ts';
import { Fault } from '../../src/fault/index.ts';

const redis = { ...redisFields, ...redisCacheFields };
const fields = { ...kafkaFields, ...registryFields, ...redis, ...clickhouseFields };
const urls = {
  PM_KAFKA_BROKERS: 'kafka:9092',
  PM_REGISTRY_URL: 'https://registry/apis/ccompat/v7',
  PM_REDIS_URL: 'rediss://redis:6379',
  PM_CLICKHOUSE_URL: 'https://clickhouse:8443',
};
/** Makes certificates. */
const command = 'openssl';
const secret = 'correct horse battery staple';
let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pm-connections-'));
  const key = ['-keyout', file('key.pem'), '-out', file('cert.pem')];
  const about = ['-subj', '/CN=test', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  execFileSync(command, ['req', '-x509', '-nodes', ...about, ...key], { stdio: 'ignore' });
  writeFileSync(file('password'), `${secret}\n`);
  writeFileSync(file('damaged.pem'), readFileSync(file('cert.pem'), 'utf8').replace(/M/g, 'A'));
  writeFileSync(file('two-lines'), `${secret}\n${secret}\n`);
  writeFileSync(file('large'), Buffer.alloc(2 << 20, 'x'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (env: Record<string, string>) => readConfig(fields, { ...urls, ...env });

function factsOf(run: () => unknown): Readonly<Record<string, unknown>> {
  try {
    run();
  } catch (error) {
    if (error instanceof Fault) return error.facts;
    throw error;
  }
  throw new Error('it was taken');
}

test('without further variables nothing but the addresses is used', () => {
  const config = read({});
  expect(kafkaConnection(config)).toEqual({ brokers: ['kafka:9092'] });
  expect(redisConnection(config)).toEqual({ url: urls.PM_REDIS_URL });
  expect(registryConnection(config)).toEqual({ url: urls.PM_REGISTRY_URL, access: {} });
  expect(clickhouseAccount(config)).not.toHaveProperty('ca');
});

test('files are read into the connections', () => {
  const ca = readFileSync(file('cert.pem'), 'utf8');
  const config = read({
    PM_KAFKA_TLS_CA: file('cert.pem'),
    PM_KAFKA_TLS_CERT: file('cert.pem'),
    PM_KAFKA_TLS_KEY: file('key.pem'),
    PM_KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
    PM_KAFKA_SASL_USERNAME: 'ingress',
    PM_KAFKA_SASL_PASSWORD_FILE: file('password'),
    PM_REDIS_TLS_CA: file('cert.pem'),
    PM_REDIS_USERNAME: 'ingress',
    PM_REDIS_PASSWORD_FILE: file('password'),
    PM_REGISTRY_TLS_CA: file('cert.pem'),
    PM_REGISTRY_USERNAME: 'ingress',
    PM_REGISTRY_PASSWORD_FILE: file('password'),
    PM_CLICKHOUSE_TLS_CA: file('cert.pem'),
    PM_CLICKHOUSE_PASSWORD_FILE: file('password'),
  });
  const account = { ca, username: 'ingress', password: secret };
  expect(kafkaConnection(config)).toEqual({
    brokers: ['kafka:9092'],
    ssl: { ca, cert: ca, key: readFileSync(file('key.pem'), 'utf8') },
    sasl: { mechanism: 'scram-sha-512', username: 'ingress', password: secret },
  });
  expect(redisConnection(config)).toEqual({ url: urls.PM_REDIS_URL, ...account });
  expect(registryConnection(config)).toEqual({ url: urls.PM_REGISTRY_URL, access: account });
  expect(clickhouseAccount(config)).toMatchObject({ ca, password: secret });
});

test('what is kept for a time is on the Redis of the ledger unless it has a URL and an account of its own', () => {
  const ledger = { PM_REDIS_USERNAME: 'u', PM_REDIS_PASSWORD_FILE: file('password') };
  const shared = read(ledger);
  expect(redisCacheConnection(shared)).toEqual(redisConnection(shared));
  const url = 'redis://cache:6380';
  expect(redisCacheConnection(read({ ...ledger, PM_REDIS_CACHE_URL: url }))).toEqual({ url });
  const own = read({
    PM_REDIS_CACHE_URL: url,
    PM_REDIS_CACHE_TLS_CA: file('cert.pem'),
    PM_REDIS_CACHE_USERNAME: 'c',
    PM_REDIS_CACHE_PASSWORD_FILE: file('password'),
  });
  const ca = readFileSync(file('cert.pem'), 'utf8');
  expect(redisCacheConnection(own)).toEqual({ url, ca, username: 'c', password: secret });
  expect(redisConnection(own)).toEqual({ url: urls.PM_REDIS_URL });
  const facts = factsOf(() => redisCacheConnection(read({ PM_REDIS_CACHE_USERNAME: 'c' })));
  expect(JSON.stringify(facts)).toContain('PM_REDIS_CACHE_URL');
});

const store = (env: Record<string, string>) => storeConnection(readConfig(storeFields, env));

test('the store is a place of S3, a folder, or none', () => {
  expect(store({})).toBeNull();
  expect(store({ PM_STORE_URL: 'file:///var/lib/exchange/store' })).toEqual({
    kind: 'folder',
    folder: '/var/lib/exchange/store',
  });
  expect(store({ PM_STORE_URL: 's3://bucket' })).toEqual({
    kind: 's3',
    bucket: 'bucket',
    prefix: '',
    region: 'us-east-1',
  });
  const own = {
    PM_STORE_URL: 's3://bucket/one/two/',
    PM_STORE_ENDPOINT: 'https://store:9000/',
    PM_STORE_REGION: 'eu-north-1',
    PM_STORE_ACCESS_KEY: 'exchange',
    PM_STORE_SECRET_KEY_FILE: file('password'),
    PM_STORE_TLS_CA: file('cert.pem'),
  };
  expect(store(own)).toEqual({
    kind: 's3',
    bucket: 'bucket',
    prefix: 'one/two/',
    region: 'eu-north-1',
    endpoint: 'https://store:9000',
    account: { accessKeyId: 'exchange', secretAccessKey: secret },
    ca: readFileSync(file('cert.pem'), 'utf8'),
  });
});

test.each([
  [{ PM_STORE_ENDPOINT: 'https://store:9000' }, 'need a PM_STORE_URL'],
  [{ PM_STORE_URL: 's3://bucket', PM_STORE_ACCESS_KEY: 'exchange' }, 'belong together'],
  [{ PM_STORE_URL: 'file:///store', PM_STORE_ACCESS_KEY: 'exchange' }, 's3://'],
  [{ PM_STORE_URL: 'store' }, 'file:///folder'],
])('%j is refused as a store, with what is wrong', (env: Record<string, string>, reason) => {
  expect(JSON.stringify(factsOf(() => store(env)))).toContain(reason);
});

test('PLAIN and OAUTHBEARER, and TLS by the authorities of Node', () => {
  const plain = {
    PM_KAFKA_TLS: 'on',
    PM_KAFKA_SASL_MECHANISM: 'PLAIN',
    PM_KAFKA_SASL_USERNAME: 'u',
    PM_KAFKA_SASL_PASSWORD_FILE: file('password'),
  };
  expect(kafkaConnection(read(plain))).toMatchObject({
    ssl: {},
    sasl: { mechanism: 'plain', username: 'u', password: secret },
  });
  const bearer = {
    PM_KAFKA_SASL_MECHANISM: 'OAUTHBEARER',
    PM_KAFKA_SASL_TOKEN_FILE: file('password'),
  };
  expect(kafkaConnection(read(bearer)).sasl).toEqual({
    mechanism: 'oauthbearer',
    tokenFile: file('password'),
  });
});

test.each([
  ['PLAIN', 'plain'],
  ['SCRAM-SHA-256', 'scram-sha-256'],
  ['SCRAM-SHA-512', 'scram-sha-512'],
])('%s signs in with a user and a password', (name, mechanism) => {
  const given = {
    PM_KAFKA_SASL_MECHANISM: name,
    PM_KAFKA_SASL_USERNAME: 'u',
    PM_KAFKA_SASL_PASSWORD_FILE: file('password'),
  };
  const { sasl } = kafkaConnection(read(given));
  expect(sasl).toEqual({ mechanism, username: 'u', password: secret });
});

test('OAUTHBEARER takes extensions, whose values may have an equals sign', () => {
  const given = {
    PM_KAFKA_SASL_MECHANISM: 'OAUTHBEARER',
    PM_KAFKA_SASL_TOKEN_FILE: file('password'),
    PM_KAFKA_SASL_EXTENSIONS: 'logicalCluster=lkc-1, identityPoolId=pool-a=',
  };
  expect(kafkaConnection(read(given)).sasl).toEqual({
    mechanism: 'oauthbearer',
    tokenFile: file('password'),
    extensions: { logicalCluster: 'lkc-1', identityPoolId: 'pool-a=' },
  });
});

test.each([['auth=x'], ['logicalCluster'], ['logical-cluster=lkc-1'], ['logicalCluster=a b']])(
  'the extension %s is refused',
  (PM_KAFKA_SASL_EXTENSIONS) => {
    const facts = factsOf(() => read({ PM_KAFKA_SASL_EXTENSIONS }));
    expect(Object.keys(facts)).toEqual(['PM_KAFKA_SASL_EXTENSIONS']);
  },
);

test('two extensions of one name are refused, and extensions without OAUTHBEARER', () => {
  const bearer = {
    PM_KAFKA_SASL_MECHANISM: 'OAUTHBEARER',
    PM_KAFKA_SASL_TOKEN_FILE: file('password'),
    PM_KAFKA_SASL_EXTENSIONS: 'a=1,a=2',
  };
  expect(JSON.stringify(factsOf(() => kafkaConnection(read(bearer))))).toContain('a name twice');
  const plain = {
    PM_KAFKA_SASL_MECHANISM: 'PLAIN',
    PM_KAFKA_SASL_USERNAME: 'u',
    PM_KAFKA_SASL_PASSWORD_FILE: file('password'),
    PM_KAFKA_SASL_EXTENSIONS: 'a=1',
  };
  expect(JSON.stringify(factsOf(() => kafkaConnection(read(plain))))).toContain('OAUTHBEARER');
  const alone = { PM_KAFKA_SASL_EXTENSIONS: 'a=1' };
  expect(JSON.stringify(factsOf(() => kafkaConnection(read(alone))))).toContain('MECHANISM');
});

test('settings that brokers may leave out are those of topics, by name', () => {
  const hidden = 'min.insync.replicas,unclean.leader.election.enable';
  const given = read({ PM_KAFKA_HIDDEN_SETTINGS: hidden });
  expect(kafkaConnection(given).hiddenSettings).toEqual(hidden.split(','));
  const facts = factsOf(() => read({ PM_KAFKA_HIDDEN_SETTINGS: 'min.insync.replica' }));
  expect(Object.keys(facts)).toEqual(['PM_KAFKA_HIDDEN_SETTINGS']);
});

test.each([
  ['PM_KAFKA_TLS_CA', 'missing', 'cannot be read (ENOENT)'],
  ['PM_KAFKA_TLS_CA', 'password', 'no certificate in PEM'],
  ['PM_REDIS_TLS_CA', 'damaged.pem', 'something else, or is damaged'],
  ['PM_CLICKHOUSE_TLS_CA', 'large', 'cannot be read (too large)'],
  ['PM_REGISTRY_TLS_CA', 'key.pem', 'no certificate in PEM'],
  ['PM_KAFKA_TLS_KEY', 'cert.pem', 'something else, or is damaged'],
  ['PM_KAFKA_SASL_PASSWORD_FILE', 'two-lines', 'exactly one line'],
  ['PM_REDIS_PASSWORD_FILE', 'missing', 'cannot be read (ENOENT)'],
  ['PM_KAFKA_SASL_TOKEN_FILE', 'missing', 'cannot be read (ENOENT)'],
])('%s is named when its file is %s, and its content is not shown', (name, given, reason) => {
  const facts = factsOf(() => read({ [name]: file(given) }));
  expect(Object.keys(facts)).toEqual([name]);
  expect(facts[name]).toContain(reason);
  expect(JSON.stringify(facts)).not.toContain(secret);
});

test.each([
  [{ PM_KAFKA_TLS_CERT: 'cert.pem' }, 'PM_KAFKA_TLS_KEY'],
  [{ PM_KAFKA_TLS_CERT: 'cert.pem', PM_KAFKA_TLS_KEY: 'key.pem' }, 'PM_KAFKA_TLS=on'],
  [{ PM_KAFKA_SASL_PASSWORD_FILE: 'password' }, 'PM_KAFKA_SASL_MECHANISM'],
  [{ PM_KAFKA_SASL_MECHANISM: 'PLAIN' }, 'PM_KAFKA_SASL_PASSWORD_FILE'],
  [{ PM_KAFKA_SASL_MECHANISM: 'OAUTHBEARER' }, 'PM_KAFKA_SASL_TOKEN_FILE'],
])('%j is refused with the variable that is missing', (env, missing) => {
  const given = Object.entries(env).map(([name, value]) => [
    name,
    name.endsWith('MECHANISM') ? value : file(value),
  ]);
  const facts = factsOf(() => kafkaConnection(read(Object.fromEntries(given))));
  expect(JSON.stringify(facts)).toContain(missing);
});

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readNames } from '@pm/deploy/installation/read-addresses';
import type { EngineUrls } from '@pm/deploy/local/engines';
import { accountOf, declaredAccess } from '@pm/operate/access/declared';
import { accessText } from '@pm/operate/access/output';
import {
  type Allowed,
  allowAll,
  type BrokerAccount,
} from '../../../kit/test/kafka/broker-access.ts';
import { makeCertificates } from '../../src/faults/certificates.ts';
import { callerOf, type Judge, openTlsFront } from '../../src/faults/tls-front.ts';
import { engineUrls } from '../services-under-test.ts';
import { startSecuredKafka } from './secured-kafka.ts';
import { startSecuredRedis } from './secured-redis.ts';

/**
 * A broker and two Redis with TLS and the accounts that `npm run access` writes. The registry and ClickHouse are those
 * of all tests, behind TLS and the same accounts: at ClickHouse each is the local user of its role.
 */
export interface GuardedEngines {
  readonly urls: EngineUrls;
  /** The Redis of what is kept for a time. */
  readonly cacheUrl: string;
  /** Variables that every process needs, independent of its name. */
  readonly shared: Readonly<Record<string, string>>;
  /** Variables by which a service or tool signs in. */
  variablesOf(name: string): Readonly<Record<string, string>>;
  /** Its account at the broker; `admin` may do everything. */
  brokerAccount(name: string): BrokerAccount;
  stop(): Promise<void>;
}

const admin = 'admin';

export async function startGuardedEngines(
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<GuardedEngines> {
  const certificates = makeCertificates(folder);
  const accounts = declaredAccess.map(accountOf);
  const names = readNames(env);
  // The Redis of tests is 6.2.
  const startRedis = (server: 'ledger' | 'cache') => {
    const users = accessText('redis-6', names, server)
      .trim()
      .replace(/SHA256_OF_(\S+)/g, (_all, account: string) => sha256Of(passwordOf(account)));
    const administrator = `user ${admin} on >${passwordOf(admin)} ~* &* +@all`;
    return startSecuredRedis(folder, certificates, [users, administrator], `redis-${server}`);
  };
  const shared = engineUrls();
  const [kafka, redis, cache, registry, clickhouse] = await Promise.all([
    startSecuredKafka({
      folder,
      certificates,
      users: Object.fromEntries([admin, ...accounts].map((name) => [name, passwordOf(name)])),
    }),
    startRedis('ledger'),
    startRedis('cache'),
    openTlsFront(new URL(shared.registry).origin, certificates, judgeRegistry),
    openTlsFront(shared.clickhouse, certificates, judgeTables),
  ]);
  const ca = readFileSync(certificates.caFile, 'utf8');
  const brokerAccount = (name: string) => {
    const username = name === admin ? admin : accountOf({ name });
    return { broker: kafka.broker, ca, username, password: passwordOf(username) };
  };
  const engines = {
    urls: {
      kafka: kafka.broker,
      redis: redis.url,
      registry: `${registry.url}${new URL(shared.registry).pathname}`,
      clickhouse: clickhouse.url,
    },
    cacheUrl: cache.url,
    shared: {
      ...env,
      PM_REDIS_CACHE_URL: cache.url,
      PM_REDIS_CACHE_TLS_CA: certificates.caFile,
      PM_KAFKA_TLS_CA: certificates.caFile,
      PM_KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
      PM_REDIS_TLS_CA: certificates.caFile,
      PM_REGISTRY_TLS_CA: certificates.caFile,
      PM_CLICKHOUSE_TLS_CA: certificates.caFile,
    },
    variablesOf: (name: string) => signIn(folder, name),
    brokerAccount,
    stop: async () => {
      const servers = [kafka.stop(), redis.stop(), cache.stop()];
      await Promise.all([...servers, registry.close(), clickhouse.close()]);
    },
  };
  try {
    await allowAll(brokerAccount(admin), allowedBy(accessText('kafka', names)));
    return engines;
  } catch (error) {
    await engines.stop();
    throw error;
  }
}

function signIn(folder: string, name: string): Readonly<Record<string, string>> {
  const account = name === admin ? admin : accountOf({ name });
  const file = join(folder, `${account}.password`);
  writeFileSync(file, `${passwordOf(account)}\n`);
  const declared = declaredAccess.find((one) => one.name === name);
  const hasRedis = name === admin || (declared !== undefined && declared.redis !== null);
  const hasCache = name === admin || declared?.redisCache !== undefined;
  const hasTables = tableUsers.has(tableAccountOf(account));
  return {
    PM_KAFKA_SASL_USERNAME: account,
    PM_KAFKA_SASL_PASSWORD_FILE: file,
    PM_REGISTRY_USERNAME: account,
    PM_REGISTRY_PASSWORD_FILE: file,
    ...(hasRedis ? { PM_REDIS_USERNAME: account, PM_REDIS_PASSWORD_FILE: file } : {}),
    ...(hasCache ? { PM_REDIS_CACHE_USERNAME: account, PM_REDIS_CACHE_PASSWORD_FILE: file } : {}),
    ...(hasTables
      ? {
          PM_CLICKHOUSE_USER: tableAccountOf(account),
          PM_CLICKHOUSE_PASSWORD_FILE: file,
        }
      : {}),
  };
}

/** Accounts of ClickHouse have underscores. */
const tableAccountOf = (account: string) => account.replaceAll('-', '_');

/** Account of ClickHouse -> user of the local one with its rights; those that make tables are administrators there. */
const tableUsers: ReadonlyMap<string, string> = new Map([
  [admin, 'default'],
  ...declaredAccess.flatMap(({ name, clickhouseRole }) => {
    const user = name === 'setup' || name === 'rebuild' ? 'default' : clickhouseRole;
    return user === null ? [] : [[tableAccountOf(accountOf({ name })), user] as const];
  }),
]);

const judgeTables: Judge = (request) => {
  const { user, password } = callerOf(request);
  const isKnown = password === passwordOf(user.replaceAll('_', '-'));
  return (isKnown ? tableUsers.get(user) : undefined) ?? 403;
};

/** Accounts of the registry are no part of `npm run access`: each of the others may use it. */
const judgeRegistry: Judge = (request) => {
  const { user, password } = callerOf(request);
  return user !== '' && password === passwordOf(user) ? null : 401;
};

const passwordOf = (account: string) => `canary-of-${account}`;
const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');

/** Operations that commands of `kafka-acls.sh` allow; the script itself is not among the engines of tests. */
function allowedBy(commands: string): readonly Allowed[] {
  const [first, ...lines] = commands.trim().split('\n');
  if (first !== 'set -eu') throw new Error(`not expected: ${first}`);
  return lines.flatMap((line) => {
    const words = line.replace(/^kafka-acls\.sh .* --add --allow-principal /, '').split(' ');
    const [principal = '', ...options] = words;
    const given = new Map<string, string[]>();
    for (let at = 0; at < options.length; at += 2) {
      const [option = '', value = ''] = options.slice(at, at + 2);
      given.set(option, [...(given.get(option) ?? []), value]);
    }
    return (given.get('--operation') ?? []).flatMap((operation) =>
      (['topic', 'group'] as const).flatMap((kind) =>
        (given.get(`--${kind}`) ?? []).map((name) => ({ principal, operation, kind, name })),
      ),
    );
  });
}

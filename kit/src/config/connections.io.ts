import { fileURLToPath } from 'node:url';
import { Fault } from '../fault/index.ts';
import type { StorePlace } from '../objects/index.ts';
import type {
  clickhouseFields,
  kafkaFields,
  redisCacheFields,
  redisFields,
  registryFields,
  storeFields,
} from './engines.io.ts';
import type { ConfigOf } from './fields.ts';

/** TLS and sign-in of a connection to the brokers, PEM texts, and what they may not show. */
export interface KafkaSecurity {
  /** Absent means plain text. */
  readonly ssl?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly sasl?:
    | {
        readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
        readonly username: string;
        readonly password: string;
      }
    | {
        readonly mechanism: 'oauthbearer';
        readonly tokenFile: string;
        readonly extensions?: Readonly<Record<string, string>>;
      };
  /** Settings of topics that the brokers may leave out where they show the others. */
  readonly hiddenSettings?: readonly string[];
}

/** The brokers as `openLogClient` takes them. Throws the `Fault` `invalid_config` (stop) for a missing part. */
export function kafkaConnection(
  config: ConfigOf<typeof kafkaFields>,
): { readonly brokers: readonly string[] } & KafkaSecurity {
  return {
    brokers: config.kafkaBrokers,
    ...tlsOf(config),
    ...saslOf(config),
    ...(config.kafkaHiddenSettings.length === 0
      ? {}
      : { hiddenSettings: config.kafkaHiddenSettings }),
  };
}

function tlsOf(config: ConfigOf<typeof kafkaFields>): Pick<KafkaSecurity, 'ssl'> {
  const { kafkaTls, kafkaTlsCa: ca, kafkaTlsCert: cert, kafkaTlsKey: key } = config;
  if ((cert === '') !== (key === ''))
    throw invalid('PM_KAFKA_TLS_CERT and PM_KAFKA_TLS_KEY belong together');
  if (kafkaTls === 'off' && ca === '') {
    if (cert !== '') throw invalid('PM_KAFKA_TLS_CERT needs PM_KAFKA_TLS=on');
    return {};
  }
  return { ssl: { ...(ca === '' ? {} : { ca }), ...(cert === '' ? {} : { cert, key }) } };
}

function saslOf(config: ConfigOf<typeof kafkaFields>): Pick<KafkaSecurity, 'sasl'> {
  const { kafkaSaslMechanism: mechanism, kafkaSaslTokenFile: tokenFile } = config;
  const { kafkaSaslUsername: username, kafkaSaslPassword: password } = config;
  const { kafkaSaslExtensions: extensions } = config;
  if (mechanism === 'off') {
    const isUnset = username === '' && password === '' && tokenFile === '';
    if (isUnset && extensions.length === 0) return {};
    throw invalid('PM_KAFKA_SASL_USERNAME and the others need PM_KAFKA_SASL_MECHANISM');
  }
  if (mechanism === 'OAUTHBEARER') {
    if (tokenFile === '') throw invalid('OAUTHBEARER needs PM_KAFKA_SASL_TOKEN_FILE');
    return { sasl: { mechanism: 'oauthbearer', tokenFile, ...extensionsOf(extensions) } };
  }
  if (extensions.length > 0) throw invalid('PM_KAFKA_SASL_EXTENSIONS needs OAUTHBEARER');
  if (username === '' || password === '')
    throw invalid(`${mechanism} needs PM_KAFKA_SASL_USERNAME and PM_KAFKA_SASL_PASSWORD_FILE`);
  return { sasl: { mechanism: kafkajsNames[mechanism], username, password } };
}

const kafkajsNames = {
  PLAIN: 'plain',
  'SCRAM-SHA-256': 'scram-sha-256',
  'SCRAM-SHA-512': 'scram-sha-512',
} as const;

function extensionsOf(given: readonly string[]): {
  readonly extensions?: Readonly<Record<string, string>>;
} {
  if (given.length === 0) return {};
  const pairs = given.map((one) => [
    one.slice(0, one.indexOf('=')),
    one.slice(one.indexOf('=') + 1),
  ]);
  const extensions = Object.fromEntries(pairs) as Record<string, string>;
  if (Object.keys(extensions).length === given.length) return { extensions };
  throw invalid('PM_KAFKA_SASL_EXTENSIONS has a name twice');
}

/** Redis as `openRedis` takes it. */
export function redisConnection(config: ConfigOf<typeof redisFields>) {
  const {
    redisUrl: url,
    redisTlsCa: ca,
    redisUsername: username,
    redisPassword: password,
  } = config;
  return { url, ...given({ ca, username, password }) };
}

/**
 * The Redis of what is kept for a time, as `openRedis` takes it: the one of `redisConnection` unless it has a URL.
 * Throws the `Fault` `invalid_config` (stop) for variables of a server without a URL.
 */
export function redisCacheConnection(
  config: ConfigOf<typeof redisFields> & ConfigOf<typeof redisCacheFields>,
) {
  const { redisCacheUrl: url, redisCacheTlsCa: ca } = config;
  const { redisCacheUsername: username, redisCachePassword: password } = config;
  const more = given({ ca, username, password });
  if (url !== '') return { url, ...more };
  if (Object.keys(more).length > 0)
    throw invalid('PM_REDIS_CACHE_USERNAME and the others need PM_REDIS_CACHE_URL');
  return redisConnection(config);
}

/** The registry as `openRegistry` takes it. */
export function registryConnection(config: ConfigOf<typeof registryFields>) {
  const { registryUrl: url, registryTlsCa: ca } = config;
  const { registryUsername: username, registryPassword: password } = config;
  return { url, access: given({ ca, username, password }) };
}

/** ClickHouse as `openClickHouse` takes it. */
export function clickhouseAccount(config: ConfigOf<typeof clickhouseFields>) {
  return {
    url: config.clickhouseUrl,
    database: config.clickhouseDatabase,
    user: config.clickhouseUser,
    password: config.clickhousePasswordFile || config.clickhousePassword,
    ...given({ ca: config.clickhouseTlsCa }),
  };
}

/**
 * The store as `openObjectStore` takes it; null without one. Throws the `Fault` `invalid_config` (stop) for variables
 * that belong to no store or not together.
 */
export function storeConnection(config: ConfigOf<typeof storeFields>): StorePlace | null {
  const { storeUrl, storeEndpoint: endpoint, storeRegion: region, storeTlsCa: ca } = config;
  const { storeAccessKey: accessKeyId, storeSecretKey: secretAccessKey } = config;
  const isS3 = storeUrl.startsWith('s3://');
  if (!isS3 && [endpoint, ca, accessKeyId, secretAccessKey].some((text) => text !== ''))
    throw invalid('PM_STORE_ENDPOINT and the others need a PM_STORE_URL that begins with s3://');
  if ((accessKeyId === '') !== (secretAccessKey === ''))
    throw invalid('PM_STORE_ACCESS_KEY and PM_STORE_SECRET_KEY_FILE belong together');
  if (storeUrl === '') return null;
  if (!isS3) return { kind: 'folder', folder: fileURLToPath(storeUrl) };
  const [bucket = '', ...folders] = storeUrl.slice('s3://'.length).replace(/\/$/, '').split('/');
  const prefix = folders.map((folder) => `${folder}/`).join('');
  const account = accessKeyId === '' ? {} : { account: { accessKeyId, secretAccessKey } };
  return { kind: 's3', bucket, prefix, region, ...given({ endpoint, ca }), ...account };
}

/** Without the entries that are empty. */
function given<K extends string>(
  texts: Readonly<Record<K, string>>,
): { readonly [N in K]?: string } {
  const entries = Object.entries(texts).filter(([, text]) => text !== '');
  return Object.fromEntries(entries) as { readonly [N in K]?: string };
}

function invalid(relation1: string): Fault {
  return new Fault('invalid_config', 'stop', { facts: { relation1 } });
}

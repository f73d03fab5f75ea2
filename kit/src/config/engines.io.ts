import { cacheBytesDefault, cacheBytesMin } from '@pm/schemas/redis/cache';
import { topicSettings } from '../kafka/topic-spec.ts';
import { integer, list, oneOf, redisAddress, text, url } from './fields.ts';
import { certificateFile, privateKeyFile, secretFile, tokenFile } from './files.io.ts';
import { namesOf } from './shared.ts';

const brokerPattern = /^[\w.-]+:\d{1,5}$/;
const topicPrefixPattern = /^[\w.-]{0,100}$/;
const namePattern = /^[A-Za-z_]\w{0,63}$/;
const saslMechanisms = ['off', 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const;
/** A name of letters other than `auth`, and a value of visible characters (RFC 7628, 3.1). */
const extensionPattern = /^(?!auth=)[A-Za-z]+=[!-+\--~]+$/;
const topicSettingPattern = new RegExp(`^(${topicSettings.join('|').replaceAll('.', '\\.')})$`);

/** Address of the log, what its brokers ask of who connects, and the prefix of its topics. */
export const kafkaFields = {
  kafkaBrokers: list('PM_KAFKA_BROKERS', {
    meaning: 'Kafka brokers to connect to first, each as `host:port`.',
    pattern: brokerPattern,
  }),
  topicPrefix: text('PM_TOPIC_PREFIX', {
    meaning: 'Prefix of every topic, consumer group and schema subject of this exchange.',
    default: '',
    pattern: topicPrefixPattern,
  }),
  kafkaTls: oneOf('PM_KAFKA_TLS', ['off', 'on'], {
    meaning: 'Whether connections to Kafka use TLS; `PM_KAFKA_TLS_CA` alone turns it on as well.',
    default: 'off',
  }),
  kafkaTlsCa: certificateFile('PM_KAFKA_TLS_CA', {
    meaning: 'Authorities that sign the certificates of the brokers, in place of those of Node.',
  }),
  kafkaTlsCert: certificateFile('PM_KAFKA_TLS_CERT', {
    meaning: 'Certificate of this process, for brokers that ask for one.',
  }),
  kafkaTlsKey: privateKeyFile('PM_KAFKA_TLS_KEY', { meaning: 'Private key of that certificate.' }),
  kafkaSaslMechanism: oneOf('PM_KAFKA_SASL_MECHANISM', saslMechanisms, {
    meaning: 'How this process signs in at the brokers.',
    default: 'off',
  }),
  kafkaSaslUsername: text('PM_KAFKA_SASL_USERNAME', {
    meaning: 'User of `PLAIN`, `SCRAM-SHA-256` and `SCRAM-SHA-512`.',
    default: '',
  }),
  kafkaSaslPassword: secretFile('PM_KAFKA_SASL_PASSWORD_FILE', {
    meaning: 'File with the password of that user.',
  }),
  kafkaSaslTokenFile: tokenFile('PM_KAFKA_SASL_TOKEN_FILE', {
    meaning: 'File with the token of `OAUTHBEARER`; read again at each sign-in, at most 64 KiB.',
  }),
  kafkaSaslExtensions: list('PM_KAFKA_SASL_EXTENSIONS', {
    meaning:
      'Extensions that `OAUTHBEARER` sends with the token, each as `name=value`, such as `logicalCluster` and `identityPoolId` (kafka.md).',
    default: [],
    pattern: extensionPattern,
  }),
  kafkaHiddenSettings: list('PM_KAFKA_HIDDEN_SETTINGS', {
    meaning:
      'Settings of topics that the brokers may leave out where they show the others; without it set-up and the matcher refuse such brokers (kafka.md).',
    default: [],
    pattern: topicSettingPattern,
  }),
};

/** Copies of each topic below which nothing starts; the stack and the matcher check it. */
export const replicationMinField = integer('PM_REPLICATION_MIN', {
  meaning:
    'Fewest copies of each topic of engines that were not started here; with fewer, or without a second copy in sync, nothing starts. Below 3 a lost broker stops trading or loses acknowledged orders.',
  unit: 'copies',
  min: 1,
  max: 9,
  default: 3,
});

/** The schema registry, with the path of its Confluent API. */
export const registryFields = {
  registryUrl: url('PM_REGISTRY_URL', {
    meaning:
      'Schema registry, with the path of its Confluent API; user and password may stand in it.',
  }),
  registryTlsCa: certificateFile('PM_REGISTRY_TLS_CA', {
    meaning:
      'Authorities that sign the certificate of an https registry, in place of those of Node.',
  }),
  registryUsername: text('PM_REGISTRY_USERNAME', {
    meaning: 'User at the registry, in place of the one in its URL.',
    default: '',
  }),
  registryPassword: secretFile('PM_REGISTRY_PASSWORD_FILE', {
    meaning: 'File with the password of that user.',
  }),
};

/** Redis, and the prefix of its keys. */
export const redisFields = {
  redisUrl: redisAddress('PM_REDIS_URL', {
    meaning:
      'Redis with the collateral ledger and the books, and with what `PM_REDIS_CACHE_URL` describes unless that names another server: its primary, or Sentinels and the name under which they know it (redis.md).',
  }),
  redisTlsCa: certificateFile('PM_REDIS_TLS_CA', {
    meaning:
      'Authorities that sign the certificates of a `rediss` server and its Sentinels, in place of those of Node.',
  }),
  redisUsername: text('PM_REDIS_USERNAME', {
    meaning:
      'User at Redis, in place of the one in its URL; Sentinels are asked with the one in the URL, or with none.',
    default: '',
  }),
  redisPassword: secretFile('PM_REDIS_PASSWORD_FILE', {
    meaning: 'File with the password of that user, or of Redis where there are no users.',
  }),
  redisPrefix: text('PM_REDIS_PREFIX', {
    meaning: 'Prefix of every Redis key of this exchange.',
    default: 'pm',
    pattern: /^[\w-]{1,64}$/,
  }),
};

/** The Redis with what public listeners keep for a time. Without its URL it is the other one. */
export const redisCacheFields = {
  redisCacheUrl: redisAddress('PM_REDIS_CACHE_URL', {
    meaning:
      'Redis with what is kept for a time: idempotency keys, used proofs, rate limits, uses of agents; of the same forms; without it the server of `PM_REDIS_URL`.',
    default: '',
  }),
  redisCacheTlsCa: certificateFile('PM_REDIS_CACHE_TLS_CA', {
    meaning: 'Authorities of that server if it is a `rediss` one, in place of those of Node.',
  }),
  redisCacheUsername: text('PM_REDIS_CACHE_USERNAME', {
    meaning: 'User at that server, in place of the one in its URL.',
    default: '',
  }),
  redisCachePassword: secretFile('PM_REDIS_CACHE_PASSWORD_FILE', {
    meaning: 'File with the password of that user, or of the server where there are no users.',
  }),
  redisCacheBytes: integer('PM_REDIS_CACHE_BYTES', {
    meaning:
      'Memory that all of it may take; each kind of key has a fixed part. The same for all processes of ingress and query-api, and less than `maxmemory` of the server.',
    unit: 'bytes',
    min: cacheBytesMin,
    max: 68_719_476_736,
    default: cacheBytesDefault,
  }),
};

/** ClickHouse, which holds the tables. */
export const clickhouseFields = {
  clickhouseUrl: url('PM_CLICKHOUSE_URL', { meaning: 'HTTP interface of ClickHouse.' }),
  clickhouseDatabase: text('PM_CLICKHOUSE_DATABASE', {
    meaning: 'Database of the tables.',
    default: 'pm',
    pattern: namePattern,
  }),
  clickhouseUser: text('PM_CLICKHOUSE_USER', {
    meaning: 'ClickHouse user of this process; its role limits it (clickhouse.md).',
    default: 'default',
  }),
  clickhousePassword: text('PM_CLICKHOUSE_PASSWORD', {
    meaning: 'Password of that user.',
    default: '',
    secret: true,
  }),
  clickhousePasswordFile: secretFile('PM_CLICKHOUSE_PASSWORD_FILE', {
    meaning: 'File with that password, in place of `PM_CLICKHOUSE_PASSWORD`.',
  }),
  clickhouseTlsCa: certificateFile('PM_CLICKHOUSE_TLS_CA', {
    meaning:
      'Authorities that sign the certificate of an https ClickHouse, in place of those of Node.',
  }),
};

/** The store of what is kept beside the log: copies of snapshots, checkpoints, backups. There need not be one. */
export const storeFields = {
  storeUrl: text('PM_STORE_URL', {
    meaning:
      'Store of checkpoints and of copies of snapshots, one place for each installation: `s3://bucket/prefix`, or `file:///folder` that all machines share; without it a lost disk or Redis is folded from the whole log.',
    default: '',
    pattern: /^(s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w-]+)*\/?|file:\/\/\/.+)$/,
    allowed: '`s3://bucket/prefix` or `file:///folder`',
  }),
  storeEndpoint: url('PM_STORE_ENDPOINT', {
    meaning: 'Address of a store that speaks the API of S3 and is not that of AWS.',
    default: '',
  }),
  storeRegion: text('PM_STORE_REGION', {
    meaning: 'Region of the bucket.',
    default: 'us-east-1',
    pattern: /^[a-z0-9-]{1,64}$/,
  }),
  storeAccessKey: text('PM_STORE_ACCESS_KEY', {
    meaning:
      'Id of the access key at the store; without one the role of the instance or of the pod is used.',
    default: '',
  }),
  storeSecretKey: secretFile('PM_STORE_SECRET_KEY_FILE', {
    meaning: 'File with the secret of that access key.',
  }),
  storeTlsCa: certificateFile('PM_STORE_TLS_CA', {
    meaning: 'Authorities that sign the certificate of an https store, in place of those of Node.',
  }),
};

/** Variables of the engines, for the `known` list of programs that use none of them. */
export const engineVariables = namesOf(
  kafkaFields,
  registryFields,
  redisFields,
  redisCacheFields,
  clickhouseFields,
  storeFields,
);

/** Passphrase that encrypts the keys in a backup. */
export const backupFields = {
  backupPassphrase: secretFile('PM_BACKUP_PASSPHRASE_FILE', {
    meaning:
      'File with the passphrase that encrypts keys.json in a backup, 16 characters or more; without it a backup cannot be opened.',
  }),
};

/** The root key, which lists the keys whose seals count. */
export const rootKeyFields = {
  rootKey: text('PM_ROOT_KEY', {
    meaning:
      'Raw Ed25519 public key that lists the keys of services; records of sealed topics count under these keys alone.',
    pattern: /^[0-9a-f]{64}$/,
    allowed: '32 bytes as 64 hex digits',
  }),
};

import { logLevels } from '../log/log.ts';
import { type ConfigOf, decimal, type Fields, integer, list, oneOf, text, url } from './fields.ts';

const brokerPattern = /^[\w.-]+:\d{1,5}$/;
const topicPrefixPattern = /^[\w.-]{0,100}$/;
const namePattern = /^[A-Za-z_]\w{0,63}$/;

/** Brokers of the log, and the prefix of all its topics (so that tests share one broker). */
export const kafkaFields = {
  kafkaBrokers: list('PM_KAFKA_BROKERS', { pattern: brokerPattern }),
  topicPrefix: text('PM_TOPIC_PREFIX', { default: '', pattern: topicPrefixPattern }),
};

/** The schema registry, with the path of its Confluent API; the URL may contain user and password. */
export const registryFields = { registryUrl: url('PM_REGISTRY_URL') };

/** Redis, and the prefix of all its keys. */
export const redisFields = {
  redisUrl: url('PM_REDIS_URL', { protocols: ['redis', 'rediss'] }),
  redisPrefix: text('PM_REDIS_PREFIX', { default: 'pm', pattern: /^[\w-]{1,64}$/ }),
};

/** ClickHouse, which holds the tables. */
export const clickhouseFields = {
  clickhouseUrl: url('PM_CLICKHOUSE_URL'),
  clickhouseDatabase: text('PM_CLICKHOUSE_DATABASE', { default: 'pm', pattern: namePattern }),
  clickhouseUser: text('PM_CLICKHOUSE_USER', { default: 'default' }),
  clickhousePassword: text('PM_CLICKHOUSE_PASSWORD', { default: '', secret: true }),
};

/** The same in the form of `openClickHouse`. */
export function clickhouseAccount(config: ConfigOf<typeof clickhouseFields>) {
  return {
    url: config.clickhouseUrl,
    database: config.clickhouseDatabase,
    user: config.clickhouseUser,
    password: config.clickhousePassword,
  };
}

/** Settings of every process: log level, address of its listeners, port of the operator's listener. */
export const serviceFields = {
  logLevel: oneOf('PM_LOG_LEVEL', logLevels, { default: 'info' }),
  host: text('PM_HOST', { default: '127.0.0.1', pattern: /^[\w.:-]+$/ }),
  opsPort: integer('PM_OPS_PORT', { min: 0, max: 65_535 }),
};

/** Settings of every public listener: trusted proxies and rate limits (limits.md). */
export const publicDoorFields = {
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted; none when empty. */
  trustedProxies: list('PM_TRUSTED_PROXIES', {
    default: [],
    pattern: /^[\da-fA-F.:]+(\/\d{1,3})?$/,
  }),
  rateLimits: oneOf('PM_RATE_LIMITS', ['on', 'off'], { default: 'on' }),
  /** Multiplies every limit. */
  rateLimitScale: decimal('PM_RATE_LIMIT_SCALE', { min: 0.001, max: 1_000_000, default: 1 }),
  /** Limits of agents as a multiple of the table. */
  rateLimitAgentFactor: decimal('PM_RATE_LIMIT_AGENT_FACTOR', {
    min: 0.001,
    max: 1_000,
    default: 2,
  }),
  /** Processes that share one public address. */
  doorProcesses: integer('PM_DOOR_PROCESSES', { min: 1, max: 1_000, default: 1 }),
};

/** The variables of fields, for the `known` list of rooms that share an environment. */
export function namesOf(...sets: readonly Fields[]): readonly string[] {
  return sets.flatMap((fields) => Object.values(fields).map((field) => field.name));
}

import { logLevels } from '../log/log.ts';
import {
  type ConfigOf,
  decimal,
  type Fields,
  integer,
  list,
  oneOf,
  secret,
  secrets,
  text,
  url,
} from './fields.ts';

/** A host name, or an address of IPv4 or IPv6. */
export const addressPattern = /^[\w.:-]+$/;

/** Settings of every process: amount of logging, address and port of its health and metrics. */
export const serviceFields = {
  logLevel: oneOf('PM_LOG_LEVEL', logLevels, {
    meaning: 'Least severity that is logged.',
    default: 'info',
  }),
  opsHost: text('PM_OPS_HOST', {
    meaning: 'Address that health, status and metrics bind to; never public.',
    default: '127.0.0.1',
    pattern: addressPattern,
  }),
  opsPort: integer('PM_OPS_PORT', {
    meaning: 'Port of health, status and metrics; never public. 0 takes a free one.',
    unit: 'port',
    min: 0,
    max: 65_535,
  }),
};

/** Settings of every process that balancers send requests to. */
export const drainFields = {
  drainMs: integer('PM_DRAIN_MS', {
    meaning:
      'After SIGTERM a process answers `/ready` and `/serving` with 503 for this time and serves as ever, so that balancers take it out; after that it accepts no connection, and closes WebSockets over the same time (containers.md). 0 stops at once.',
    unit: 'milliseconds',
    min: 0,
    max: 60_000,
    default: 0,
  }),
};

/** Traces of requests and orders (observability.md); the package that sends them reads `OTEL_EXPORTER_OTLP_HEADERS`. */
export const traceFields = {
  otlpUrl: url('PM_OTLP_URL', {
    meaning:
      'Base address of a receiver of traces (OTLP over HTTP, JSON), such as a collector; without one there are none.',
    default: '',
  }),
  traceShare: decimal('PM_TRACE_SHARE', {
    meaning:
      'Share of requests and of orders that have a trace; the same in all services, or traces have holes.',
    unit: 'share',
    min: 0,
    max: 1,
    default: 0.01,
  }),
};

/** Names of orders in public books. */
export const bookNameFields = {
  bookSecret: secret('PM_BOOK_SECRET', {
    meaning:
      'Secret of the names that resting orders have in public books; equal in query-api and streams. Another value renames them.',
    bytes: 32,
  }),
};

/** When a second operator is needed, and how long a resolution can be challenged (operator.md). */
export const secondPersonFields = {
  secondPerson: oneOf('PM_SECOND_PERSON', ['on', 'off'], {
    meaning:
      'Whether resolutions, deposits above `PM_DEPOSIT_LIMIT_USDC`, withdrawals above `PM_WITHDRAWAL_LIMIT_USDC`, new owners of wallets, lifted freezes and statuses, and changed terms of traded markets wait for a second operator; off in the local stack unless it is set.',
    default: 'on',
  }),
  depositLimitUsdc: integer('PM_DEPOSIT_LIMIT_USDC', {
    meaning: 'Deposits of one operator within a UTC day that need no second operator.',
    unit: 'USDC',
    min: 0,
    max: 1_000_000_000,
    default: 100_000,
  }),
  withdrawalLimitUsdc: integer('PM_WITHDRAWAL_LIMIT_USDC', {
    meaning: 'Withdrawals by one operator within a UTC day that need no second operator.',
    unit: 'USDC',
    min: 0,
    max: 1_000_000_000,
    default: 100_000,
  }),
  feeNoticeSeconds: integer('PM_FEE_NOTICE_SECONDS', {
    meaning:
      'Time between the notice of a higher fee of a traded market and its beginning; with 0 it begins at once, as in the local stack unless it is set.',
    unit: 'seconds',
    min: 0,
    max: 2_592_000,
    default: 86_400,
  }),
  approvalSeconds: integer('PM_APPROVAL_SECONDS', {
    meaning: 'Time within which a second operator decides on a request.',
    unit: 'seconds',
    min: 1,
    max: 604_800,
    default: 3_600,
  }),
  challengeSeconds: integer('PM_CHALLENGE_SECONDS', {
    meaning:
      'Time within which an operator can challenge a resolution before it pays; with 0 it is carried out at once, as in the local stack unless it is set.',
    unit: 'seconds',
    min: 0,
    max: 2_592_000,
    default: 7_200,
  }),
};

/** Settings of a public listener: trusted proxies and rate limits (limits.md). */
export const publicHttpFields = {
  host: text('PM_HOST', {
    meaning: 'Address that the public listener binds to.',
    default: '127.0.0.1',
    pattern: addressPattern,
  }),
  httpPort: integer('PM_HTTP_PORT', {
    meaning: 'Port of the public listener. 0 takes a free one.',
    unit: 'port',
    min: 0,
    max: 65_535,
  }),
  keySecret: secret('PM_KEY_SECRET', {
    meaning: 'Secret from which new API keys are derived; equal in ingress, query-api and streams.',
    bytes: 32,
  }),
  otherKeySecrets: secrets('PM_KEY_SECRETS_ACCEPTED', {
    meaning:
      'Further secrets whose API keys are valid: former ones, and the next one before a rotation (operator.md).',
    bytes: 32,
    max: 10,
  }),
  freshnessSeconds: integer('PM_FRESHNESS_SECONDS', {
    meaning:
      'Largest difference between a signed timestamp in seconds and the clock of the server (conventions.md 2.4).',
    unit: 'seconds',
    min: 1,
    max: 3_600,
    default: 300,
  }),
  freshnessMs: integer('PM_FRESHNESS_MS', {
    meaning:
      'Largest difference between a signed timestamp in milliseconds and the clock of the server.',
    unit: 'milliseconds',
    min: 1_000,
    max: 3_600_000,
    default: 30_000,
  }),
  trustedProxies: list('PM_TRUSTED_PROXIES', {
    meaning:
      'Addresses and networks (CIDR) of proxies whose `X-Forwarded-For` is used: the right-most address in it that is none of them is the client. Of the gateway ingress also takes how long a request has waited there (`X-Waited-Ms`).',
    default: [],
    pattern: /^[\da-fA-F.:]+(\/\d{1,3})?$/,
  }),
  connectionsPerAddress: integer('PM_CONNECTIONS_PER_ADDRESS', {
    meaning:
      'Open connections of one client address, and at the gateway as many streams besides. For one more, one on which no request waits for its response is closed, else the new one; a further stream is refused. Twice as many new ones are accepted at once, and then at a rate. Connections of trusted proxies are not counted.',
    unit: 'connections',
    min: 1,
    max: 10_000,
    default: 256,
  }),
  rateLimits: oneOf('PM_RATE_LIMITS', ['on', 'off'], {
    meaning: 'Whether requests are limited.',
    default: 'on',
  }),
  rateLimitScale: decimal('PM_RATE_LIMIT_SCALE', {
    meaning: 'Multiplies every limit of the table in limits.md.',
    unit: 'factor',
    min: 0.001,
    max: 1_000_000,
    default: 1,
  }),
  rateLimitAgentFactor: decimal('PM_RATE_LIMIT_AGENT_FACTOR', {
    meaning: 'Multiplies every limit for requests with an agent key.',
    unit: 'factor',
    min: 0.001,
    max: 1_000,
    default: 2,
  }),
  rateLimitWalletFactor: decimal('PM_RATE_LIMIT_WALLET_FACTOR', {
    meaning: 'Multiplies every limit for all keys of a wallet together.',
    unit: 'factor',
    min: 0.001,
    max: 1_000_000,
    default: 2,
  }),
  rateLimitAddressFactor: decimal('PM_RATE_LIMIT_ADDRESS_FACTOR', {
    meaning: 'Multiplies every limit for all keys and agents at an address together.',
    unit: 'factor',
    min: 0.001,
    max: 1_000_000,
    default: 4,
  }),
  httpProcesses: integer('PM_HTTP_PROCESSES', {
    meaning: 'Number of processes of this service that share the limits.',
    unit: 'processes',
    min: 1,
    max: 1_000,
    default: 1,
  }),
};

/** The windows of signed timestamps (conventions.md 2.4). */
export function freshnessIn(
  config: Pick<ConfigOf<typeof publicHttpFields>, 'freshnessSeconds' | 'freshnessMs'>,
) {
  return { secondsMs: config.freshnessSeconds * 1000, millisecondsMs: config.freshnessMs };
}

/** The secrets that API keys are derived from. */
export function keySecretsIn(
  config: Pick<ConfigOf<typeof publicHttpFields>, 'keySecret' | 'otherKeySecrets'>,
) {
  return { present: config.keySecret, others: config.otherKeySecrets };
}

/** The variable names of fields, for the `known` list of rooms that share an environment. */
export function namesOf(...sets: readonly Fields[]): readonly string[] {
  return sets.flatMap((fields) => Object.values(fields).map((field) => field.name));
}

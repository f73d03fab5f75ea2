import { hostname } from 'node:os';
import {
  boolean,
  type ConfigOf,
  clickhouseFields,
  drainFields,
  integer,
  kafkaFields,
  namesOf,
  path,
  readConfig,
  redisCacheFields,
  redisFields,
  registryFields,
  replicationMinField,
  rootKeyFields,
  secret,
  serviceFields,
  storeFields,
  text,
  traceFields,
} from '@pm/kit/config';

const instancePattern = /^[\w.-]{1,64}$/;

/** Variables of the matcher; the configuration reference is made of them. */
export const matcherFields = {
  ...kafkaFields,
  ...rootKeyFields,
  ...serviceFields,
  ...traceFields,
  ...storeFields,
  ownerSeed: secret('PM_OWNER_SEED', {
    meaning: 'Ed25519 seed of the OWNER key, which signs the ticks; the same in all matchers.',
    bytes: 32,
  }),
  operatorKey: text('PM_OPERATOR_KEY', {
    meaning:
      'Raw Ed25519 public half of the opening key, which alone may open a partition; not that of PM_OPERATOR_SEED.',
    pattern: /^(0x)?[0-9a-fA-F]{64}$/,
    allowed: '32 bytes as 64 hex digits',
  }),
  snapshotDirectory: path('PM_SNAPSHOT_DIR', {
    meaning:
      'Folder of the snapshots; without them a restart replays a partition from its first record.',
  }),
  snapshotEveryRecords: integer('PM_SNAPSHOT_EVERY_RECORDS', {
    meaning: 'Records after which a partition writes its next snapshot.',
    unit: 'records',
    min: 100,
    max: 100_000_000,
    default: 100_000,
  }),
  snapshotEveryMs: integer('PM_SNAPSHOT_EVERY_MS', {
    meaning: 'Time after which a partition with new records writes its next snapshot.',
    unit: 'milliseconds',
    min: 1_000,
    max: 86_400_000,
    default: 60_000,
  }),
  copyEveryMs: integer('PM_SNAPSHOT_COPY_EVERY_MS', {
    meaning:
      'Least time between two copies of snapshots of a partition into the store of `PM_STORE_URL`.',
    unit: 'milliseconds',
    min: 1_000,
    max: 86_400_000,
    default: 300_000,
  }),
  tickMs: integer('PM_TICK_MS', {
    meaning:
      'Time between two ticks, which move the clock of a partition and are the heartbeat of its owner; 100 where there are standbys.',
    unit: 'milliseconds',
    min: 50,
    max: 10_000,
    default: 500,
  }),
  standby: boolean('PM_STANDBY', {
    meaning:
      'Whether this process takes second replicas, which are ready to own a partition at once, and lets others have one of its own; where all matchers have it on, the consumer group only places replicas.',
    default: true,
  }),
  ownerSilenceMs: integer('PM_OWNER_SILENCE_MS', {
    meaning:
      'Silence of the owner after which a replica claims its partition; at least 200 more than PM_TICK_MS, which is the heartbeat.',
    unit: 'milliseconds',
    min: 100,
    max: 10_000,
    default: 300,
  }),
  sessionTimeoutMs: integer('PM_SESSION_TIMEOUT_MS', {
    meaning:
      'Silence after which the consumer group places the partitions of this process elsewhere; 6,000 where the broker allows no session as short.',
    unit: 'milliseconds',
    min: 1_000,
    max: 10_000,
    default: 3_000,
  }),
  replicationMin: replicationMinField,
  verifyReplay: boolean('PM_VERIFY_REPLAY', {
    meaning: 'Whether a replay compares every output with the log, not only the hash at its end.',
    default: false,
  }),
  instance: text('PM_INSTANCE', {
    meaning: 'Name of this process in its consumer group, logs and status.',
    default: `${hostname()}-${process.pid}`.replace(/[^\w.-]/g, '-').slice(-64),
    defaultShown: 'host name and process id',
    pattern: instancePattern,
    allowed: '1 to 64 letters, digits, dots, dashes and underscores',
  }),
};

export type MatcherConfig = ConfigOf<typeof matcherFields>;

/** Reads the environment. Throws one `Fault` `invalid_config` (stop) that names every wrong setting. */
export function readMatcherConfig(): MatcherConfig {
  return readConfig(matcherFields, undefined, {
    known: namesOf(drainFields, registryFields, redisFields, redisCacheFields, clickhouseFields),
  });
}

/** A tick may be so late, milliseconds. */
const tickGraceMs = 200;

/** Silence of an owner that ticks as configured, milliseconds. */
export function silenceMsOf({ ownerSilenceMs, tickMs }: MatcherConfig): number {
  return Math.max(ownerSilenceMs, tickMs + tickGraceMs);
}

/** The raw opening key (`PM_OPERATOR_KEY`). */
export function operatorKeyOf({ operatorKey }: MatcherConfig): Buffer {
  return Buffer.from(operatorKey.replace(/^0x/, ''), 'hex');
}

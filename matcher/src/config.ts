import { hostname } from 'node:os';
import {
  boolean,
  type ConfigOf,
  clickhouseFields,
  integer,
  kafkaFields,
  namesOf,
  path,
  readConfig,
  redisFields,
  registryFields,
  secret,
  serviceFields,
  text,
} from '@pm/kit/config';

const instancePattern = /^[\w.-]{1,64}$/;

const fields = {
  ...kafkaFields,
  ...registryFields,
  ...serviceFields,
  /** Ed25519 seed of the OWNER key, which signs the ticks; all matchers share it. */
  ownerSeed: secret('PM_OWNER_SEED', { bytes: 32 }),
  /** Raw Ed25519 public key that alone may open a partition. */
  operatorKey: text('PM_OPERATOR_KEY', {
    pattern: /^(0x)?[0-9a-fA-F]{64}$/,
    allowed: '32 bytes as 64 hex digits',
  }),
  snapshotDirectory: path('PM_SNAPSHOT_DIR'),
  snapshotEveryRecords: integer('PM_SNAPSHOT_EVERY_RECORDS', {
    min: 100,
    max: 100_000_000,
    default: 100_000,
  }),
  snapshotEveryMs: integer('PM_SNAPSHOT_EVERY_MS', {
    min: 1_000,
    max: 86_400_000,
    default: 60_000,
  }),
  tickMs: integer('PM_TICK_MS', { min: 50, max: 10_000, default: 500 }),
  /** Silence after which the group gives our partitions to others, milliseconds. */
  sessionTimeoutMs: integer('PM_SESSION_TIMEOUT_MS', {
    min: 6_000,
    max: 10_000,
    default: 6_000,
  }),
  verifyReplay: boolean('PM_VERIFY_REPLAY', { default: false }),
  /** Name of this process among the owners. */
  instance: text('PM_INSTANCE', {
    default: `${hostname()}-${process.pid}`.replace(/[^\w.-]/g, '-').slice(-64),
    pattern: instancePattern,
    allowed: '1 to 64 letters, digits, dots, dashes and underscores',
  }),
};

export type MatcherConfig = ConfigOf<typeof fields>;

/** Reads the environment. Throws one `Fault` `invalid_config` (stop) that names everything that is wrong. */
export function readMatcherConfig(): MatcherConfig {
  return readConfig(fields, undefined, { known: namesOf(redisFields, clickhouseFields) });
}

/** The raw key behind `PM_OPERATOR_KEY`. */
export function operatorKeyOf({ operatorKey }: MatcherConfig): Buffer {
  return Buffer.from(operatorKey.replace(/^0x/, ''), 'hex');
}

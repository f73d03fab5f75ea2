import {
  clickhouseFields,
  drainFields,
  integer,
  kafkaFields,
  list,
  namesOf,
  oneOf,
  readConfig,
  redisCacheFields,
  redisFields,
  registryFields,
  rootKeyFields,
  secret,
  serviceFields,
  storeFields,
  text,
  traceFields,
} from '@pm/kit/config';

/**
 * Views of the log, in any distribution over processes. Ledger, books and tables are consumer groups of their own;
 * leaderboards are computed on a timer from the tables, and checkpoints taken on one from the log.
 */
export const views = ['ledger', 'books', 'tables', 'leaderboards', 'checkpoints'] as const;
export type ViewName = (typeof views)[number];

const isView = (name: string): name is ViewName => views.some((view) => view === name);

/** Variables of the projectors; the configuration reference is made of them. */
export const projectorsFields = {
  ...serviceFields,
  ...traceFields,
  ...kafkaFields,
  ...rootKeyFields,
  ...redisFields,
  ...clickhouseFields,
  ...storeFields,
  views: list('PM_VIEWS', {
    meaning:
      'Views that this process keeps: each of them needs one process at least; `checkpoints`, which does nothing without a store, no more than one.',
    default: views,
    max: views.length,
    pattern: new RegExp(`^(${views.join('|')})$`),
  }),
  instance: text('PM_INSTANCE', {
    meaning: 'Name of this process in its consumer groups, logs and status.',
    default: '',
    pattern: /^[\w.-]{0,64}$/,
  }),
  ledgerSeed: secret('PM_LEDGER_SEED', {
    meaning:
      'Ed25519 seed of the key that begins ledger generations; the partitions must list it as a LEDGER key.',
    bytes: 32,
  }),
  ledgerSync: oneOf('PM_LEDGER_SYNC', ['always', 'any'], {
    meaning:
      'Whether the Redis of the ledger should write to its disk before it answers (`appendfsync always`); with `always` another setting is logged and shown in `pm_redis_synced`.',
    default: 'always',
  }),
  checkpointEveryMs: integer('PM_CHECKPOINT_EVERY_MS', {
    meaning:
      'Time between two checkpoints of the ledger and of the books in the store of `PM_STORE_URL`.',
    unit: 'milliseconds',
    default: 600_000,
    min: 1_000,
    max: 86_400_000,
  }),
  bookAgeLimitMs: integer('PM_BOOK_AGE_LIMIT_MS', {
    meaning:
      'Time after which an unanswered reservation can no longer be booked; at least the limit of the partitions.',
    unit: 'milliseconds',
    default: 10_000,
    min: 100,
    max: 600_000,
  }),
  batchRecords: integer('PM_BATCH_RECORDS', {
    meaning: 'Records of a partition that go into one batch at most.',
    unit: 'records',
    default: 5_000,
    min: 1,
    max: 20_000,
  }),
  batchRows: integer('PM_BATCH_ROWS', {
    meaning: 'Rows after which a batch takes no further record.',
    unit: 'rows',
    default: 50_000,
    min: 1,
    max: 100_000,
  }),
  batchMs: integer('PM_BATCH_MS', {
    meaning:
      'Time a batch with rows is gathered at most, unless the pause after the batch before is longer.',
    unit: 'milliseconds',
    default: 500,
    min: 1,
    max: 10_000,
  }),
  pauseMaxMs: integer('PM_BATCH_PAUSE_MAX_MS', {
    meaning:
      'Longest pause after a batch of a partition. A pause is 20 times as long as the batch took to write; a full batch does not wait for it.',
    unit: 'milliseconds',
    default: 3_000,
    min: 0,
    max: 60_000,
  }),
  restMs: integer('PM_BATCH_REST_MS', {
    meaning:
      'Longest time a batch without rows is gathered: how often an idle exchange writes its completeness, all partitions of a process at the same moments.',
    unit: 'milliseconds',
    default: 2_000,
    min: 1,
    max: 60_000,
  }),
  insertRetryMs: integer('PM_INSERT_RETRY_MS', {
    meaning: 'Retry budget of one statement of a batch while ClickHouse fails.',
    unit: 'milliseconds',
    default: 30_000,
    min: 0,
    max: 600_000,
  }),
};

export type Config = ReturnType<typeof loadConfig>;

/**
 * The configuration of this process. `known`: variables of other rooms in a shared environment. A
 * `PM_BOOK_AGE_LIMIT_MS` above that of the partitions is safe (orphaned holds stay longer); a smaller one is not.
 */
export function loadConfig(
  env?: Readonly<Record<string, string | undefined>>,
  known: readonly string[] = [],
) {
  const config = readConfig(projectorsFields, env, {
    known: [...known, ...namesOf(drainFields, registryFields, redisCacheFields)],
  });
  return { ...config, views: config.views.filter(isView) };
}

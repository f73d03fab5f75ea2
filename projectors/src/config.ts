import {
  clickhouseFields,
  integer,
  kafkaFields,
  list,
  readConfig,
  redisFields,
  registryFields,
  secret,
  serviceFields,
  text,
} from '@pm/kit/config';

/**
 * What one process can do; shared out among processes as one likes. Ledger, books and tables are groups of their own and follow
 * the log; leaderboards are computed on a timer from the tables.
 */
export const views = ['ledger', 'books', 'tables', 'leaderboards'] as const;
export type ViewName = (typeof views)[number];

const isView = (name: string): name is ViewName => views.some((view) => view === name);

const fields = {
  ...serviceFields,
  ...kafkaFields,
  ...registryFields,
  ...redisFields,
  ...clickhouseFields,
  views: list('PM_VIEWS', {
    default: views,
    max: views.length,
    pattern: new RegExp(`^(${views.join('|')})$`),
  }),
  instance: text('PM_INSTANCE', { default: '', pattern: /^[\w.-]{0,64}$/ }),
  /** Seed of the key that begins ledger generations; the partitions must know it as a LEDGER key. */
  ledgerSeed: secret('PM_LEDGER_SEED', { bytes: 32 }),
  bookAgeLimitMs: integer('PM_BOOK_AGE_LIMIT_MS', { default: 10_000, min: 100, max: 600_000 }),
  batchRecords: integer('PM_BATCH_RECORDS', { default: 5_000, min: 1, max: 20_000 }),
  batchRows: integer('PM_BATCH_ROWS', { default: 50_000, min: 1, max: 100_000 }),
  batchMs: integer('PM_BATCH_MS', { default: 500, min: 1, max: 10_000 }),
  restMs: integer('PM_BATCH_REST_MS', { default: 2_000, min: 1, max: 60_000 }),
  insertRetryMs: integer('PM_INSERT_RETRY_MS', { default: 30_000, min: 0, max: 600_000 }),
};

export type Config = ReturnType<typeof loadConfig>;

/**
 * The configuration of this process. `known` are variables of other rooms in a shared environment. A larger
 * `PM_BOOK_AGE_LIMIT_MS` than the partitions have is safe (orphaned holds live longer); a smaller one is not.
 */
export function loadConfig(
  env?: Readonly<Record<string, string | undefined>>,
  known: readonly string[] = [],
) {
  const config = readConfig(fields, env, { known });
  return { ...config, views: config.views.filter(isView) };
}

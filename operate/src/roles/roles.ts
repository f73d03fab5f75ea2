import { selectRowsMax } from '@pm/kit/clickhouse';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { rebuildHold } from '@pm/schemas/tables/rebuild-hold';
import { tables } from '@pm/schemas/tables/tables';

/** Privileges on tables of one database. */
export interface Right {
  readonly privileges: readonly string[];
  /** `system`, or the tables of the exchange. */
  readonly database: 'system' | 'exchange';
  readonly tables: readonly string[];
}

/** A setting of a profile: its value, and how far a query may change it. Without bounds it may not. */
export interface ProfileSetting {
  readonly value: number | string;
  readonly min?: number;
  readonly max?: number;
}

/** Resources of a user per hour. */
export type HourlyQuota = Readonly<
  Partial<Record<'queries' | 'errors' | 'result_rows' | 'read_rows' | 'execution_time', number>>
>;

/** A role in ClickHouse: its users may do this and nothing else. */
export interface ClickHouseRole {
  readonly name: string;
  /** Its users. */
  readonly comment: string;
  readonly rights: readonly Right[];
  readonly settings: Readonly<Record<string, ProfileSetting>>;
  readonly quota: HourlyQuota | null;
}

const gibibyte = 1024 ** 3;
const million = 1_000_000;

const projected = Object.values(tables).map(({ name }) => name);
const { categories, prices, sums, wallets, tops, runs } = leaderboardTables;
/** Leaderboards are dropped by partition once a newer one is served. */
const dropped = [categories, prices, sums, wallets, tops].map(({ name }) => name);
const exchange = (privileges: readonly string[], names: readonly string[]): Right => ({
  privileges,
  database: 'exchange',
  tables: names,
});

const writer: ClickHouseRole = {
  name: 'pm_writer',
  comment: 'The projectors.',
  rights: [
    exchange(['SELECT', 'INSERT'], [...projected, ...dropped, runs.name]),
    // DROP PARTITION is a kind of deletion.
    exchange(['ALTER DELETE'], dropped),
    exchange(['OPTIMIZE'], [tables.openOrders.name]),
    // Also while the table is missing: a hold that cannot be read would have no effect.
    exchange(['SELECT'], [rebuildHold.name]),
    { privileges: ['SELECT'], database: 'system', tables: ['parts', 'tables'] },
  ],
  settings: {},
  quota: null,
};

/** Shared by reading roles: they read, and choose the settings of their queries within bounds. */
function reading(limits: {
  readonly seconds: { readonly usual: number; readonly most: number };
  readonly memoryBytes: number;
  readonly resultRows: number;
  readonly concurrent: number;
}): Readonly<Record<string, ProfileSetting>> {
  const { seconds, memoryBytes, resultRows, concurrent } = limits;
  return {
    // Not 1: clients set settings with each query. Not above it by a query: that would be refused.
    readonly: { value: 2 },
    // 0 would mean no limit, so every bound begins at 1.
    max_execution_time: { value: seconds.usual, min: 1, max: seconds.most },
    max_memory_usage: { value: memoryBytes, min: 1, max: memoryBytes },
    max_result_rows: { value: resultRows, min: 1, max: resultRows },
    max_concurrent_queries_for_user: { value: concurrent },
    // A limit that is met is an error, never a shorter answer.
    result_overflow_mode: { value: 'throw' },
    read_overflow_mode: { value: 'throw' },
    timeout_overflow_mode: { value: 'throw' },
  };
}

function scanning(rows: number, bytes: number): Readonly<Record<string, ProfileSetting>> {
  return {
    max_rows_to_read: { value: rows, min: 1, max: rows },
    max_bytes_to_read: { value: bytes, min: 1, max: bytes },
    max_threads: { value: 4, min: 1, max: 4 },
  };
}

const reader: ClickHouseRole = {
  name: 'pm_reader',
  comment: 'Reads for query-api.',
  rights: [
    exchange(['SELECT'], [...projected, ...[wallets, tops, runs].map(({ name }) => name)]),
    // To check that the tape is still the table that was summed.
    { privileges: ['SELECT'], database: 'system', tables: ['tables'] },
  ],
  settings: reading({
    seconds: { usual: 10, most: 30 },
    memoryBytes: 4 * gibibyte,
    resultRows: selectRowsMax,
    concurrent: 200,
  }),
  quota: null,
};

const auditor: ClickHouseRole = {
  name: 'pm_auditor',
  comment: '`npm run audit` and `npm run export`: whole tables, without a limit of rows.',
  rights: [exchange(['SELECT'], projected)],
  settings: { readonly: { value: 2 }, max_concurrent_queries_for_user: { value: 8 } },
  quota: null,
};

const analyst: ClickHouseRole = {
  name: 'pm_analyst',
  comment: 'People and notebooks of a data team.',
  rights: [exchange(['SELECT'], projected)],
  settings: {
    ...reading({
      seconds: { usual: 60, most: 300 },
      memoryBytes: 8 * gibibyte,
      resultRows: million,
      concurrent: 4,
    }),
    ...scanning(5_000 * million, 500 * gibibyte),
  },
  quota: {
    queries: 2_000,
    errors: 500,
    result_rows: 10 * million,
    read_rows: 100_000 * million,
    execution_time: 3_600,
  },
};

const grafana: ClickHouseRole = {
  name: 'pm_grafana',
  comment: 'The ClickHouse data source of Grafana.',
  rights: [
    exchange(['SELECT'], projected),
    // Its editor completes names.
    {
      privileges: ['SELECT'],
      database: 'system',
      tables: ['databases', 'tables', 'columns', 'functions'],
    },
  ],
  settings: {
    ...reading({
      // The client asks for its query timeout (60 s unless changed) and 5 s more.
      seconds: { usual: 30, most: 65 },
      memoryBytes: 2 * gibibyte,
      resultRows: 100_000,
      concurrent: 20,
    }),
    ...scanning(500 * million, 50 * gibibyte),
  },
  quota: {
    queries: 20_000,
    errors: 2_000,
    result_rows: 50 * million,
    read_rows: 100_000 * million,
    execution_time: 7_200,
  },
};

/** All roles; the file deploy/clickhouse/roles.sql is made of them. */
export const clickhouseRoles: readonly ClickHouseRole[] = [
  writer,
  reader,
  auditor,
  analyst,
  grafana,
];

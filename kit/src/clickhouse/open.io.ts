import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ClickHouseClient, createClient, drainStream } from '@clickhouse/client';
import { assert } from '../assert/index.ts';
import type { Log } from '../log/index.ts';
import { clientLog } from './client-log.io.ts';
import { clickhouseFault } from './faults.ts';
import type { QueryParameter } from './parameters.ts';
import { openPlainRequests } from './plain-requests.io.ts';
import { type Cell, insertStatement, rowLines } from './statements.ts';

export interface ClickHouseOptions {
  readonly url: string;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** Certificates of authorities for https, PEM; those of Node by default. */
  readonly ca?: string;
  readonly log: Log;
  /** Time limit of one statement, milliseconds; default 30 s. */
  readonly requestTimeoutMs?: number;
  /**
   * Sockets to the server for reads of rows and inserts of encoded ones, and as many for other statements; default
   * 10.
   */
  readonly maxConnections?: number;
  /**
   * Longest wait of such a statement for a socket, milliseconds; then it is refused as `clickhouse_busy`. Default 5
   * min, for tools that run all their statements at once.
   */
  readonly socketWaitMs?: number;
}

export interface InsertOptions {
  /** Deduplication token: inserts with the same token are carried out once. */
  readonly token?: string;
}

/** The client of the tables for one process. All methods throw the faults of `clickhouseFault`. */
export interface ClickHouse {
  /**
   * Inserts rows as one synchronous block. The same token for the same rows inserts once, also after an unknown
   * outcome; a token must never be used again for other rows (traps.md). No rows: nothing is sent.
   */
  insertRows(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly Cell[])[],
    options?: InsertOptions,
  ): Promise<void>;
  /**
   * Inserts encoded rows in consecutive pieces like `insertRows`: ClickHouse's format TabSeparated, symbols of enums by
   * their numbers. No bytes: nothing is sent.
   */
  insertTabSeparated(
    table: string,
    columns: readonly string[],
    rows: readonly Buffer[],
    options?: InsertOptions,
  ): Promise<void>;
  /**
   * The rows of a query without its FORMAT clause. Values are bound as `{name:Type}` only. 64-bit integers and decimals
   * come as text. More than `selectRowsMax` rows are an error, never a shorter answer.
   */
  selectRows<T>(
    sql: string,
    params?: Readonly<Record<string, QueryParameter>>,
  ): Promise<readonly T[]>;
  /**
   * Writes the response to a query that names its FORMAT to `sink`, byte for byte at any length, and ends `sink`.
   * Memory stays bounded. On failure `sink` is destroyed and its content is incomplete; errors of `sink` itself are
   * thrown unchanged.
   */
  copyTo(
    sink: Writable,
    sql: string,
    params?: Readonly<Record<string, QueryParameter>>,
  ): Promise<void>;
  /** Runs a statement without a result: DDL, EXCHANGE, INSERT SELECT. */
  command(sql: string, params?: Readonly<Record<string, QueryParameter>>): Promise<void>;
  /** Whether the server answers a query with our user. */
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

/** Rows of one answer and of one insert. */
export const selectRowsMax = 1_000_000;
const insertRowsMax = 200_000;
/** Bytes of one insert of encoded rows. */
const insertBytesMax = 256 << 20;

const defaultRequestTimeoutMs = 30_000;
const defaultMaxConnections = 10;
const defaultSocketWaitMs = 300_000;
/** Below the 3 s after which old servers close an idle connection. */
const idleSocketMs = 2_500;

/** Settings of every statement. */
const settings = {
  // Otherwise an error after the first row ends a response with status 200.
  wait_end_of_query: 1,
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  max_result_rows: String(selectRowsMax),
  result_overflow_mode: 'throw',
} as const;

/** Opens a client; the first statement connects. */
export function openClickHouse(options: ClickHouseOptions): ClickHouse {
  const { url, database, user, password, ca } = options;
  const timeoutMs = options.requestTimeoutMs ?? defaultRequestTimeoutMs;
  const maxSockets = options.maxConnections ?? defaultMaxConnections;
  const plain = openPlainRequests({
    url,
    database,
    user,
    password,
    timeoutMs,
    maxSockets,
    settings,
    ...(ca === undefined ? {} : { ca }),
    socketWaitMs: options.socketWaitMs ?? defaultSocketWaitMs,
    idleMs: idleSocketMs,
  });
  const client = createClient({
    url,
    database,
    username: user,
    password,
    request_timeout: timeoutMs,
    max_open_connections: maxSockets,
    ...(ca === undefined ? {} : { tls: { ca_cert: Buffer.from(ca) } }),
    keep_alive: {
      enabled: true,
      idle_socket_ttl: idleSocketMs,
      eagerly_destroy_stale_sockets: true,
    },
    log: clientLog(options.log),
    clickhouse_settings: settings,
  });
  return {
    async insertRows(table, columns, rows, { token }: InsertOptions = {}) {
      if (rows.length === 0) return;
      assert(rows.length <= insertRowsMax, `an insert has at most ${insertRowsMax} rows`);
      const format = 'JSONCompactEachRow';
      const statement = insertStatement(table, columns, { token: token ?? null, format });
      await insert(client, statement, rowLines(rows, columns.length));
    },
    async insertTabSeparated(table, columns, rows, { token }: InsertOptions = {}) {
      const bytes = rows.reduce((sum, { length }) => sum + length, 0);
      if (bytes === 0) return;
      assert(bytes <= insertBytesMax, `an insert has at most ${insertBytesMax} bytes`);
      const format = 'TabSeparated';
      const statement = insertStatement(table, columns, { token: token ?? null, format });
      await faultily(() => plain.insert(statement, rows));
    },
    selectRows: (sql, params = {}) => faultily(() => plain.select(sql, params)),
    copyTo: (sink, sql, params = {}) => copy(client, sink, { query: sql, query_params: params }),
    async command(sql, params = {}) {
      await faultily(() => client.command({ query: sql, query_params: { ...params } }));
    },
    ping: async () => (await client.ping({ select: true })).success,
    async close() {
      plain.close();
      await client.close();
    },
  };
}

async function insert(client: ClickHouseClient, query: string, rows: string): Promise<void> {
  await faultily(async () => {
    const values = Readable.from([rows], { objectMode: false });
    const { stream } = await client.exec({ query, values });
    await drainStream(stream);
  });
}

async function copy(
  client: ClickHouseClient,
  sink: Writable,
  asked: { query: string; query_params: Readonly<Record<string, QueryParameter>> },
): Promise<void> {
  try {
    const { query, query_params } = asked;
    // The limit of rows protects results that are kept in memory.
    const settings = { max_result_rows: '0' };
    const { stream } = await client.exec({
      query,
      query_params: { ...query_params },
      clickhouse_settings: settings,
    });
    await pipeline(stream, sink);
  } catch (error) {
    const isOfSink = sink.errored === error;
    sink.destroy();
    throw isOfSink ? error : clickhouseFault(error);
  }
}

async function faultily<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw clickhouseFault(error);
  }
}

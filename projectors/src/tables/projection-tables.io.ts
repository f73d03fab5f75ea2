import type { FoldedPlace } from '@pm/domain/executions/execution-order';
import type { Position } from '@pm/domain/positions/position';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import { parsePrice } from '@pm/schemas/decimal';
import { parseWalletAddress } from '@pm/schemas/ids';
import { columnNames } from '@pm/schemas/tables/create-table';
import { rebuildHold } from '@pm/schemas/tables/rebuild-hold';
import { tables } from '@pm/schemas/tables/tables';
import type { Candle } from '../views/prices/candles.ts';
import { JoinedCalls } from './joined-calls.io.ts';
import type { TableRows } from './row-writer.ts';

/** The state of the tables to check before a batch is written. */
export interface TablesGuard {
  /**
   * Names these tables: tables that replace them (`npm run rebuild`), or that are created after a loss, have another
   * identity.
   */
  readonly identity: string;
  /** While true no batch may begin. */
  readonly isHeld: boolean;
  /**
   * Names the time since the server started, where it may keep the token of an insert whose rows it has lost: one that
   * is killed in an insert has written the token before the rows. Empty where the two are written together.
   */
  readonly serverLife: string;
}

/**
 * The tables as the projection uses them. Tables that are missing, or whose columns are not those of this code, are
 * `tables_differ` (release): they will be created or rebuilt, and until then nothing can be written.
 */
export interface ProjectionTables {
  guard(): Promise<TablesGuard>;
  /** Inserts once for each token, however often it is repeated to a server that lives on. */
  insert(rows: TableRows, token: string): Promise<void>;
  /** Offset of `executions` up to which the tables are complete; 0 when they have no record of it. */
  completeTo(partition: number): Promise<number>;
  /** How far the tables of a partition are complete, with its clock there; offset 0 when they have no record of it. */
  place(partition: number): Promise<FoldedPlace>;
  /** All stored positions of a partition. */
  positions(partition: number): AsyncIterable<Position>;
  /** Rows of the minutes from..to (Unix milliseconds, both included), of all partitions. */
  candles(fromMs: number, toMs: number): Promise<readonly Candle[]>;
}

/** Partitions that are restored together ask within so long of each other, milliseconds. */
const gatherMs = 50;

/** Rows of one query; a partition may have millions of positions. */
const pageRows = 50_000;

/**
 * The tables in the database of this client. What several partitions read at the same time is one query: a process that
 * replaces another one restores all of its partitions at once, and each query costs the server as much as for one.
 */
export function openProjectionTables(clickhouse: ClickHouse): ProjectionTables {
  const joined = <Part, Answer>(
    read: (from: ClickHouse, parts: readonly Part[]) => Promise<Answer>,
  ) => new JoinedCalls((parts: readonly Part[]) => read(clickhouse, parts), { gatherMs });
  const places = joined(readPlaces);
  const placeOf = async (partition: number) =>
    (await places.call(partition)).get(partition) ?? { offset: 0, timeMs: 0 };
  const positions = joined(readPositions);
  const candles = joined(readCandles);
  return {
    guard: () => ofOurTables(() => readGuard(clickhouse)),
    insert: ({ table, pieces }, token) =>
      ofOurTables(() =>
        clickhouse.insertTabSeparated(table.name, columnNames(table), pieces, { token }),
      ),
    completeTo: async (partition) => (await placeOf(partition)).offset,
    place: placeOf,
    async *positions(partition) {
      const { rows, fault } = (await positions.call(partition)).get(partition) ?? noPositions();
      if (fault !== null) throw fault;
      yield* rows;
    },
    async candles(fromMs, toMs) {
      const all = await candles.call({ fromMs, toMs });
      return all.filter(({ bucketMs }) => bucketMs >= fromMs && bucketMs <= toMs);
    },
  };
}

/** Minutes, Unix milliseconds, both included. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const noId = '00000000-0000-0000-0000-000000000000';

/**
 * Names the time since the start of the server. Its tables in `system`, or its database INFORMATION_SCHEMA where it
 * keeps `system` in memory, get a random id at each start (ClickHouse, src/Storages/System/attachSystemTablesImpl.h).
 * Where neither has one, the second of the start, which may come out one more or less from query to query.
 */
const lifeSql = `coalesce(
  nullIf((SELECT toString(any(uuid)) FROM system.tables WHERE database = 'system' AND name = 'one'), '${noId}'),
  nullIf((SELECT toString(any(uuid)) FROM system.databases WHERE name = 'INFORMATION_SCHEMA'), '${noId}'),
  toString(toUnixTimestamp(now()) - uptime()))`;

/** One query for the identity, the server and whether there is a hold; the end of that takes a second one. */
const guardSql = `
SELECT name, toString(uuid) AS id, ${lifeSql} AS life,
  startsWith(engine, 'Replicated') OR startsWith(engine, 'Shared') AS isAtomic
FROM system.tables
WHERE database = currentDatabase() AND name IN ('${tables.completeness.name}', '${rebuildHold.name}')`;

interface GuardRow {
  readonly name: string;
  readonly id: string;
  readonly life: string;
  readonly isAtomic: number;
}

const holdSql = `SELECT max(until) > now64(3) AS held FROM ${rebuildHold.name}`;

async function readGuard(clickhouse: ClickHouse): Promise<TablesGuard> {
  const rows = await clickhouse.selectRows<GuardRow>(guardSql);
  const found = rows.find(({ name }) => name === tables.completeness.name);
  if (found === undefined) throw new Fault('tables_differ', 'release');
  const hasHold = rows.some(({ name }) => name === rebuildHold.name);
  return {
    identity: found.id,
    isHeld: hasHold && (await readHold(clickhouse)),
    serverLife: found.isAtomic === 1 ? '' : found.life,
  };
}

/** A hold that is lifted in between counts as none. */
async function readHold(clickhouse: ClickHouse): Promise<boolean> {
  try {
    const rows = await clickhouse.selectRows<{ held: number }>(holdSql);
    return rows[0]?.held === 1;
  } catch (error) {
    if (error instanceof Fault && error.facts['number'] === unknown.table) return false;
    throw error;
  }
}

/** ClickHouse, src/Common/ErrorCodes.cpp. */
const unknown = { column: 16, identifier: 47, table: 60, database: 81 };

async function ofOurTables<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const number = error instanceof Fault ? error.facts['number'] : undefined;
    if (!Object.values(unknown).some((one) => one === number)) throw error;
    const facts = { number: Number(number) };
    throw new Fault('tables_differ', 'release', { facts, cause: error });
  }
}

const placesSql = `
SELECT partition, toString(through_offset) AS to, toString(toUnixTimestamp64Milli(through)) AS timeMs
FROM ${tables.completeness.name} FINAL
WHERE projection = 'tables' AND partition IN {partitions:Array(UInt16)}`;

async function readPlaces(
  clickhouse: ClickHouse,
  partitions: readonly number[],
): Promise<ReadonlyMap<number, FoldedPlace>> {
  const rows = await ofOurTables(() =>
    clickhouse.selectRows<Texts<'to' | 'timeMs'> & { readonly partition: number }>(placesSql, {
      partitions,
    }),
  );
  return new Map(
    rows.map(({ partition, to, timeMs }) => [
      partition,
      { offset: Number(to), timeMs: Number(timeMs) },
    ]),
  );
}

type Texts<Names extends string> = Readonly<Record<Names, string>>;

type PositionRow = Texts<
  | 'wallet'
  | 'size'
  | 'cost'
  | 'bought'
  | 'sharesBought'
  | 'realized'
  | 'traded'
  | 'updatedMs'
  | 'ver'
> & { readonly partition: number; readonly market: number; readonly outcome: number };

const positionsSql = `
SELECT partition, wallet, market, outcome, toString(size) AS size, toString(cost) AS cost,
  toString(total_bought) AS bought, toString(shares_bought) AS sharesBought,
  toString(realized_pnl) AS realized, toString(volume) AS traded,
  toString(toUnixTimestamp64Milli(updated)) AS updatedMs, toString(version) AS ver
FROM ${tables.positions.name} FINAL
WHERE partition IN {partitions:Array(UInt16)}
  AND (wallet, market, outcome) > ({wallet:String}, {market:UInt32}, {outcome:UInt8})
ORDER BY wallet, market, outcome
LIMIT {page:UInt32}`;

/** The positions of a partition; a row that cannot be read is a fault of its partition alone. */
interface PartitionPositions {
  readonly rows: Position[];
  fault: unknown;
}

const noPositions = (): PartitionPositions => ({ rows: [], fault: null });

/** Stored positions of each of these partitions. A market belongs to one partition, so no position belongs to two. */
async function readPositions(
  clickhouse: ClickHouse,
  partitions: readonly number[],
): Promise<ReadonlyMap<number, PartitionPositions>> {
  const found = new Map(partitions.map((partition) => [partition, noPositions()]));
  let after = { wallet: '', market: 0, outcome: 0 };
  for (;;) {
    const params = { partitions, page: pageRows, ...after };
    const rows = await ofOurTables(() => clickhouse.selectRows<PositionRow>(positionsSql, params));
    for (const row of rows) addPosition(row, found.get(row.partition) ?? noPositions());
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return found;
    after = { wallet: last.wallet, market: last.market, outcome: last.outcome };
  }
}

function addPosition(row: PositionRow, to: PartitionPositions): void {
  try {
    to.rows.push(positionOf(row));
  } catch (error) {
    to.fault ??= error;
  }
}

function positionOf(row: PositionRow): Position {
  const wallet = parseWalletAddress(row.wallet);
  if (wallet === null) throw unreadable('wallet');
  return {
    wallet,
    market: row.market,
    outcome: row.outcome,
    sizeMicro: microOf(row.size),
    costMicro: microOf(row.cost),
    totalBoughtMicro: microOf(row.bought),
    sharesBoughtMicro: microOf(row.sharesBought),
    realizedMicro: microOf(row.realized),
    volumeMicro: microOf(row.traded),
    updatedMs: Number(row.updatedMs),
    version: Number(row.ver),
  };
}

type CandleRow = Texts<
  'openText' | 'highText' | 'lowText' | 'closeText' | 'traded' | 'value' | 'ver' | 'seconds'
> & { readonly market: number; readonly outcome: number; readonly trades: number };

const candlesSql = `
SELECT market, outcome, toString(toUnixTimestamp(bucket)) AS seconds, toString(open) AS openText,
  toString(high) AS highText, toString(low) AS lowText, toString(close) AS closeText,
  toString(volume) AS traded, toString(notional) AS value, trades, toString(version) AS ver
FROM ${tables.candles.name} FINAL
WHERE bucket >= toDateTime({from:UInt32}, 'UTC') AND bucket <= toDateTime({to:UInt32}, 'UTC')`;

async function readCandles(
  clickhouse: ClickHouse,
  spans: readonly Span[],
): Promise<readonly Candle[]> {
  const from = Math.min(...spans.map(({ fromMs }) => fromMs)) / 1_000;
  const to = Math.max(...spans.map(({ toMs }) => toMs)) / 1_000;
  const rows = await ofOurTables(() => clickhouse.selectRows<CandleRow>(candlesSql, { from, to }));
  return rows.map(candleOf);
}

function candleOf(row: CandleRow): Candle {
  return {
    market: row.market,
    outcome: row.outcome,
    bucketMs: Number(row.seconds) * 1_000,
    open: priceOf(row.openText),
    high: priceOf(row.highText),
    low: priceOf(row.lowText),
    close: priceOf(row.closeText),
    volumeMicro: microOf(row.traded),
    notionalMicro: microOf(row.value),
    trades: row.trades,
    version: Number(row.ver),
  };
}

const decimal6 = /^(-?)(\d{1,12})(?:\.(\d{1,6}))?$/;

/** Decimal(18, 6) as text in millionths; may be negative. */
function microOf(text: string): number {
  const match = decimal6.exec(text);
  if (match === null) throw unreadable('amount');
  const micro = Number(`${match[2]}${(match[3] ?? '').padEnd(6, '0')}`);
  if (!Number.isSafeInteger(micro)) throw unreadable('amount');
  return match[1] === '-' ? -micro : micro;
}

function priceOf(text: string): number {
  const price = parsePrice(text);
  if (price === null) throw unreadable('price');
  return price;
}

function unreadable(what: string): Fault {
  return new Fault('stored_row_unreadable', 'stop', { facts: { what } });
}

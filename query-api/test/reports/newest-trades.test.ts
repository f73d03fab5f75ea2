import { newestPlaceFirst } from '@pm/domain/reading/merge-page';
import type { TradeRow } from '@pm/domain/reports/rows';
import type { TapeSearch } from '@pm/domain/reports/tape-query';
import type { ClickHouse, QueryParameter } from '@pm/kit/clickhouse';
import { microText } from '@pm/schemas/decimal';
import { walletFromBytes } from '@pm/schemas/ids';
import { runLength } from '../../../kit/test/long-runs.ts';
import { bytesOf, seeded } from '../../../kit/test/seeded.ts';
import { noCutover, RecentLog } from '../../src/recent/recent-log.ts';
import { rowsOfRecord } from '../../src/recent/record-rows.ts';
import { KeptPages } from '../../src/reports/kept-pages.ts';
import { isSideRequested, type SideRow, sidesOf } from '../../src/reports/newest-trades.ts';
import { Reports } from '../../src/reports/reports.io.ts';
import { clockOf } from '../read-clock.ts';
import { TinyLog } from '../recent/log.ts';
import { PacedLogs, pacedPartitions } from '../recent/paced-logs.ts';

const firstS = 1_780_000_000;
const rounds = runLength({ test: 300, deep: 1_500 });

type Params = Readonly<Record<string, QueryParameter>>;

/** Trades of the public tape in memory and tables. */
class TapeWorld {
  readonly #logs = new PacedLogs(31, { rowsMax: 400, keepMs: 60 });
  readonly #sides = this.#logs.logs.map((log, partition) =>
    log.map((execution) => rowsOfRecord(partition, execution).fills.flatMap(sidesOf)),
  );
  readonly recent = this.#logs.recent;

  step(random: (below: number) => number, tables?: 'behind'): void {
    this.#logs.step(random, tables);
  }

  /** All trades that memory or the tables have. */
  known(): readonly SideRow[] {
    const { cutover } = this.recent.newestFills({ most: 1 }, () => []);
    return pacedPartitions.flatMap((one) => {
      const end = this.#logs.knownEnd(one, cutover[one] ?? noCutover);
      return this.#sides[one]?.slice(0, end).flat() ?? [];
    });
  }

  statements = 0;

  /** The tables, for the statement of the tape. */
  readonly clickhouse = {
    selectRows: async (sql: string, params: Params) => this.#select(sql, params),
  } as unknown as Pick<ClickHouse, 'selectRows'>;

  #select(sql: string, params: Params): readonly object[] {
    this.statements += 1;
    const cutover = (params['cutover'] ?? []) as readonly number[];
    const rows = pacedPartitions
      .flatMap((one) => this.#sides[one]?.slice(0, this.#logs.stored[one]).flat() ?? [])
      .filter((row) => Number(row.inOffset) < (cutover[row.partition] ?? noCutover))
      .filter((row) => row.timeMs >= Number(params['since']) * 1000)
      .filter((row) => isSideRequested(row, searchOf(sql, params)))
      .sort(newestPlaceFirst);
    const from = Number(params['offset']);
    return rows.slice(from, from + Number(params['limit'])).map((row) => ({
      partition: row.partition,
      in_offset: row.inOffset,
      event_index: row.eventIndex,
      time_ms: String(row.timeMs),
      trader: row.wallet,
      market: row.market,
      token: row.outcome,
      taken: row.side,
      paid: String(row.price / 10_000),
      size: microText(row.sizeMicro),
    }));
  }
}

/** Search that a statement asks for. Trades of markets alone are read from a table that has takers only. */
function searchOf(sql: string, params: Params): TapeSearch {
  const takerOnly = sql.includes("role = 'TAKER'") || sql.includes('taker_outcome');
  return {
    ...everything,
    user: (params['user'] as TapeSearch['user'] | undefined) ?? null,
    markets: (params['markets'] as readonly number[] | undefined) ?? null,
    side: (params['side'] as TapeSearch['side'] | undefined) ?? null,
    takerOnly,
  };
}

const everything: TapeSearch = {
  user: null,
  side: null,
  takerOnly: false,
  least: null,
  startS: null,
  endS: null,
  markets: null,
  limit: 10,
  offset: 0,
};

function randomSearch(random: (below: number) => number): TapeSearch {
  return {
    ...everything,
    user: random(3) === 0 ? walletFromBytes(bytesOf(20, 1 + random(4))) : null,
    side: [null, 'BUY', 'SELL'][random(3)] as TapeSearch['side'],
    takerOnly: random(2) === 0,
    markets: random(3) === 0 ? [random(3)] : null,
    limit: 1 + random(20),
    offset: random(30),
  };
}

/** Differences between what the tape shows of a search and what memory and the tables have. */
async function compare(world: TapeWorld, reports: Reports, search: TapeSearch) {
  const due = world
    .known()
    .filter((row) => isSideRequested(row, search))
    .sort(newestPlaceFirst)
    .slice(search.offset, search.offset + search.limit);
  const rows = await reports.tape(search);
  const withoutRole = (row: TradeRow) => ({ ...row, isTaker: undefined });
  expect(rows.map(withoutRole)).toEqual(due.map(withoutRole));
  return rows.length;
}

test('the public tape has each trade that memory or the tables have, once, in order', async () => {
  const random = seeded(7);
  const world = new TapeWorld();
  const reports = new Reports(
    world.clickhouse,
    clockOf(() => (firstS + 60) * 1000),
    world.recent,
  );
  let shown = 0;
  for (let round = 0; round < rounds; round += 1) {
    world.step(random);
    shown += await compare(world, reports, randomSearch(random));
  }
  expect(shown).toBeGreaterThan((rounds * 2) / 3);
});

test('a page that is requested again has the newest trades, often without a statement', async () => {
  const random = seeded(8);
  const world = new TapeWorld();
  const searches = [1, 2, 3, 4].map(() => randomSearch(random));
  let nowMs = (firstS + 60) * 1000;
  const reports = new Reports(
    world.clickhouse,
    clockOf(() => nowMs),
    world.recent,
  );
  const periodRounds = Math.ceil(rounds / 4);
  // So that the pages have rows from the first round on.
  for (let steps = 0; steps < 150; steps += 1) world.step(random, 'behind');
  let [shown, withoutStatement] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    // Now and then the tables are ahead, and must be asked.
    world.step(random, round % periodRounds < periodRounds * 0.95 ? 'behind' : undefined);
    nowMs += random(100);
    const before = world.statements;
    shown += await compare(world, reports, searches[random(4)] as TapeSearch);
    if (world.statements === before) withoutStatement += 1;
  }
  expect(shown).toBeGreaterThan((rounds * 2) / 3);
  expect(withoutStatement).toBeGreaterThan(rounds / 3);
  expect(withoutStatement).toBeLessThan(rounds * 0.993);
});

test('pages of the same markets share a name, however a request named them', () => {
  const pages = new KeptPages(new RecentLog(), () => 0);
  const markets = [1, 2, 3];
  const conditions = Array.from({ length: 20 }, (_, at) => `0x${String(at).padStart(64, '0')}`);
  const requested = { ...everything, markets, conditions, eventIds: null };
  expect(pages.nameOf(requested)).toBe(pages.nameOf({ ...everything, markets }));
  expect(pages.nameOf(requested)).not.toBe(pages.nameOf({ ...everything, markets: [1, 2] }));
  expect(pages.nameOf({ ...requested, offset: 1_000 })).toBeNull();
});

test('a trade that was just read is on the first page before any table has it', async () => {
  const recent = new RecentLog();
  recent.restart(new Map([[0, 0]]));
  recent.stored(0, 0, 0);
  const log = new TinyLog(5).records(50);
  for (const [offset, execution] of log.entries()) recent.take(0, execution, offset);
  const clickhouse = { selectRows: async () => [] };
  const reports = new Reports(
    clickhouse as never,
    clockOf(() => (firstS + 60) * 1000),
    recent,
  );
  const fills = log.flatMap((execution) => rowsOfRecord(0, execution).fills);
  const rows = await reports.tape({ ...everything, takerOnly: true, limit: 1 });
  expect(rows).toMatchObject([{ wallet: fills.at(-1)?.taker, sizeMicro: fills.at(-1)?.sizeMicro }]);
});

test.each([
  ['takers', { takerOnly: true }, false],
  ['a wallet', { user: walletFromBytes(bytesOf(20, 9)) }, false],
  ['a market', { markets: [2] }, false],
  ['a side', { side: 'SELL' }, false],
  ['a start', { startS: 101 }, false],
  ['an end', { endS: 99 }, false],
  ['a size', { least: { of: 'TOKENS', micro: 2_000_001 } }, false],
  ['a value', { least: { of: 'CASH', micro: 1_000_001 } }, false],
  ['its very size', { least: { of: 'TOKENS', micro: 2_000_000 } }, true],
  ['its very value', { least: { of: 'CASH', micro: 1_000_000 } }, true],
  ['its very second', { startS: 100, endS: 100 }, true],
] as const)('a search for %s is applied to the newest trades', (_, search, isFound) => {
  const side: SideRow = {
    partition: 0,
    inOffset: '5',
    eventIndex: 0,
    timeMs: 100_500,
    wallet: walletFromBytes(bytesOf(20, 1)),
    market: 1,
    outcome: 0,
    side: 'BUY',
    price: 5_000,
    sizeMicro: 2_000_000,
    isTaker: false,
  };
  expect(isSideRequested(side, { ...everything, ...search })).toBe(isFound);
});

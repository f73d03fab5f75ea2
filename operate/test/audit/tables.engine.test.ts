import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Execution } from '@pm/schemas/log/executions';
import {
  type Column,
  columnNames,
  isNullable,
  type Table,
  valueType,
} from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { completenessRows, foldedTo } from '../../../projectors/src/tables/completeness.ts';
import { TableViews } from '../../../projectors/src/views/table-views.ts';
import { appendedMs, marketSet, ofPartition, TinyExchange } from '../../../projectors/test/log.ts';
import { RealTables } from '../../../projectors/test/tables/real-tables.ts';
import { TradingLog } from '../../../projectors/test/trading-log.ts';
import { ChangedSubjects } from '../../src/audit/changed-subjects.ts';
import { compareLedgerQuery } from '../../src/audit/ledger-sample.ts';
import { LogAudit } from '../../src/audit/log-audit.ts';
import { LogExpectation } from '../../src/audit/log-expectation.ts';
import { compareBuckets, compareFacts, compareMonths } from '../../src/audit/row-tables.ts';
import {
  checkPrices,
  compareHeld,
  compareOpenOrders,
  compareSupply,
} from '../../src/audit/state-tables.ts';

/** The audit of rows that projectors write for two generated logs, whole and damaged. */
const real = new RealTables(`audited_tables_${process.pid}`);
const records = 220;
/** Orders from placement to their end; and moves, mints, merges and resolutions. */
const logs: readonly (readonly Execution[])[] = [
  withMarkets(new TradingLog(3).records(records)),
  new TinyExchange(4).records(records).map((one) => elsewhere(one, 1)),
];
let clickhouse: ClickHouse;
/** The expectation of both whole logs, for checks that leave it as it is. */
let known: LogExpectation;

function withMarkets([first, ...rest]: readonly Execution[]): readonly Execution[] {
  if (first === undefined) return [];
  return [{ ...first, events: [marketSet(1), marketSet(2), ...first.events] }, ...rest];
}

function elsewhere(execution: Execution, partition: number): Execution {
  return { ...execution, events: execution.events.map((one) => ofPartition(one, partition)) };
}

beforeAll(async () => {
  clickhouse = await real.fresh();
  for (const [partition, log] of logs.entries()) await project(partition, log);
  known = saysUpTo(records);
}, 120_000);

afterAll(() => real.close(), 30_000);

/** In batches, each of them twice. */
async function project(partition: number, log: readonly Execution[]): Promise<void> {
  const views = new TableViews(partition, { positions: [], candles: [] });
  for (const [index, execution] of log.entries()) {
    views.fold(execution, appendedMs(execution));
    if (index % 60 !== 59 && index < log.length - 1) continue;
    const rows = [...views.take(), completenessRows(partition, index + 1, foldedTo(execution))];
    for (const { table, pieces } of [...rows, ...rows])
      await clickhouse.insertTabSeparated(table.name, columnNames(table), pieces);
  }
}

/** Expectation up to a record of each partition. */
function saysUpTo(end: number): LogExpectation {
  const says = new LogExpectation(new LogAudit(`0x${'fe'.repeat(20)}`, { keepsEnded: false }));
  for (const [partition, log] of logs.entries())
    for (const execution of log.slice(0, end)) {
      says.audit.record(execution, { partition, chainHolds: true });
      says.record(partition, { execution, appendedAtMs: appendedMs(execution) });
    }
  return says;
}

type Reader = Pick<ClickHouse, 'selectRows'>;

interface Judged {
  readonly says: LogExpectation;
  readonly moved: ChangedSubjects;
}

type Found = readonly (readonly [string, readonly string[]])[];

/** The checks of the audit by what they judge; state that changed after the end of the log is left out. */
const checks = {
  async facts(reader: Reader, { says }: Judged): Promise<Found> {
    return (await compareFacts(reader, says)).map(({ table, wrong }) => [table, wrong]);
  },
  /** Ends the buckets of what the log says. */
  async buckets(reader: Reader, { says }: Judged): Promise<Found> {
    return (await compareBuckets(reader, says)).map(({ table, wrong }) => [table, wrong]);
  },
  async state(reader: Reader, { says: { audit }, moved }: Judged): Promise<Found> {
    const { positions } = audit.totals;
    const state = [
      ['positions', await compareHeld(reader, 'positions', audit)],
      ['holders', await compareHeld(reader, 'holders', audit)],
      ['supply', await compareSupply(reader, audit)],
      ['ledger query', await compareLedgerQuery(reader, positions, 7)],
      ['open_orders', await compareOpenOrders(reader, audit)],
    ] as const;
    return state.map(([what, mismatches]) => [what, moved.sort(mismatches).wrong]);
  },
  async others(reader: Reader): Promise<Found> {
    return [
      ['months', await compareMonths(reader)],
      ['prices', await checkPrices(reader)],
    ];
  },
};

/** All problems, by check. */
async function judge(
  reader: Reader,
  { says = saysUpTo(records), moved = new ChangedSubjects() } = {},
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found: Found[] = [];
  for (const check of Object.values(checks)) found.push(await check(reader, { says, moved }));
  return new Map(found.flat().filter(([, wrong]) => wrong.length > 0));
}

function checkOf(table: Table) {
  if (known.facts.all.some((sums) => sums.table === table)) return checks.facts;
  if (known.buckets.all.some(({ sums }) => sums.table === table)) return checks.buckets;
  return checks.state;
}

/** The problems that the check of a table names when it has other rows. */
async function judgeDamaged(
  table: Table,
  rows: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const check = checkOf(table);
  const says = check === checks.buckets ? saysUpTo(records) : known;
  const found = await check(damaged(table, rows), { says, moved: new ChangedSubjects() });
  return new Map(found.filter(([, wrong]) => wrong.length > 0));
}

/** Results of statements that no damage affects, by text and parameters: each is run once. */
const answers = new Map<string, Promise<readonly unknown[]>>();

/** Reads a table as if it had other rows. */
function damaged({ name: table }: Table, rows: string): Reader {
  const named = new RegExp(`\\bFROM ${table}( AS t)?( FINAL)?(?=[ )\\n])`, 'g');
  return {
    selectRows<T>(sql: string, params: Parameters<Reader['selectRows']>[1] = {}) {
      const changed = sql.replace(named, (_, alias = '') => `FROM (${rows})${alias}`);
      const key = `${changed} ${JSON.stringify(params)}`;
      const known = changed === sql ? answers.get(key) : undefined;
      const answer = known ?? clickhouse.selectRows<unknown>(changed, params);
      if (changed === sql) answers.set(key, answer);
      return answer as Promise<readonly T[]>;
    },
  };
}

/** One row of a table, the same in every statement. */
const one = ({ name: table }: Table, where = '1') =>
  `cityHash64(tuple(*)) = (SELECT min(cityHash64(tuple(*))) FROM ${table} FINAL WHERE ${where})`;

/** Another value of the same type; of NULL the one that stands for nothing where a column has no NULL. */
function otherOf(column: Column): string {
  const type = valueType(column);
  if (!isNullable(column)) return otherValueOf(column.name, type);
  const other = otherValueOf(`assumeNotNull(${column.name})`, type);
  const blank = `defaultValueOfTypeName('${type.replaceAll("'", "\\'")}')`;
  return `if(${column.name} IS NULL, ${blank}, ${other})`;
}

function otherValueOf(cell: string, type: string): string {
  if (type.startsWith('Enum'))
    return `CAST(if(toInt8(${cell}) = 0, 1, 0), '${type.replaceAll("'", "\\'")}')`;
  if (type === 'FixedString(36)') return `toFixedString(reverse(toString(${cell})), 36)`;
  const length = /^FixedString\((\d+)\)$/.exec(type)?.[1];
  if (length !== undefined)
    return `toFixedString(concat('0x', if(substring(${cell}, 3, 1) = '1', '2', '1'), substring(${cell}, 4)), ${length})`;
  if (type.endsWith('String)')) return `concat(${cell}, 'X')`;
  if (type.startsWith('DateTime64')) return `addMilliseconds(${cell}, 1)`;
  if (type.startsWith('DateTime')) return `addMinutes(${cell}, 1)`;
  if (type.startsWith('Decimal')) return `CAST(${cell} + 0.0001, '${type}')`;
  return `CAST(${cell} + 1, '${type}')`;
}

/** Whether the check of a table names the column when one of its values is another. */
function isNamed(table: Table, { name }: Column): boolean {
  if (table === tables.openOrders || name === 'ended') return false;
  return !table.orderBy.includes(name) && name !== 'partition' && name !== 'version';
}

/** The rows of a table, one of them with another value in each of these columns. */
function rowsWithOther(table: Table, columns: readonly Column[]): string {
  const where = table === tables.bookClosings ? "span = 'hour'" : '1';
  const others = columns.map(
    (column) => `if(is_one, ${otherOf(column)}, ${column.name}) AS ${column.name}`,
  );
  return `SELECT * REPLACE (${others.join(', ')}) EXCEPT (is_one)
    FROM (SELECT *, ${one(table, where)} AS is_one FROM ${table.name} FINAL)`;
}

/** `completeness` is judged by the log alone. */
const judged = Object.values(tables).filter((table) => table !== tables.completeness);

test('finds nothing wrong with the rows of projectors, and reads rows of every table', async () => {
  expect(Object.fromEntries(await judge(clickhouse))).toEqual({});
  const says = saysUpTo(records);
  const verdicts = [
    ...(await compareFacts(clickhouse, says)),
    ...(await compareBuckets(clickhouse, says)),
  ];
  expect(verdicts.filter(({ rows }) => rows === 0)).toEqual([]);
  const names = [...verdicts.map(({ table }) => table), 'positions', 'holders', 'open_orders'];
  expect(names.sort()).toEqual(judged.map((table) => table.name).sort());
  expect(says.audit.orders.size).toBeGreaterThan(3);
}, 60_000);

describe.each(judged.map((table) => [table.name, table] as const))(
  'names %s when',
  (what, table) => {
    test('a row is missing, or is there twice', async () => {
      const whole = `SELECT * FROM ${table.name} FINAL`;
      const without = await judgeDamaged(table, `${whole} WHERE NOT (${one(table)})`);
      expect([...without.keys()]).toContain(what);
      if (['positions', 'holders', 'open_orders'].includes(table.name)) return;
      const doubled = `${whole} UNION ALL SELECT * FROM ${table.name} FINAL WHERE ${one(table)}`;
      expect([...(await judgeDamaged(table, doubled)).keys()]).toContain(what);
    });

    let together: ReturnType<typeof judgeDamaged> | undefined;
    /**
     * Values that are no key are compared each for itself, and the check names every one that differs: it is asked
     * once, about a row in which all of them are others.
     */
    const judgeTogether = () => {
      const values = table.columns.filter((column) => isNamed(table, column));
      together ??= judgeDamaged(table, rowsWithOther(table, values));
      return together;
    };

    test.each(
      table.columns
        .filter((column) => column.name !== 'ended')
        .map((column) => [column.name, column] as const),
    )('%s of one row is another', async (cell, column) => {
      if (!isNamed(table, column)) {
        const found = await judgeDamaged(table, rowsWithOther(table, [column]));
        expect([...found.keys()]).toContain(what);
        return;
      }
      const found = await judgeTogether();
      expect(found.get(what)?.[0]).toMatch(new RegExp(`\\b${cell}\\b`));
    });
  },
);

test('names months that are not the last of their hours', async () => {
  const { bookClosings: table } = tables;
  const replaced = `if(${one(table, "span = 'month'")}, size + 1, size) AS size`;
  const rows = `SELECT * REPLACE (${replaced}) FROM ${table.name} FINAL`;
  expect([...(await judge(damaged(table, rows))).keys()]).toEqual(['months']);
});

test('names prices outside of 0 to 1, and tokens without collateral', async () => {
  const dear = 'SELECT * REPLACE (toDecimal32(1.2, 4) AS price) FROM tape FINAL';
  expect((await judge(damaged(tables.tape, dear))).get('prices')?.[0]).toContain('tape');
  const more = `SELECT * REPLACE (if(market = 1 AND outcome = 1, size + 1, size) AS size) FROM positions FINAL`;
  expect((await judge(damaged(tables.positions, more))).get('supply')?.[0]).toContain('market 1');
});

test('leaves out rows after the end of the log that was read, and judges all others', async () => {
  for (const end of [1, 60, 150, 219]) {
    const says = saysUpTo(end);
    const moved = new ChangedSubjects();
    for (const log of logs) for (const execution of log.slice(end)) moved.record(execution);
    expect([end, Object.fromEntries(await judge(clickhouse, { says, moved }))]).toEqual([end, {}]);
  }
  const says = saysUpTo(150);
  const moved = new ChangedSubjects();
  for (const log of logs) for (const execution of log.slice(150)) moved.record(execution);
  const dearer = `SELECT * REPLACE (if(version < 60, cost + 1, cost) AS cost) FROM positions FINAL`;
  const found = await judge(damaged(tables.positions, dearer), { says, moved });
  expect(found.get('positions')?.[0]).toContain('cost');
}, 60_000);

test('judges rows of buckets that change between its statements', async () => {
  const changing = await real.fresh();
  // Some records in each second, so that buckets are open for many of them.
  const log = new TinyExchange(4)
    .records(records)
    .map((one, index) => ({ ...one, timeMs: index * 200 }));
  const end = 150;
  const views = new TableViews(0, { positions: [], candles: [] });
  const write = async (part: readonly Execution[]) => {
    for (const execution of part) views.fold(execution, appendedMs(execution));
    for (const { table, pieces } of views.take())
      await changing.insertTabSeparated(table.name, columnNames(table), pieces);
  };
  await write(log.slice(0, end));
  const says = new LogExpectation(new LogAudit(`0x${'fe'.repeat(20)}`, { keepsEnded: false }));
  for (const execution of log.slice(0, end)) {
    says.audit.record(execution, { partition: 0, chainHolds: true });
    says.record(0, { execution, appendedAtMs: appendedMs(execution) });
  }
  let written = end;
  const verdicts = await compareBuckets(
    {
      async selectRows<T>(...asked: Parameters<ClickHouse['selectRows']>) {
        const rows = await changing.selectRows<T>(...asked);
        await write(log.slice(written, written + 20));
        written += 20;
        return rows;
      },
    },
    says,
  );
  expect(verdicts.flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(verdicts.some(({ changed }) => changed > 0)).toBe(true);
}, 60_000);

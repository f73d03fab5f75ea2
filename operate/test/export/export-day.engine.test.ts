import { randomUUID } from 'node:crypto';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileFacts } from '@pm/deploy/local/file-facts';
import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import { silentLog } from '@pm/kit/log';
import { createTableSql } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { Session } from 'chdb';
import { engineUrl } from '../../../kit/test/engines.ts';
import { firstMoment } from '../../src/export/completeness.ts';
import { parseDay } from '../../src/export/day.ts';
import { type ExportOptions, exportDay } from '../../src/export/export-day.ts';
import type { Manifest } from '../../src/export/manifest.ts';
import { planOf } from '../../src/export/plan.ts';
import { verifyDay } from '../../src/export/verify-day.ts';
import { insertMadeUp } from './made-up-rows.ts';

const url = engineUrl('CLICKHOUSE');
const database = `export_${randomUUID().replaceAll('-', '')}`;
const access = { url, user: 'default', password: '', log: silentLog };
const partitions = [0, 1, 2];
const nowMs = Date.parse('2026-06-05T00:00:00Z');
const [first, second, empty] = ['2026-06-01', '2026-06-02', '2026-06-03'].map((name) =>
  parseDay(name, nowMs),
);
const rowsOf = { first: 700, second: 900 };

let clickhouse: ClickHouse;
/** The export only reads. */
let reader: ClickHouse;
let root: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'pm-export-'));
  const server = openClickHouse({ ...access, database: 'default' });
  await server.command(`CREATE DATABASE ${database} ENGINE = Atomic`);
  await server.close();
  clickhouse = openClickHouse({ ...access, database });
  reader = openClickHouse({ ...access, database, user: 'pm_reader' });
  for (const table of Object.values(tables)) {
    await clickhouse.command(createTableSql(table, database));
    const spreadMs = 86_400_000;
    const from = { fromMs: first?.fromMs ?? 0, rows: rowsOf.first, spreadMs, shift: 1 };
    await insertMadeUp(clickhouse, table, from);
    const next = { fromMs: second?.fromMs ?? 0, rows: rowsOf.second, spreadMs, shift: 1_000 };
    await insertMadeUp(clickhouse, table, next);
  }
  for (const partition of partitions) await completeThrough(partition, '2026-06-04 00:00:00.000');
}, 60_000);

afterAll(async () => {
  await clickhouse.command(`DROP DATABASE ${database}`);
  await Promise.all([clickhouse.close(), reader.close()]);
  rmSync(root, { recursive: true });
});

let offset = 10;
async function completeThrough(partition: number, through: string): Promise<void> {
  offset += 1;
  const columns = ['projection', 'partition', 'through_offset', 'next_in_offset', 'through'];
  const row = ['tables', partition, offset, offset, through];
  await clickhouse.insertRows(tables.completeness.name, columns, [row]);
}

type Some = Partial<ExportOptions>;

function write(day = first, options: Some = {}): Promise<Manifest> {
  if (day === undefined) throw new Error('no day');
  return exportDay({
    clickhouse: reader,
    database,
    partitions,
    day,
    again: false,
    onTable: () => {},
    plan: planOf(null),
    folder: join(root, randomUUID()),
    isPartial: false,
    ...options,
  });
}

async function wrongIn(folder: string): Promise<Record<string, readonly string[]>> {
  const verified = await verifyDay(folder, () => {});
  const wrong = verified.filter((one) => one.wrong.length > 0);
  return Object.fromEntries(wrong.map((one) => [one.table.table, one.wrong]));
}

/** Rows of a query over files, by an engine that is not the one of the exchange. */
async function readBack(sql: string): Promise<readonly (readonly string[])[]> {
  const session = new Session(mkdtempSync(join(root, 'engine-')));
  try {
    const text = (await session.queryAsync(sql, { format: 'TSVRaw' })).text();
    return text
      .trim()
      .split('\n')
      .map((line) => line.split('\t'));
  } finally {
    session.close();
  }
}

async function typesOf(file: string): Promise<Record<string, string>> {
  const rows = await readBack(`DESCRIBE TABLE ${file}`);
  return Object.fromEntries(rows.map(([name = '', type = '']) => [name, type]));
}

const every = Object.values(tables).flatMap(({ name }) =>
  ['holders', 'completeness'].includes(name) ? [] : [name],
);

describe('a day that is written', () => {
  test('holds every row of the day once, in every table, and verifies', async () => {
    const folder = join(root, 'whole');
    const { tables: written, completeness } = await write(first, { folder, plan: planOf(every) });
    expect(written.map(({ table }) => table)).toEqual(every);
    for (const { table, kind, rows } of written) {
      const due = kind === 'state' ? rowsOf.first + rowsOf.second : rowsOf.first;
      expect([table, rows]).toEqual([table, due]);
    }
    expect(await wrongIn(folder)).toEqual({});
    expect(completeness.map(({ partition }) => partition)).toEqual(partitions);
    const files = [...every.map((name) => `${name}.parquet`), 'manifest.json'].sort();
    expect(readdirSync(folder).sort()).toEqual(files);
  }, 120_000);

  test('states the log positions of each partition', async () => {
    const { tables: written } = await write(second, { plan: planOf(['fills', 'candles_1m']) });
    const places = (partition: number, rows: number, from: number, to: number) => ({
      partition,
      rows,
      first: { inOffset: from, eventIndex: from },
      last: { inOffset: to, eventIndex: to },
    });
    // Rows are numbered 1000 to 1899, and go to the partition of their number modulo 3.
    expect(written.map(({ partitions: places }) => places)).toEqual([
      [places(0, 300, 1_002, 1_899), places(1, 300, 1_000, 1_897), places(2, 300, 1_001, 1_898)],
      null,
    ]);
  });

  test('keeps types, and rows in the order of the log', async () => {
    const folder = join(root, 'types');
    await write(first, { folder, plan: planOf(['fills', 'midpoints_1m']) });
    const file = (name: string) => `file('${join(folder, name)}.parquet', 'Parquet')`;
    const types = {
      fills: await typesOf(file('fills')),
      mids: await typesOf(file('midpoints_1m')),
    };
    expect(types.fills).toMatchObject({
      in_offset: 'UInt64',
      time: "DateTime64(3, 'UTC')",
      taker: 'String',
      match: 'String',
      size: 'Decimal(18, 6)',
      taker_price: 'Decimal(9, 4)',
    });
    expect(types.mids).toMatchObject({ bucket: "DateTime64(3, 'UTC')" });
    const rows = await readBack(
      `SELECT partition, in_offset FROM ${file('fills')} SETTINGS max_threads = 1`,
    );
    const sorted = [...rows].sort((one, other) =>
      one[0] === other[0] ? Number(one[1]) - Number(other[1]) : Number(one[0]) - Number(other[0]),
    );
    expect([rows.length, rows]).toEqual([rowsOf.first, sorted]);
  });

  test('without rows has files without rows', async () => {
    const folder = join(root, 'empty');
    const { tables: written } = await write(empty, { folder });
    const facts = written.filter(({ kind }) => kind === 'facts');
    expect(facts.length).toBeGreaterThan(5);
    for (const { rows, contentHash } of facts) expect([rows, contentHash]).toEqual([0, '0']);
    expect(await wrongIn(folder)).toEqual({});
  });
});

describe('verification', () => {
  test('finds one changed byte anywhere, a cut file and a missing one', async () => {
    const folder = join(root, 'damaged');
    await write(first, { folder, plan: planOf(['fills', 'positions', 'candles_1m']) });
    const file = join(folder, 'fills.parquet');
    const whole = readFileSync(file);
    for (const at of [0, 5_000, Math.floor(whole.length / 2), whole.length - 9, whole.length - 1]) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(file, damaged);
      const wrong = await wrongIn(folder);
      expect([Object.keys(wrong), wrong['fills']?.[0]]).toEqual([['fills'], 'has another SHA-256']);
    }
    writeFileSync(file, whole.subarray(0, -1));
    unlinkSync(join(folder, 'candles_1m.parquet'));
    const wrong = await wrongIn(folder);
    expect(Object.keys(wrong)).toEqual(['fills', 'candles_1m']);
    expect(wrong['candles_1m']).toEqual(['is missing']);
  }, 120_000);

  test('finds other rows of the same count, independent of the manifest', async () => {
    const [folder, other] = [join(root, 'swapped'), join(root, 'other')];
    const plan = planOf(['fills']);
    await write(first, { folder, plan });
    await clickhouse.command(
      `INSERT INTO fills SELECT * REPLACE (fee + 0.000001 AS fee, in_offset + 5000000 AS in_offset, time + INTERVAL 9 DAY AS time) FROM fills FINAL
       WHERE fills.time < '2026-06-02'`,
    );
    await completeThroughAll('2026-06-20 00:00:00.000');
    const later = parseDay('2026-06-10', Date.parse('2026-07-01T00:00:00Z'));
    await write(later, { folder: other, plan });
    const file = join(folder, 'fills.parquet');
    copyFileSync(join(other, 'fills.parquet'), file);
    const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
    Object.assign(manifest.tables[0] ?? {}, await fileFacts(file));
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
    expect(await wrongIn(folder)).toEqual({
      fills: ['has another content hash', 'has other places in the log'],
    });
  });

  test('refuses a folder without a manifest, and a file that is none', async () => {
    await expect(wrongIn(root)).rejects.toMatchObject({ code: 'NOT_WHOLE' });
    const folder = mkdtempSync(join(root, 'none-'));
    writeFileSync(join(folder, 'manifest.json'), '{"format":2}');
    await expect(wrongIn(folder)).rejects.toMatchObject({ code: 'DIFFERS' });
  });
});

async function completeThroughAll(through: string): Promise<void> {
  for (const partition of partitions) await completeThrough(partition, through);
}

describe('a day is refused', () => {
  test('while a partition has not passed its end, or is unknown', async () => {
    const plan = planOf(['fills']);
    await completeThroughAll('2026-06-04 00:00:00.000');
    await completeThrough(1, '2026-06-03 23:59:59.999');
    await expect(write(empty, { plan })).rejects.toMatchObject({
      code: 'NOT_COMPLETE',
      message: expect.stringContaining('partition 1 is complete up to 2026-06-03T23:59:59.999Z'),
    });
    await completeThrough(1, '2026-06-04 00:00:00.000');
    const unknown = { plan, partitions: [...partitions, 3] };
    await expect(write(empty, unknown)).rejects.toMatchObject({ code: 'NOT_COMPLETE' });
    await expect(write(empty, { plan, partitions: [] })).rejects.toMatchObject({
      code: 'NOT_COMPLETE',
    });
    await write(empty, { plan });
  });

  test('where it is whole already, unless it is to be written again', async () => {
    const options = { folder: join(root, 'twice'), plan: planOf(['fills']) };
    const before = await write(first, options);
    await expect(write(first, options)).rejects.toMatchObject({ code: 'ALREADY_WHOLE' });
    const after = await write(first, { ...options, again: true });
    expect(after.tables[0]?.contentHash).toBe(before.tables[0]?.contentHash);
  });

  test('where it is being written', async () => {
    const options = { folder: join(root, 'at-once'), plan: planOf(['fills', 'positions']) };
    const both = await Promise.allSettled([write(first, options), write(first, options)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'BAD_ARGUMENT', message: expect.stringContaining('already') },
    });
    expect(await wrongIn(options.folder)).toEqual({});
  });

  test('when a row came between the file and the comparison', async () => {
    const folder = join(root, 'late');
    const late: Pick<ClickHouse, 'selectRows' | 'copyTo'> = {
      selectRows: (sql, params) => reader.selectRows(sql, params),
      async copyTo(sink, sql, params) {
        await reader.copyTo(sink, sql, params);
        const madeUp = { fromMs: empty?.fromMs ?? 0, rows: 1, spreadMs: 1, shift: 77_777 };
        await insertMadeUp(clickhouse, tables.marketRules, madeUp);
      },
    };
    const plan = planOf(['market_rules']);
    await expect(write(empty, { folder, plan, clickhouse: late })).rejects.toMatchObject({
      code: 'DIFFERS',
    });
    await expect(wrongIn(folder)).rejects.toMatchObject({ code: 'NOT_WHOLE' });
  });
});

describe('a part of a day', () => {
  const noon = '2026-06-02 12:00:30.500';

  test('ends at the last whole minute that all partitions have passed, and says so', async () => {
    await completeThroughAll('2026-06-04 00:00:00.000');
    await completeThrough(2, noon);
    const folder = join(root, 'partial');
    const manifest = await write(second, { folder, plan: planOf(every), isPartial: true });
    expect(manifest).toMatchObject({ partial: true, to: '2026-06-02T12:00:00.000Z' });
    expect(await wrongIn(folder)).toEqual({});
    const rows = new Map(manifest.tables.map((table) => [table.table, table.rows]));
    // 900 rows are spread over the day: row 450 is that of noon.
    expect([rows.get('fills'), rows.get('candles_1m'), rows.get('positions')]).toEqual([
      450,
      450,
      rowsOf.first + rowsOf.second,
    ]);
    const [closings] = await readBack(
      `SELECT count(), max(bucket) < toDateTime('2026-06-02 12:00:00', 'UTC') FROM file('${join(folder, 'book_closings.parquet')}', 'Parquet')`,
    );
    expect(closings).toEqual(['450', '1']);
  }, 60_000);

  test('grows with the tables, and is refused for a complete day and for one without a complete part', async () => {
    const options = { folder: join(root, 'again'), plan: planOf(['fills']), isPartial: true };
    await completeThrough(2, noon);
    const before = await write(second, { ...options, again: true });
    await completeThrough(2, '2026-06-02 18:00:00.000');
    const after = await write(second, { ...options, again: true });
    expect([before.tables[0]?.rows, after.tables[0]?.rows]).toEqual([450, 675]);
    await completeThrough(2, '2026-06-02 00:00:59.999');
    await expect(write(second, { ...options, again: true })).rejects.toMatchObject({
      code: 'NOT_COMPLETE',
    });
    await completeThroughAll('2026-06-04 00:00:00.000');
    await expect(write(second, { ...options, again: true })).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
      message: expect.stringContaining('without --partial'),
    });
  }, 60_000);
});

test('nothing is older than the first market that was listed', async () => {
  expect(await firstMoment(reader)).toBe(first?.fromMs);
  const nothing = {
    selectRows: async <T>() => [{ first: '0', found: '0' }] as unknown as readonly T[],
  };
  expect(await firstMoment(nothing)).toBeNull();
});

test('the content hash is that of ClickHouse for the file read with the types of the manifest, and not without them', async () => {
  const folder = join(root, 'hashed');
  const { tables: written } = await write(first, { folder, plan: planOf(['fills', 'candles_1m']) });
  for (const { table, columns, contentHash } of written) {
    const file = join(folder, `${table}.parquet`);
    const types = columns.map(({ name, type }) => `${name} ${type}`).join(', ');
    const hashOf = async (source: string) =>
      (await readBack(`SELECT toString(sum(sipHash64(tuple(*)))) FROM file(${source})`))[0]?.[0];
    const quoted = types.replaceAll("'", "\\'");
    expect(await hashOf(`'${file}', 'Parquet', '${quoted}'`)).toBe(contentHash);
    if (table === 'fills') expect(await hashOf(`'${file}', 'Parquet'`)).not.toBe(contentHash);
  }
});

test('a table that a busy server returned in part is read again', async () => {
  const folder = join(root, 'busy');
  let calls = 0;
  const busy: Pick<ClickHouse, 'selectRows' | 'copyTo'> = {
    selectRows: (sql, params) => reader.selectRows(sql, params),
    async copyTo(sink, sql, params) {
      calls += 1;
      if (calls > 1) return await reader.copyTo(sink, sql, params);
      sink.write(Buffer.alloc(1_000_000));
      throw new Fault('clickhouse_busy', 'retry');
    },
  };
  await write(first, { folder, plan: planOf(['fills']), clickhouse: busy });
  expect([calls, await wrongIn(folder)]).toEqual([2, {}]);
});

test('an interrupted day is not whole, and is written again by the next call', async () => {
  const folder = join(root, 'broken-off');
  const plan = planOf(['fills', 'wallet_fills', 'positions']);
  let calls = 0;
  const dying: Pick<ClickHouse, 'selectRows' | 'copyTo'> = {
    selectRows: (sql, params) => reader.selectRows(sql, params),
    copyTo(sink, sql, params) {
      calls += 1;
      const broken = sql.replace('FINAL', "FINAL PREWHERE throwIf(partition < 5, 'dies') = 0");
      return reader.copyTo(sink, calls === 2 ? broken : sql, params);
    },
  };
  await expect(write(first, { folder, plan, clickhouse: dying })).rejects.toMatchObject({
    code: 'clickhouse_refused',
  });
  expect(readdirSync(folder).sort()).toEqual(['fills.parquet', 'wallet_fills.parquet.part']);
  await expect(wrongIn(folder)).rejects.toMatchObject({ code: 'NOT_WHOLE' });
  await write(first, { folder, plan });
  expect(await wrongIn(folder)).toEqual({});
});

import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { FrontUnderTest } from './front-under-test.ts';

const secret = 'seed of the root key';
let front: FrontUnderTest;
/** A file of the same machine, which the engine may not read. */
let file: string;

beforeAll(async () => {
  front = await FrontUnderTest.open();
  file = join(front.folder, 'keys.json');
  writeFileSync(file, `${secret}\n`);
  const made = await front.post(
    '',
    'CREATE TABLE t (id UInt8, name String) ENGINE = MergeTree ORDER BY id',
  );
  expect(made.status).toBe(200);
});

afterEach(() => rmSync(written(), { force: true }));

afterAll(async () => {
  await front.close();
});

/** A file that no statement may write. */
const written = (): string => join(front.folder, 'written');

/** With a path for each quoted `FILE`, which is a word of statements too. */
const withFile = (sql: string, path = file): string => sql.replaceAll(/(?<=['"`‘])FILE/g, path);

const readings = [
  "SELECT * FROM file('FILE', 'LineAsString')",
  "SELECT * FROM File('FILE', 'LineAsString')",
  "SELECT * FROM `file`('FILE', 'LineAsString')",
  "SELECT * FROM /* ( */ file -- (\n ('FILE', 'LineAsString')",
  "SELECT * FROM t WHERE name IN (SELECT line FROM file('FILE', 'LineAsString'))",
  "WITH x AS (SELECT * FROM file('FILE', 'LineAsString')) SELECT * FROM x",
  "SELECT * FROM view(SELECT * FROM file('FILE', 'LineAsString'))",
  "DESCRIBE file('FILE', 'LineAsString')",
  "EXPLAIN SELECT * FROM file('FILE', 'LineAsString')",
  "SELECT file('FILE')",
  "SELECT “file”('FILE')",
  "SELECT `fi\\x6ce`('FILE')",
  "SELECT ‘'’, file('FILE'), ‘'’",
  "SELECT 1 AS a$b$, file('FILE'), 2 AS c$b$",
  "SELECT arrayMap(file, ['FILE'])",
  "SELECT * APPLY (file) FROM (SELECT 'FILE' AS line)",
  'SELECT * FROM "default"."FILE"',
  'SELECT * FROM `FILE`',
  "SELECT * FROM 'FILE'",
  "SELECT * FROM fileCluster('default', 'FILE', 'LineAsString')",
  "SELECT * FROM filesystem('FILE')",
  "SELECT * FROM executable('FILE', 'TSV', 'line String')",
  "SELECT * FROM sqlite('FILE', 't')",
  "SELECT * FROM icebergLocal('FILE')",
  "SELECT 1 FORMAT Template SETTINGS format_template_row = 'FILE'",
  "SELECT 1 FORMAT Template SETTINGS max_threads = 1, `format_template_row` = 'FILE'",
  "SELECT * FROM format(Template, 'x') SETTINGS format_template_row = 'FILE'",
  "SELECT * FROM t SETTINGS additional_table_filters = {'t': 'length(file(''FILE'')) > 0'}",
] as const;

describe('a reader reads no file of the machine', () => {
  test.each(readings)('%s', async (sql) => {
    for (const path of ['', '?user=pm_analyst', '?database=default']) {
      const { code, text } = await front.read(withFile(sql), path);
      expect(code).not.toBeNull();
      expect(text).not.toContain(secret);
    }
  });

  test('nor by a setting or a parameter of the request', async () => {
    for (const path of [
      `?format_template_row=${file}`,
      '?readonly=0',
      '?profile=default',
      '?engine_file_truncate_on_insert=1',
    ])
      expect(await front.read('SELECT 1 FORMAT Template', path)).toMatchObject({ code: '164' });
    const sql = `SELECT arrayMap({f:Identifier}, ['${file}'])`;
    expect(await front.read(sql, '?param_f=file')).toMatchObject({ code: '497' });
  });
});

/** Results in a file, behind comments, quotes and blanks that the engine and the front read in different ways. */
const hiddenFiles = [
  "SELECT 1 INTO OUTFILE 'FILE'",
  "SELECT 1 /* /* */ ' */ INTO OUTFILE 'FILE' TRUNCATE FORMAT TSVRaw",
  "SELECT ‘'’ INTO OUTFILE 'FILE' -- '",
  'SELECT 1 AS “a"” INTO OUTFILE \'FILE\' -- "',
  "SELECT 1 // '\n INTO OUTFILE 'FILE' -- '",
  "SELECT 1 # '\n INTO OUTFILE 'FILE' -- '",
  "SELECT 1 #!'\n INTO OUTFILE 'FILE' -- '",
  "SELECT 1 INTO\u00a0OUTFILE\u00a0'FILE'",
  "SELECT 1 INTO\u2003OUTFILE 'FILE'",
  "SELECT 1 AS a$b$ INTO OUTFILE 'FILE' -- $b$",
  "SELECT 1 // '\n INTO OUTFILE 'FILE' -- '\n FORMAT Parquet",
  "SHOW TABLES INTO /* */ OUTFILE 'FILE'",
  "EXPLAIN SELECT 1 into outfile 'FILE'",
] as const;

const writings = [
  "INSERT INTO FUNCTION file('FILE', 'TSV', 'line String') VALUES ('x')",
  "INSERT INTO TABLE FUNCTION file('FILE', 'TSV', 'line String') SELECT 'x'",
  "WITH x AS (SELECT 'x') INSERT INTO FUNCTION file('FILE', 'TSV', 'line String') SELECT * FROM x",
  "INSERT INTO FUNCTION null('id UInt8') SELECT 1",
  'INSERT INTO t SELECT 1',
  ...hiddenFiles,
  "BACKUP TABLE t TO File('FILE')",
  "CREATE VIEW v AS SELECT file('FILE')",
  'CREATE TEMPORARY TABLE v (id UInt8)',
  "CREATE DICTIONARY d (line String) PRIMARY KEY line SOURCE(FILE(path 'FILE' format 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
  'SYSTEM SHUTDOWN',
  'SYSTEM FLUSH LOGS',
  'SET readonly = 0',
  "SET profile = 'default'",
] as const;

test.each(writings)('a reader writes nothing: %s', async (sql) => {
  for (const path of ['', '?readonly=0', '?engine_file_truncate_on_insert=1']) {
    const { code } = await front.read(withFile(sql, written()), path);
    expect(code).not.toBeNull();
    expect(existsSync(written())).toBe(false);
  }
});

/** Statements behind rows that the engine sees and the front does not. */
const hiddenRows = [
  "// '\nINSERT INTO t VALUES (1, 'a')\n;\nSELECT 1 INTO OUTFILE 'FILE' // '",
  "// '\nEXPLAIN AST INSERT INTO t VALUES (1, 'a')\n;\nSELECT 1 INTO OUTFILE 'FILE' // '",
  "INSERT INTO t (id) // '\nVALUES (1)\n;\nSELECT 1 INTO OUTFILE ‘FILE’ -- '\n// FORMAT Values\n(1)",
  "INSERT INTO t (name) // '\nFROM INFILE ‘KEYS’ FORMAT LineAsString -- '\n// FORMAT LineAsString\na",
] as const;

test.each([...hiddenFiles, ...hiddenRows])(
  'a writer names no file of the machine: %s',
  async (sql) => {
    const answer = await front.post('', withFile(sql, written()).replaceAll('KEYS', file));
    expect([answer.ok, existsSync(written())]).toEqual([false, false]);
  },
);

test('a file of the front is named by the front alone, also where its name is known', async () => {
  const named = `${front.folder}/clickhouse-rows/answer-`;
  for (let count = 0; count < 20; count += 1) {
    const target = `${named}${count}`;
    const sql = `SELECT 1 INTO OUTFILE '${target}' FORMAT Parquet`;
    for (const text of [sql, sql.replace(target, 'file of the front')])
      expect(await front.read(text)).toMatchObject({ code: expect.stringMatching(/^(358|62)$/) });
  }
  const hidden = "SELECT 1 INTO OUTFILE 'file of the front' /* /* */ FORMAT Parquet SETTINGS */";
  expect(await front.read(hidden)).toMatchObject({ code: '358' });
  expect(readdirSync(`${front.folder}/clickhouse-rows`)).toEqual([]);
});

test('rows of a statement that has comments, quotes and escapes are those that the front finds', async () => {
  const statement =
    "INSERT /* rows */ INTO \"t\" (id, name) -- columns\n SETTINGS log_comment = 'it\\'s' FORMAT CSV\n3,INTO OUTFILE\n";
  expect((await front.post('', statement)).ok).toBe(true);
  expect(await front.read('SELECT name FROM t WHERE id = 3')).toMatchObject({
    text: 'INTO OUTFILE\n',
  });
  await front.post('', 'ALTER TABLE t DELETE WHERE id = 3 SETTINGS mutations_sync = 2');
});

describe('the engine', () => {
  let port: number;
  let requests = 0;
  const other = createServer((_, response) => {
    requests += 1;
    response.end('1\n');
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    port = (other.address() as AddressInfo).port;
  });

  afterAll(() => void other.close());

  test.each([
    "SELECT * FROM url('http://127.0.0.1:PORT/', 'LineAsString')",
    "SELECT * FROM s3('http://127.0.0.1:PORT/b/k', 'LineAsString')",
    "SELECT * FROM remote('127.0.0.1:PORT', 'pm.t')",
    "SELECT * FROM mysql('127.0.0.1:PORT', 'd', 't', 'u', 'p')",
    "SELECT * FROM redis('127.0.0.1:PORT', 'k', 'k String')",
    "INSERT INTO FUNCTION url('http://127.0.0.1:PORT/', 'TSV', 'a String') VALUES ('x')",
    "CREATE TABLE u (a String) ENGINE = URL('http://127.0.0.1:PORT/', 'CSV')",
    "CREATE DATABASE m ENGINE = MySQL('127.0.0.1:PORT', 'd', 'u', 'p')",
    "CREATE DICTIONARY h (a String) PRIMARY KEY a SOURCE(HTTP(url 'http://127.0.0.1:PORT/' format 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
  ])('connects to nothing, with either password: %s', async (sql) => {
    const text = sql.replaceAll('PORT', String(port));
    for (const key of Object.values(front.passwords)) {
      const answer = await front.post('', text, { 'X-ClickHouse-Key': key });
      expect(answer.ok).toBe(false);
    }
    expect(requests).toBe(0);
  });

  test.each([
    "SELECT * FROM file('FILE', 'LineAsString')",
    'SELECT * FROM "default"."FILE"',
    "INSERT INTO FUNCTION file('FILE', 'TSV', 'line String') SETTINGS engine_file_truncate_on_insert = 1 VALUES ('x')",
    "CREATE TABLE f (line String) ENGINE = File(LineAsString, 'FILE')",
    "CREATE DATABASE files ENGINE = Filesystem('/')",
    "CREATE DICTIONARY d (line String) PRIMARY KEY line SOURCE(FILE(path 'FILE' format 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
    "BACKUP TABLE t TO File('FILE')",
    'SYSTEM SHUTDOWN',
  ])('opens no files, with the password of the writers: %s', async (sql) => {
    const answer = await front.post('', withFile(sql));
    expect(answer.ok).toBe(false);
    expect(await answer.text()).not.toContain(secret);
  });
});

test('a reader asks what people and services ask', async () => {
  await front.post('', "INSERT INTO t VALUES (1, 'file(1)'), (2, 'INSERT INTO t')");
  const asked: readonly (readonly [string, string])[] = [
    ["SELECT name FROM t WHERE name LIKE '%file(%' SETTINGS max_threads = 1", 'file(1)\n'],
    ['SELECT count() FROM t WHERE id = 1 OR name = {n:String}', '2\n'],
    ['(SELECT 1) UNION ALL (SELECT 1)', '1\n1\n'],
    ['WITH insert AS (SELECT 3 AS into) SELECT into FROM insert', '3\n'],
    ['FROM numbers(2) SELECT sum(number)', '1\n'],
    [
      "SELECT * FROM values('a UInt8', 1) SETTINGS max_threads = 1, log_comment = 'x, readonly = 0'",
      '1\n',
    ],
    [
      'SELECT max_rows_to_read = 5, readonly = 1 FROM (SELECT 5 AS max_rows_to_read, 1 AS readonly)',
      '1\t1\n',
    ],
    ['EXISTS TABLE t', '1\n'],
    ['SHOW TABLES', 't\n'],
    ["SELECT format('{}-{}', 'a', 'b')", 'a-b\n'],
  ];
  for (const [sql, text] of asked)
    expect([sql, await front.read(sql, '?param_n=INSERT%20INTO%20t&max_execution_time=5')]).toEqual(
      [sql, { code: null, text }],
    );
  expect(await front.read('SELECT 1 1')).toMatchObject({
    code: '62',
    text: expect.not.stringMatching(/formatQuery/),
  });
});

test('settings of one reader do not hide the statement of another', async () => {
  for (const path of ['?limit=0', '?offset=1', '?max_result_rows=1&max_rows_to_read=1']) {
    await front.read(`SELECT '${path}'`, path);
    expect(await front.read(`SELECT '${path}', 2`)).toEqual({ code: null, text: `${path}\t2\n` });
  }
});

test('the engine keeps no file beside its data that others may read', () => {
  const files = readdirSync(front.folder).filter((name) => name.startsWith('clickhouse-'));
  expect(files.sort()).toEqual([
    'clickhouse-configuration.xml',
    'clickhouse-empty',
    'clickhouse-rows',
  ]);
  expect(readdirSync(join(front.folder, 'clickhouse-empty'))).toEqual([]);
});

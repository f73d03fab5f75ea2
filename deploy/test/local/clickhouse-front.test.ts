import { readdirSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { clickhouseRoles } from '@pm/operate/roles/roles';
import { runLength } from '../../../kit/test/long-runs.ts';
import {
  clickhousePasswordFiles,
  loadOrMakeClickhousePasswords,
} from '../../src/local/engines/clickhouse-password.ts';
import { FrontUnderTest } from './front-under-test.ts';

jest.setTimeout(60_000);

/** Queries that the front runs at the same time. */
const sessions = 4;
/** Each query that may leave something behind is run so often: in `npm test` once more than there are sessions. */
const rounds = runLength({ test: sessions + 1, deep: 12 });

let front: FrontUnderTest;
let folder: string;
let url: string;
let password: string;
let readersPassword: string;
let writer: ClickHouseClient;
let reader: ClickHouseClient;
let tables = 0;

beforeAll(async () => {
  front = await FrontUnderTest.open();
  ({ folder, url } = front);
  ({ writers: password, readers: readersPassword } = front.passwords);
  const log = { level: ClickHouseLogLevel.OFF };
  writer = createClient({ url, username: 'pm_writer', password, database: 'pm', log });
  reader = createClient({
    url,
    username: 'pm_reader',
    password: readersPassword,
    database: 'pm',
    log,
    compression: { response: true },
  });
});

afterAll(async () => {
  await writer.close();
  await reader.close();
  expect(await front.close()).toBe(0);
});

async function table(columns: string, engine = 'MergeTree ORDER BY id'): Promise<string> {
  tables += 1;
  const name = `t${tables}`;
  await writer.command({ query: `CREATE TABLE ${name} (${columns}) ENGINE = ${engine}` });
  return name;
}

async function rows<T>(query: string, more: object = {}): Promise<T[]> {
  const answer = await writer.query({ query, format: 'JSONEachRow', ...more });
  return answer.json<T>();
}

async function countOf(name: string): Promise<number> {
  const [row] = await rows<{ n: number }>(`SELECT toUInt32(count()) AS n FROM ${name}`);
  return row?.n ?? -1;
}

function post(
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Response> {
  return front.post(path, body, headers);
}

/** Status of a request with headers that `fetch` does not let a program choose. */
function statusOf(headers: Record<string, string>, path = '/?query=SELECT+1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject).end();
  });
}

describe('a web page', () => {
  it('is refused by its Origin, on every path, also with the password', async () => {
    const key = { 'X-ClickHouse-User': 'pm_writer', 'X-ClickHouse-Key': password };
    expect(await statusOf(key)).toBe(200);
    for (const origin of ['https://example.com', 'null', 'http://localhost', ''])
      for (const path of ['/?query=SELECT+1', '/ping', '/'])
        expect([origin, await statusOf({ ...key, Origin: origin }, path)]).toEqual([origin, 403]);
    expect(await statusOf({ ...key, 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
    expect(await statusOf({ ...key, 'Sec-Fetch-Site': 'none' })).toBe(200);
  });

  it('is refused by a Host that is not this server', async () => {
    const { port } = new URL(url);
    const key = { 'X-ClickHouse-Key': password };
    expect(await statusOf({ ...key, Host: `localhost:${port}` })).toBe(200);
    for (const host of ['example.com', `example.com:${port}`, '127.0.0.1.example.com'])
      expect([host, await statusOf({ ...key, Host: host })]).toEqual([host, 403]);
  });

  it('cannot write with what it can send without asking', async () => {
    const name = await table('id UInt8');
    const query = `INSERT INTO ${name} VALUES (1)`;
    const form = { 'Content-Type': 'text/plain', Origin: 'https://example.com' };
    expect((await post(`?password=${password}`, query, form)).status).toBe(403);
    expect(await countOf(name)).toBe(0);
  });
});

test('every response says that its type is not guessed', async () => {
  const ask = [post('', 'SELECT 1'), post('', 'SELECT'), post('', 'SELECT 1', { Origin: 'null' })];
  const plain = ['/ping', '/nowhere'].map((path) => fetch(url + path));
  for (const { headers } of await Promise.all([...ask, ...plain]))
    expect(headers.get('x-content-type-options')).toBe('nosniff');
});

describe('the passwords', () => {
  it('are made once, in files of their owner', () => {
    const made = { writers: password, readers: readersPassword };
    expect(loadOrMakeClickhousePasswords(folder)).toEqual(made);
    expect(password).not.toBe(readersPassword);
    for (const one of [password, readersPassword]) expect(one).toMatch(/^[\w-]{43}$/);
    for (const file of Object.values(clickhousePasswordFiles(folder)))
      expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  const codeOf = async (path: string, query: string, key: string) =>
    (await post(path, query, { 'X-ClickHouse-Key': key })).headers.get(
      'x-clickhouse-exception-code',
    );

  it('of the writers is asked of every user that writes', async () => {
    const name = await table('id UInt8');
    const insert = `INSERT INTO ${name} VALUES (1)`;
    expect(await codeOf('', insert, readersPassword)).toBe('164');
    expect(await codeOf('', `DROP TABLE ${name}`, readersPassword)).toBe('164');
    expect(await codeOf('?user=pm_writer', insert, readersPassword)).toBe('516');
    expect(await countOf(name)).toBe(0);
    const basic = Buffer.from(`pm_writer:${password}`).toString('base64');
    expect(
      (await post('', insert, { 'X-ClickHouse-Key': '', Authorization: `Basic ${basic}` })).status,
    ).toBe(200);
    expect(await codeOf(`?user=pm_writer&password=${password}`, insert, '')).toBeNull();
    expect(await countOf(name)).toBe(2);
  });

  it.each(['default', ...clickhouseRoles.map(({ name }) => name)])(
    'is asked of %s before anything is read',
    async (user) => {
      for (const wrong of ['', 'x', `${password}x`, readersPassword.slice(1)])
        expect(await codeOf(`?user=${user}`, 'SELECT 1', wrong)).toBe('516');
      expect(await codeOf(`?user=${user}`, 'SELECT 1', password)).toBeNull();
      const reads = user !== 'pm_writer';
      expect(await codeOf(`?user=${user}`, 'SELECT 1', readersPassword)).toBe(reads ? null : '516');
    },
  );
});

describe('a query', () => {
  it('answers ping, with and without a statement', async () => {
    expect(await writer.ping()).toEqual({ success: true });
    expect(await writer.ping({ select: true })).toEqual({ success: true });
    expect(await (await fetch(`${url}/ping`)).text()).toBe('Ok.\n');
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
  });

  it('runs in the database pm, which is Atomic', async () => {
    const query = 'SELECT currentDatabase() AS d, engine AS e FROM system.databases WHERE name = d';
    expect(await rows(query)).toEqual([{ d: 'pm', e: 'Atomic' }]);
    expect(await (await post('', 'SELECT currentDatabase()')).text()).toBe('pm\n');
    expect(await (await post('?database=system', 'SELECT currentDatabase()')).text()).toBe(
      'system\n',
    );
    expect(await (await post('', 'SELECT currentDatabase()')).text()).toBe('pm\n');
  });

  it('binds parameters of all kinds', async () => {
    const query = `SELECT {s:String} AS s, {a:Array(String)} AS a, {u:UInt64} AS u, {n:Nullable(Int32)} AS n,
      {m:Map(String, UInt8)} AS m, {t:Identifier} AS t FROM (SELECT 7 AS col)`;
    const s = `it's; "q" \\ \n\t é世😀 {x:Int8} -- '`;
    const a = ["a'b", 'c\\d', ';'];
    const params = { s, a, u: '18446744073709551615', n: null, m: { k: 1 }, t: 'col' };
    const settings = { output_format_json_quote_64bit_integers: 1 as const };
    expect(await rows(query, { query_params: params, clickhouse_settings: settings })).toEqual([
      { s, a, u: '18446744073709551615', n: null, m: { k: 1 }, t: 7 },
    ]);
  });

  it('binds as many values as the address of a server may hold', async () => {
    const a = Array.from({ length: 4_000 }, (_, index) => `0x${String(index).padStart(40, '0')}`);
    const query = 'SELECT length(arrayDistinct({a:Array(String)})) AS n';
    expect(await rows(query, { query_params: { a } })).toEqual([{ n: a.length }]);
  });

  it('does not see the parameters of an earlier one', async () => {
    for (let i = 0; i < rounds; i += 1) {
      await rows('SELECT {leak:String} AS x', { query_params: { leak: 'seen' } });
      await expect(rows('SELECT {leak:String} AS x')).rejects.toMatchObject({ code: '456' });
    }
  });

  it('leaves no settings, also when it fails', async () => {
    const settings = { max_threads: 1, insert_deduplication_token: 'x' };
    const query = `SELECT getSetting('max_threads') AS n, getSetting('insert_deduplication_token') AS t`;
    const [before] = await rows(query);
    expect(await rows(query, { clickhouse_settings: settings })).toEqual([{ n: 1, t: 'x' }]);
    for (let i = 0; i < rounds; i += 1) {
      const failing = rows('SELECT * FROM nowhere', { clickhouse_settings: settings });
      await expect(failing).rejects.toMatchObject({ code: '60' });
      const unknown = rows('SELECT 1', {
        clickhouse_settings: { ...settings, no_such_setting: 1 },
      });
      await expect(unknown).rejects.toMatchObject({ code: '115' });
      expect(await rows(query)).toEqual([before]);
    }
  });

  it('is not hindered by what an earlier one has set', async () => {
    const all = 'SELECT count() FROM system.settings WHERE changed';
    const before = await (await post('', all)).text();
    for (const settings of [
      { max_query_size: '20' },
      { max_execution_time: '1', max_rows_to_read: '1' },
      { compatibility: '22.3' },
      { readonly: '1' },
      { limit: '1', max_threads: '1' },
      { max_query_size: '21', limit: '2' },
    ]) {
      for (let i = 0; i < rounds; i += 1) {
        expect(await (await post(`?${new URLSearchParams(settings)}`, 'SELECT 7')).text()).toBe(
          '7\n',
        );
        const query = 'SELECT {n:UInt8} + number AS n FROM numbers(3) ORDER BY n';
        const wanted = { query_params: { n: 2 }, clickhouse_settings: { max_query_size: 400 } };
        expect(await rows<{ n: string }>(query, wanted)).toHaveLength(3);
      }
      expect(await (await post('', all)).text()).toBe(before);
    }
  });

  it('sets as asked what goes by two names', async () => {
    const query = `SELECT toUInt8(getSetting('enable_analyzer')) AS n`;
    for (let i = 0; i < rounds; i += 1)
      for (const settings of [{ allow_experimental_analyzer: 0 }, { enable_analyzer: 0 }] as const)
        expect(await rows(query, { clickhouse_settings: settings })).toEqual([{ n: 0 }]);
  });

  it('leaves no effect of SET and USE', async () => {
    for (let i = 0; i < rounds; i += 1) {
      await post('', 'SET max_threads = 1');
      await post('', 'USE system');
      const text = await (
        await post('', `SELECT currentDatabase(), getSetting('max_threads') = 1`)
      ).text();
      expect(text).not.toMatch(/system|true|\t1/);
    }
  });

  it('keeps integers of 64 bits whole when asked to quote them', async () => {
    const settings = { output_format_json_quote_64bit_integers: 1 as const };
    const query = 'SELECT toInt64(-9223372036854775808) AS a, toUInt64(18446744073709551615) AS b';
    expect(await rows(query, { clickhouse_settings: settings })).toEqual([
      { a: '-9223372036854775808', b: '18446744073709551615' },
    ]);
  });

  it('reports its work in headers', async () => {
    const answer = await post(
      '?query_id=q7&default_format=JSONCompactEachRow',
      'SELECT number FROM numbers(3)',
    );
    expect(await answer.text()).toBe('[0]\n[1]\n[2]\n');
    expect(answer.headers.get('x-clickhouse-query-id')).toBe('q7');
    expect(answer.headers.get('x-clickhouse-format')).toBe('JSONCompactEachRow');
    expect(answer.headers.get('content-type')).toMatch('application/x-ndjson');
    expect(JSON.parse(answer.headers.get('x-clickhouse-summary') ?? '')).toMatchObject({
      read_rows: '3',
    });
    const chosen = await post('', 'SELECT 1 AS a FORMAT JSON', { 'X-ClickHouse-Format': 'CSV' });
    expect(chosen.headers.get('x-clickhouse-format')).toBe('JSON');
    expect(await (await post('', 'SELECT 1, 2', { 'X-ClickHouse-Format': 'CSV' })).text()).toBe(
      '1,2\n',
    );
  });

  it('is packed on request, answers and errors alike', async () => {
    const headers = { 'Accept-Encoding': 'gzip' };
    const answer = await post('', "SELECT repeat('x', 10000)", headers);
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect((await answer.text()).length).toBe(10_001);
    const plain = await post('?enable_http_compression=0', 'SELECT 1', headers);
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(
      await (await reader.query({ query: 'SELECT 1 AS a', format: 'JSONEachRow' })).json(),
    ).toEqual([{ a: 1 }]);
    await expect(reader.query({ query: 'SELECT * FROM nowhere' })).rejects.toMatchObject({
      code: '60',
    });
  });
});

describe('an error', () => {
  it.each([
    ['60', 'UNKNOWN_TABLE', 404, 'SELECT * FROM nowhere'],
    ['62', 'SYNTAX_ERROR', 400, 'SELEC 1'],
    ['62', 'SYNTAX_ERROR', 400, 'SELECT 1; SELECT 2'],
    ['62', 'SYNTAX_ERROR', 400, ''],
    ['47', 'UNKNOWN_IDENTIFIER', 404, 'SELECT nothing'],
    ['81', 'UNKNOWN_DATABASE', 404, 'SELECT * FROM nowhere.t'],
    ['159', 'TIMEOUT_EXCEEDED', 408, 'SELECT sleep(0.2) SETTINGS max_execution_time = 0.1'],
    [
      '241',
      'MEMORY_LIMIT_EXCEEDED',
      500,
      'SELECT groupArray(number) FROM numbers(10000000) SETTINGS max_memory_usage = 1000000',
    ],
    ['358', 'INTO_OUTFILE_NOT_ALLOWED', 500, "SELECT 1 INTO OUTFILE '/tmp/never'"],
  ])('%s %s has status %i', async (code, type, status, query) => {
    const answer = await post('', query);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe(code);
    const text = await answer.text();
    expect(text).toMatch(
      new RegExp(`^Code: ${code}\\. DB::Exception: [\\s\\S]*\\(${type}\\) \\(version `),
    );
    if (query !== '') await expect(writer.command({ query })).rejects.toMatchObject({ code, type });
  });

  it('refuses users it does not know', async () => {
    const headers = { 'X-ClickHouse-User': 'stranger', 'X-ClickHouse-Key': 'x' };
    const answer = await post('', 'SELECT 1', headers);
    expect(answer.status).toBe(403);
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe('516');
  });

  it.each([
    'INSERT INTO ro FORMAT JSONEachRow {"id":1}',
    'INSERT INTO ro VALUES (1)',
    'INSERT INTO ro SELECT 1',
    'DROP TABLE ro',
    'CREATE TABLE other (id UInt8) ENGINE = Memory',
    'TRUNCATE TABLE ro',
    'ALTER TABLE ro DELETE WHERE 1',
  ])('refuses the reader: %s', async (query) => {
    await writer.command({
      query: 'CREATE TABLE IF NOT EXISTS ro (id UInt8) ENGINE = MergeTree ORDER BY id',
    });
    await expect(reader.command({ query })).rejects.toMatchObject({
      code: '164',
      type: 'READONLY',
    });
    for (const right of ['readonly=0', 'profile=default', 'allow_ddl=1&readonly=0']) {
      const answer = await post(`?user=pm_reader&${right}`, query);
      expect([answer.ok, answer.headers.get('x-clickhouse-exception-code')]).toEqual([
        false,
        '164',
      ]);
      await post('?user=pm_reader', 'SET readonly = DEFAULT');
      await expect(reader.command({ query })).rejects.toMatchObject({ code: '164' });
    }
    const got = await fetch(`${url}/?query=${encodeURIComponent(query)}&password=${password}`);
    expect(got.headers.get('x-clickhouse-exception-code')).toBe('164');
    expect(await countOf('ro')).toBe(0);
  });

  it.each(clickhouseRoles.map(({ name }) => name))(
    'knows %s as one that reads or writes',
    async (name) => {
      const own = await table('id UInt8');
      const code = async (query: string) =>
        (await post(`?user=${name}`, query)).headers.get('x-clickhouse-exception-code');
      expect(await code(`SELECT * FROM ${own}`)).toBeNull();
      expect(await code(`INSERT INTO ${own} VALUES (1)`)).toBe(name === 'pm_writer' ? null : '164');
    },
  );

  it('lets the reader set what a query needs', async () => {
    const answer = await reader.query({
      query: `SELECT getSetting('max_threads') AS n, {p:UInt8} AS p`,
      query_params: { p: 5 },
      clickhouse_settings: { max_threads: 1 },
      format: 'JSONEachRow',
    });
    expect(await answer.json()).toEqual([{ n: 1, p: 5 }]);
  });
});

type Row = Readonly<Record<'id' | 's' | 'n', string>>;

function nastyRow(index: number): Row {
  return {
    id: String(18_446_744_073_709_551_615n - BigInt(index)),
    s: `row ${index}; é世界😀 \\ ' " \n\n;\nDROP TABLE x\t\0 --`,
    n: String(-9_223_372_036_854_775_808n + BigInt(index)),
  };
}

describe('an insert', () => {
  it.each(['JSONEachRow', 'JSONCompactEachRow'] as const)(
    'of 50,000 rows as %s arrives whole',
    async (format) => {
      const name = await table('id UInt64, s String, n Int64');
      const all: Row[] = Array.from({ length: 50_000 }, (_, index) => nastyRow(index));
      const values: unknown[] =
        format === 'JSONEachRow' ? all : all.map(({ id, s, n }) => [id, s, n]);
      const result = await writer.insert({ table: name, values, format });
      expect(result.summary).toMatchObject({ written_rows: '50000' });
      const settings = { output_format_json_quote_64bit_integers: 1 as const };
      const back = await rows<Row>(`SELECT id, s, n FROM ${name} ORDER BY id DESC`, {
        clickhouse_settings: settings,
      });
      expect(back).toHaveLength(all.length);
      // A comparison of all at once by `expect` costs more than the insert.
      expect(back.filter((row, index) => !isDeepStrictEqual(row, all[index])).slice(0, 3)).toEqual(
        [],
      );
    },
  );

  it('of CSV and TabSeparated keeps what looks like the end of a statement', async () => {
    const name = await table('id UInt64, s String');
    const csv = '1,"a;b\n\n;\nDROP TABLE x; ""q"""\n2,"\n;\n"\n';
    expect((await post(`?query=INSERT+INTO+${name}+FORMAT+CSV`, csv)).status).toBe(200);
    const tsv = '3\t;\\n\n4\tDROP TABLE x;\n';
    expect((await post('', `INSERT INTO ${name} FORMAT TabSeparated\n${tsv}`)).status).toBe(200);
    expect(await rows(`SELECT toUInt8(id) AS id, s FROM ${name} ORDER BY id`)).toEqual([
      { id: 1, s: 'a;b\n\n;\nDROP TABLE x; "q"' },
      { id: 2, s: '\n;\n' },
      { id: 3, s: ';\n' },
      { id: 4, s: 'DROP TABLE x;' },
    ]);
  });

  it('never runs what follows its rows', async () => {
    const name = await table('id UInt64');
    const other = await table('id UInt64');
    for (const tail of [
      `\n;\n\nDROP TABLE ${other}`,
      `;DROP TABLE ${other}`,
      `\n\n\nDROP TABLE ${other}`,
    ]) {
      const answer = await post('', `INSERT INTO ${name} FORMAT JSONEachRow\n{"id":1}${tail}`);
      expect(answer.headers.get('x-clickhouse-exception-code')).toBe('27');
    }
    expect([await countOf(name), await countOf(other)]).toEqual([0, 0]);
  });

  it('with one bad row is refused whole', async () => {
    const name = await table('id UInt64, s String, n Int64');
    const values = [
      ...Array.from({ length: 20_000 }, (_, i) => nastyRow(i)),
      { id: 'x', s: '', n: '1' },
    ];
    const insert = writer.insert({ table: name, values, format: 'JSONEachRow' });
    await expect(insert).rejects.toMatchObject({
      code: '27',
      type: 'CANNOT_PARSE_INPUT_ASSERTION_FAILED',
    });
    expect(await countOf(name)).toBe(0);
    const answer = await post(`?query=INSERT+INTO+${name}+FORMAT+JSONEachRow`, '{"id":"x"}');
    expect(answer.status).toBe(400);
    expect(await answer.text()).not.toMatch(/file|Code.*Code/);
  });

  it('takes columns, settings and VALUES from its statement', async () => {
    const name = await table(`id UInt64, s String DEFAULT 'd'`);
    await writer.insert({
      table: name,
      columns: ['id'],
      values: [[1]],
      format: 'JSONCompactEachRow',
    });
    const query = `INSERT INTO ${name} (id, s) SETTINGS async_insert = 0 VALUES (2, 'a;b'), (3, {p:String})`;
    await writer.command({ query, query_params: { p: "it's" } });
    expect(await rows(`SELECT s FROM ${name} ORDER BY id`)).toEqual([
      { s: 'd' },
      { s: 'a;b' },
      { s: "it's" },
    ]);
  });

  it('packed with gzip arrives', async () => {
    const name = await table('id UInt64');
    const packed = gzipSync('1\n2\n3\n');
    const path = `?query=INSERT+INTO+${name}+FORMAT+TabSeparated`;
    expect((await post(path, packed, { 'Content-Encoding': 'gzip' })).status).toBe(200);
    expect((await post(path, 'no gzip', { 'Content-Encoding': 'gzip' })).status).toBe(400);
    const client = createClient({ url, password, database: 'pm', compression: { request: true } });
    await client.insert({ table: name, values: [{ id: 4 }], format: 'JSONEachRow' });
    await client.close();
    expect(await countOf(name)).toBe(4);
  });

  it('with a known token is dropped, with a new one or none it is not', async () => {
    const engine = 'MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 100';
    const name = await table('id UInt64', engine);
    const insert = (id: number, token?: string): Promise<unknown> =>
      writer.insert({
        table: name,
        values: [{ id }],
        format: 'JSONEachRow',
        clickhouse_settings: {
          async_insert: 0,
          ...(token === undefined ? {} : { insert_deduplication_token: token }),
        },
      });
    for (let i = 0; i <= rounds; i += 1) await insert(1, 'a');
    expect(await countOf(name)).toBe(1);
    await insert(2, 'b');
    // A token left behind in a session would drop some of these.
    for (let i = 0; i <= rounds; i += 1) await insert(10 + i);
    expect(await countOf(name)).toBe(2 + rounds + 1);
  });

  it('answers with Parquet byte for byte, through a file that is gone afterwards', async () => {
    const text =
      "SELECT number AS n, ';é' AS s FROM numbers(300000) FORMAT Parquet SETTINGS max_threads = 1";
    const answer = await post('', text, { 'accept-encoding': 'gzip' });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', bytes.length - 4)]).toEqual([
      'PAR1',
      'PAR1',
    ]);
    const footer = bytes.readUInt32LE(bytes.length - 8);
    expect(bytes.length).toBeGreaterThan(footer + 300_000);
    const failed = await post('', 'SELECT throwIf(number = 9) FROM numbers(10) FORMAT Parquet');
    expect([failed.status, failed.headers.get('x-clickhouse-exception-code')]).toEqual([
      500,
      '395',
    ]);
    expect(readdirSync(join(folder, 'clickhouse-rows'))).toEqual([]);
  });

  it.each(['RowBinary', 'Native', 'Parquet'])('refuses %s', async (format) => {
    const name = await table('id UInt64');
    const answer = await post(`?query=INSERT+INTO+${name}+FORMAT+${format}`, Buffer.alloc(8));
    expect([answer.status, answer.headers.get('x-clickhouse-exception-code')]).toEqual([404, '73']);
  });

  it('refuses to read a file of the server', async () => {
    const name = await table('id String');
    const answer = await post(
      '',
      `INSERT INTO ${name} FROM INFILE '/etc/passwd' FORMAT LineAsString`,
    );
    expect(answer.ok).toBe(false);
    expect(await countOf(name)).toBe(0);
  });
});

describe('many callers', () => {
  it('of which 16 at once each get their own answer', async () => {
    const name = await table('id UInt64, caller UInt8');
    const turns = runLength({ test: 3, deep: 12 });
    const caller = async (me: number): Promise<void> => {
      for (let turn = 0; turn < turns; turn += 1) {
        const value = me * 1000 + turn;
        const [row] = await rows<{ v: number; t: string }>(
          `SELECT {v:UInt32} AS v, getSetting('log_comment') AS t`,
          { query_params: { v: value }, clickhouse_settings: { log_comment: `c${value}` } },
        );
        expect(row).toEqual({ v: value, t: `c${value}` });
        await writer.insert({ table: name, values: [[value, me]], format: 'JSONCompactEachRow' });
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, me) => caller(me)));
    expect(await countOf(name)).toBe(16 * turns);
  });
});

it('a request that names a database needs no other: also in a new session', async () => {
  const statements = ['DROP DATABASE pm SYNC', 'SELECT 1', 'CREATE DATABASE pm ENGINE = Atomic'];
  for (const statement of statements) {
    // A session with this setting is not used again.
    const sent = Array.from({ length: 4 }, () =>
      post('?database=default&compatibility=24.8', 'SELECT sleep(0.1)'),
    );
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await (await post('?database=default', statement)).text()).not.toContain(
      'DB::Exception',
    );
  }
});

it('a database that was dropped is unknown in every session', async () => {
  await post('?database=default', 'CREATE DATABASE lost ENGINE = Atomic');
  const send = () =>
    Array.from({ length: sessions }, () => post('?database=lost', 'SELECT sleep(0.1)'));
  expect((await Promise.all(send())).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await post('?database=default', 'DROP DATABASE lost SYNC');
  expect((await Promise.all(send())).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClickHouseError } from '@clickhouse/client';
import { type ClickHouse, clickhouseFault, openClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import { type Log, type LogFacts, silentLog } from '@pm/kit/log';

describe('what ClickHouse answers', () => {
  test.each([
    [159, 'clickhouse_busy', 'retry'],
    [202, 'clickhouse_busy', 'retry'],
    [241, 'clickhouse_busy', 'retry'],
    [242, 'clickhouse_busy', 'retry'],
    [252, 'clickhouse_busy', 'retry'],
    [27, 'clickhouse_bad_rows', 'skip'],
    [117, 'clickhouse_bad_rows', 'skip'],
    [60, 'clickhouse_refused', 'stop'],
    [62, 'clickhouse_refused', 'stop'],
    [516, 'clickhouse_refused', 'stop'],
    [987654, 'clickhouse_refused', 'stop'],
  ])('with code %d is %s: %s', (code, name, reaction) => {
    const answered = new ClickHouseError({ message: 'row 0xabc', code: String(code), type: 'T' });
    const fault = clickhouseFault(answered);
    expect(fault).toMatchObject({ code: name, reaction, facts: { number: code, type: 'T' } });
    expect(fault.message).not.toContain('0xabc');
  });

  test('not at all is to be tried again', () => {
    const fault = clickhouseFault(new Error('connect ECONNREFUSED'));
    expect(fault).toMatchObject({ code: 'clickhouse_unavailable', reaction: 'retry' });
    const known = new Fault('x', 'stop');
    expect(clickhouseFault(known)).toBe(known);
  });
});

describe('the client', () => {
  let server: Server;
  let clickhouse: ClickHouse;
  const seen: { readonly query: URLSearchParams; readonly body: string }[] = [];
  const lines: string[] = [];
  let answer: { status: number; body: string; headers: Record<string, string> };

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      seen.push({ query: new URL(request.url ?? '', 'http://h').searchParams, body });
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const note = (facts: LogFacts, message: string) => {
      lines.push(JSON.stringify(facts) + message);
    };
    const log: Log = { ...silentLog, warn: note, error: note, child: () => log };
    const options = { url, database: 'pm', user: 'u', password: 'p', log };
    clickhouse = openClickHouse({ ...options, requestTimeoutMs: 300 });
  });

  beforeEach(() => {
    seen.length = 0;
    answer = { status: 200, body: '', headers: {} };
  });

  afterAll(async () => {
    await clickhouse.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test('puts the settings that decide about duplicates into the SQL', async () => {
    const rows = [
      ['1', 'a"b', null],
      ['2', "c'd", [1, 2]],
    ];
    await clickhouse.insertRows('fills', ['id', 'text', 'list'], rows, { token: 'fills:0:5-9' });
    expect(seen[0]?.query.get('query')).toBe(
      "INSERT INTO fills (id, text, list) SETTINGS async_insert=0, deduplicate_blocks_in_dependent_materialized_views=1, insert_deduplication_token='fills:0:5-9' FORMAT JSONCompactEachRow",
    );
    expect(seen[0]?.body).toBe('["1","a\\"b",null]\n["2","c\'d",[1,2]]\n');
  });

  test('sends written rows as they are, under the same settings', async () => {
    const rows = Buffer.from('1\t0.5\n2\t0.6\n');
    await clickhouse.insertTabSeparated('fills', ['id', 'price'], rows, { token: 'fills:0:5-9' });
    expect(seen[0]?.query.get('query')).toBe(
      "INSERT INTO fills (id, price) SETTINGS async_insert=0, deduplicate_blocks_in_dependent_materialized_views=1, insert_deduplication_token='fills:0:5-9' FORMAT TabSeparated",
    );
    expect(seen[0]?.body).toBe(rows.toString());
  });

  test('sends nothing for no rows', async () => {
    await clickhouse.insertRows('fills', ['id'], []);
    await clickhouse.insertTabSeparated('fills', ['id'], Buffer.alloc(0));
    expect(seen).toHaveLength(0);
  });

  test.each([
    ['a table', 'fills; DROP TABLE fills', ['id'], 't'],
    ['a column', 'fills', ['id) VALUES (1'], 't'],
    ['no columns', 'fills', [], 't'],
    ['a token', 'fills', ['id'], "t', async_insert='1"],
  ])('refuses SQL in the place of %s', async (_, table, columns, token) => {
    const insert = async () => await clickhouse.insertRows(table, columns, [['1']], { token });
    await expect(insert()).rejects.toMatchObject({ code: 'broken_assumption' });
    expect(seen).toHaveLength(0);
  });

  test('refuses a row of another width', async () => {
    const insert = async () => await clickhouse.insertRows('fills', ['a', 'b'], [['1']]);
    await expect(insert()).rejects.toMatchObject({ code: 'broken_assumption' });
  });

  test('binds values, quotes 64-bit integers and waits for the end of the query', async () => {
    answer.body = '{"id":"18446744073709551615"}\n';
    const rows = await clickhouse.selectRows('SELECT {id:UInt64} AS id', { id: "1' OR 1" });
    expect(rows).toEqual([{ id: '18446744073709551615' }]);
    const query = seen[0]?.query;
    expect(query?.get('param_id')).toBe("1\\' OR 1");
    expect(query?.get('output_format_json_quote_64bit_integers')).toBe('1');
    expect(query?.get('output_format_json_quote_decimals')).toBe('1');
    expect(query?.get('wait_end_of_query')).toBe('1');
  });

  test('turns an error into a fault and logs neither SQL nor values', async () => {
    answer = {
      status: 404,
      body: 'Code: 60. DB::Exception: Table pm.hunter2 does not exist. (UNKNOWN_TABLE) (version 26)',
      headers: { 'x-clickhouse-exception-code': '60' },
    };
    const failed = { code: 'clickhouse_refused', facts: { number: 60, type: 'UNKNOWN_TABLE' } };
    await expect(clickhouse.command('TRUNCATE hunter2')).rejects.toMatchObject(failed);
    await expect(clickhouse.selectRows('SELECT hunter2')).rejects.toMatchObject(failed);
    expect(lines.join('\n')).not.toContain('hunter2');
  });

  test('gives up in time, with a fault to retry', async () => {
    server.removeAllListeners('request');
    const failed = { code: 'clickhouse_unavailable', reaction: 'retry' };
    await expect(clickhouse.selectRows('SELECT 1')).rejects.toMatchObject(failed);
    await expect(clickhouse.insertRows('fills', ['id'], [['1']])).rejects.toMatchObject(failed);
    expect(await clickhouse.ping()).toBe(false);
  });
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClickHouseError } from '@clickhouse/client';
import fc from 'fast-check';
import { clickhouseFault } from '../../src/clickhouse/faults.ts';
import { type ClickHouse, openClickHouse } from '../../src/clickhouse/open.io.ts';
import { Fault } from '../../src/fault/index.ts';
import { type Log, type LogFacts, silentLog } from '../../src/log/index.ts';
import { runLength } from '../long-runs.ts';

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
  const seen: {
    readonly query: URLSearchParams;
    readonly body: string;
    readonly account: string | undefined;
  }[] = [];
  /** Requests to come that are left without an answer, their sockets closed. */
  let leave = 0;
  /** Whether requests are left without an answer. */
  let silent = false;
  let options: Parameters<typeof openClickHouse>[0];
  const lines: string[] = [];
  let answer: { status: number; body: string; headers: Record<string, string> };

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const { searchParams: query } = new URL(request.url ?? '', 'http://h');
      seen.push({ query, body, account: request.headers.authorization });
      leave -= 1;
      if (leave >= 0) {
        request.socket.destroy();
        return;
      }
      if (silent) return;
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const note = (facts: LogFacts, message: string) => {
      lines.push(JSON.stringify(facts) + message);
    };
    const log: Log = { ...silentLog, warn: note, error: note, child: () => log };
    options = { url, database: 'pm', user: 'u', password: 'p', log };
    clickhouse = openClickHouse({ ...options, requestTimeoutMs: 300 });
  });

  beforeEach(() => {
    seen.length = 0;
    leave = 0;
    silent = false;
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
      'INSERT INTO fills (id, text, list) SETTINGS async_insert=0, ' +
        'deduplicate_blocks_in_dependent_materialized_views=1, ' +
        "insert_deduplication_token='fills:0:5-9' FORMAT JSONCompactEachRow",
    );
    expect(seen[0]?.body).toBe('["1","a\\"b",null]\n["2","c\'d",[1,2]]\n');
  });

  test('sends written rows as they are, under the same settings', async () => {
    const rows = ['1\t0.5\n', '2\t0.6\n3\t0.7\n'].map((piece) => Buffer.from(piece));
    await clickhouse.insertTabSeparated('fills', ['id', 'price'], rows, { token: 'fills:0:5-9' });
    expect(seen[0]?.query.get('query')).toBe(
      'INSERT INTO fills (id, price) SETTINGS async_insert=0, ' +
        'deduplicate_blocks_in_dependent_materialized_views=1, input_format_tsv_enum_as_number=1, ' +
        "insert_deduplication_token='fills:0:5-9' FORMAT TabSeparated",
    );
    expect(seen[0]?.body).toBe(rows.join(''));
  });

  test('sends nothing for no rows', async () => {
    await clickhouse.insertRows('fills', ['id'], []);
    await clickhouse.insertTabSeparated('fills', ['id'], [Buffer.alloc(0)]);
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

  test('binds values as the official client does', async () => {
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.double(), fc.integer());
    const params = fc.dictionary(
      fc.stringMatching(/^[a-z]\w{0,8}$/),
      fc.oneof(value, fc.boolean(), fc.constant(null), fc.array(value)),
    );
    await fc.assert(
      fc.asyncProperty(params, async (given) => {
        seen.length = 0;
        await clickhouse.command('SELECT 1', given);
        await clickhouse.selectRows('SELECT 1', given);
        const [official, own] = seen.map(({ query, account }) => {
          query.delete('query_id');
          query.sort();
          return { account, query: [...query] };
        });
        expect(own).toEqual(official);
      }),
      { numRuns: runLength({ test: 30, deep: 300 }) },
    );
  });

  test('keeps a row apart from the next one, whatever its texts hold', async () => {
    const rows = [{ a: 'x\ny,]\u2028"\\n' }, { a: '' }, {}, { a: ['\n', {}] }];
    answer.body = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    expect(await clickhouse.selectRows('SELECT a')).toEqual(rows);
  });

  test('asks once more when the server let go of an idle socket, and only then', async () => {
    await clickhouse.selectRows('SELECT 1');
    answer.body = '{"a":1}\n';
    leave = 1;
    expect(await clickhouse.selectRows('SELECT 2')).toEqual([{ a: 1 }]);
    expect(seen.map(({ body }) => body.at(7))).toEqual(['1', '2', '2']);
    leave = 2;
    const failed = { code: 'clickhouse_unavailable', reaction: 'retry' };
    await expect(clickhouse.selectRows('SELECT 3')).rejects.toMatchObject(failed);
    expect(seen).toHaveLength(5);
  });

  test('sends nothing again because it was closed', async () => {
    const other = openClickHouse({ ...options, requestTimeoutMs: 10_000 });
    await other.selectRows('SELECT 1');
    silent = true;
    const asked = other.selectRows('SELECT 2');
    while (seen.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    await other.close();
    await expect(asked).rejects.toMatchObject({ code: 'clickhouse_unavailable' });
    expect(seen).toHaveLength(2);
  });

  test('refuses the reads beyond its limit as busy', async () => {
    const reads = Array.from({ length: 1_011 }, () => clickhouse.selectRows('SELECT 1'));
    const answers = await Promise.allSettled(reads);
    const refused = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    // On a slow machine the server may lose some of these connections, which is no refusal by the limit.
    const busy = refused.filter(({ code }) => code !== 'clickhouse_unavailable');
    expect(busy).toMatchObject([{ code: 'clickhouse_busy', reaction: 'retry' }]);
    expect(await clickhouse.selectRows('SELECT 1')).toEqual([]);
  });

  test('never takes a part of an answer for the whole', async () => {
    const failed = { code: 'clickhouse_unavailable', reaction: 'retry' };
    answer = { status: 200, body: '{"a":1}\n', headers: { 'content-length': '1000' } };
    const cut = clickhouse.selectRows('SELECT 1');
    await expect(cut).rejects.toMatchObject(failed);
    answer = { status: 200, body: '{"a":1}\n{"a', headers: {} };
    await expect(clickhouse.selectRows('SELECT 1')).rejects.toMatchObject(failed);
    answer = { status: 502, body: '<html>bad gateway</html>', headers: {} };
    await expect(clickhouse.selectRows('SELECT 1')).rejects.toMatchObject(failed);
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

describe('reads of a silent server', () => {
  let server: Server;
  let clickhouse: ClickHouse;
  let asked = 0;

  beforeAll(async () => {
    server = createServer(() => {
      asked += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    clickhouse = openClickHouse({
      url,
      database: 'pm',
      user: 'u',
      password: 'p',
      log: silentLog,
      requestTimeoutMs: 400,
      maxConnections: 2,
      socketWaitMs: 50,
    });
  });

  afterAll(async () => {
    await clickhouse.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test('are refused when no socket comes free in time, and never add up', async () => {
    const order: string[] = [];
    const read = async () => {
      const fault = await clickhouse.selectRows('SELECT 1').catch((error: Fault) => error);
      order.push(Reflect.get(fault, 'code'));
    };
    await Promise.all(Array.from({ length: 50 }, read));
    const [busy, silent] = ['clickhouse_busy', 'clickhouse_unavailable'];
    expect(order).toEqual([...Array<string>(48).fill(busy), silent, silent]);
    expect(asked).toBe(2);
    await read();
    expect([order.at(-1), asked]).toEqual([silent, 3]);
  });
});

import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { type ClickHouse, openClickHouse, selectRowsMax } from '../../src/clickhouse/open.io.ts';
import { silentLog } from '../../src/log/index.ts';
import { engineUrl } from '../engines.ts';

const url = engineUrl('CLICKHOUSE');
const database = `kit_${randomUUID().replaceAll('-', '')}`;
const access = { url, user: 'default', password: '', log: silentLog };
let clickhouse: ClickHouse;

beforeAll(async () => {
  const server = openClickHouse({ ...access, database: 'default' });
  await server.command(`CREATE DATABASE ${database} ENGINE = Atomic`);
  await server.close();
  clickhouse = openClickHouse({ ...access, database });
  await clickhouse.command(
    `CREATE TABLE fills (id UInt64, price Decimal(18, 6), text String)
     ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 1000`,
  );
  await clickhouse.command(
    `CREATE TABLE legs (id UInt64) ENGINE = MergeTree ORDER BY id
     SETTINGS non_replicated_deduplication_window = 1000`,
  );
  await clickhouse.command(`CREATE MATERIALIZED VIEW to_legs TO legs AS SELECT id FROM fills`);
});

afterAll(async () => {
  await clickhouse.command(`DROP DATABASE ${database}`);
  await clickhouse.close();
});

const columns = ['id', 'price', 'text'];
const count = async (table: string) => {
  const rows = await clickhouse.selectRows<{ n: string }>(`SELECT count() AS n FROM ${table}`);
  return rows[0]?.n;
};

describe('clickhouse', () => {
  test('answers', async () => {
    expect(await clickhouse.ping()).toBe(true);
  });

  test('keeps every digit of 64-bit integers and decimals, and every character', async () => {
    const text = 'quote \' " \\ \n \u{1f600} \t';
    await clickhouse.insertRows('fills', columns, [['18446744073709551615', '0.570000', text]]);
    const sql = 'SELECT id, price, text FROM fills WHERE text = {text:String}';
    expect(await clickhouse.selectRows(sql, { text })).toEqual([
      { id: '18446744073709551615', price: '0.57', text },
    ]);
    await clickhouse.command('TRUNCATE TABLE fills');
    await clickhouse.command('TRUNCATE TABLE legs');
  });

  test('takes the same rows under the same token once, in the table and its view', async () => {
    const rows = Array.from({ length: 100 }, (_, id) => [id, '1', 'x']);
    for (let round = 0; round < 3; round += 1) {
      await clickhouse.insertRows('fills', columns, rows, { token: 'fills:0:0-100' });
    }
    expect([await count('fills'), await count('legs')]).toEqual(['100', '100']);
    await clickhouse.insertRows('fills', columns, rows, { token: 'fills:0:100-200' });
    expect(await count('fills')).toBe('200');
  });

  test('takes written rows once under their token too, and refuses them whole', async () => {
    const before = Number(await count('fills'));
    const rows = ['7000\t0.25\tx\n', '7001\t1\ty\n'].map((piece) => Buffer.from(piece));
    for (let round = 0; round < 2; round += 1)
      await clickhouse.insertTabSeparated('fills', columns, rows, { token: 'fills:0:7000-7002' });
    expect(Number(await count('fills'))).toBe(before + 2);
    const bad = [Buffer.from('7002\t0.25\tx\nseven\t1\ty\n')];
    await expect(clickhouse.insertTabSeparated('fills', columns, bad)).rejects.toMatchObject({
      code: 'clickhouse_bad_rows',
    });
    expect(Number(await count('fills'))).toBe(before + 2);
  });

  test('refuses a batch with one bad row whole, as rows to skip', async () => {
    const before = await count('fills');
    const rows = [
      [1_000, '1', 'good'],
      ['not a number', '1', 'bad'],
    ];
    await expect(clickhouse.insertRows('fills', columns, rows)).rejects.toMatchObject({
      code: 'clickhouse_bad_rows',
      reaction: 'skip',
    });
    expect(await count('fills')).toBe(before);
  });

  test('binds what looks like SQL as a value', async () => {
    const evil = "x' OR 1=1; DROP TABLE fills --";
    const sql = 'SELECT count() AS n FROM fills WHERE text = {text:String}';
    expect(await clickhouse.selectRows(sql, { text: evil })).toEqual([{ n: '0' }]);
  });

  test('stops at unknown tables and at bad syntax', async () => {
    const refused = (number: number) => ({ code: 'clickhouse_refused', facts: { number } });
    await expect(clickhouse.selectRows('SELECT 1 FROM nowhere')).rejects.toMatchObject(refused(60));
    await expect(clickhouse.command('SELEC 1')).rejects.toMatchObject(refused(62));
    const insert = clickhouse.insertRows('nowhere', ['a'], [['1']]);
    await expect(insert).rejects.toMatchObject(refused(60));
  });

  test('copies an answer longer than any that it would hold, byte for byte', async () => {
    let bytes = 0;
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        done();
      },
    });
    const sql = 'SELECT 1000000 + number FROM numbers({n:UInt32}) FORMAT TSV';
    await clickhouse.copyTo(sink, sql, { n: selectRowsMax + 1 });
    expect([bytes, sink.writableFinished]).toEqual([(selectRowsMax + 1) * 8, true]);
  });

  test('distinguishes a failed copy from a failed sink', async () => {
    const open = () => new Writable({ write: (_chunk, _encoding, done) => done() });
    const full = new Error('disk full');
    const broken = new Writable({ write: (_chunk, _encoding, done) => done(full) });
    const sql = 'SELECT throwIf(number = 200000) AS t FROM numbers(300000) FORMAT TSV';
    for (const bad of [sql, 'SELEC 1']) {
      const sink = open();
      await expect(clickhouse.copyTo(sink, bad)).rejects.toMatchObject({
        code: 'clickhouse_refused',
      });
      expect(sink.destroyed).toBe(true);
    }
    await expect(clickhouse.copyTo(broken, 'SELECT 1 FORMAT TSV')).rejects.toBe(full);
  });

  test('has an error after the first rows answered as an error', async () => {
    const sql = 'SELECT throwIf(number = 200000) AS t FROM numbers(300000)';
    await expect(clickhouse.selectRows(sql)).rejects.toMatchObject({ code: 'clickhouse_refused' });
  });
});

import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import { columnNames, createTableSql } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { workedQueries } from '@pm/schemas/tables/worked-queries';
import { engineUrl } from '../../../kit/test/engines.ts';
import { TableViews } from '../../src/views/table-views.ts';
import { TinyExchange } from '../log.ts';

/** The positions folded record by record are those that a query folds from the ledger, to the micro-unit. */
const name = `projectors_ledger_pnl_${process.pid}`;
const open = (database: string) =>
  openClickHouse({
    url: engineUrl('CLICKHOUSE'),
    database,
    user: 'default',
    password: '',
    log: silentLog,
  });
let clickhouse: ClickHouse;

beforeAll(async () => {
  const server = open('default');
  await server.command(`CREATE DATABASE ${name} ENGINE = Atomic`);
  await server.close();
  clickhouse = open(name);
  const used = [tables.positions, tables.walletFills, tables.walletMoves];
  for (const table of used) await clickhouse.command(createTableSql(table, name));
  const views = new TableViews(0, { positions: [], candles: [] });
  for (const record of new TinyExchange(31).records(600)) views.fold(record, record.timeMs);
  // Everything twice: a repeated row counts once.
  for (const { table, pieces } of views.take())
    for (let turn = 0; turn < 2 && used.some((one) => one === table); turn += 1)
      await clickhouse.insertTabSeparated(table.name, columnNames(table), pieces);
}, 120_000);

afterAll(async () => {
  await clickhouse.command(`DROP DATABASE ${name}`);
  await clickhouse.close();
}, 30_000);

it('positions of every wallet follow from the ledger alone', async () => {
  const sql = workedQueries.find((query) => query.name === 'ledgerPnl')?.sql ?? '';
  const wallets = await clickhouse.selectRows<{ wallet: string }>(
    `SELECT DISTINCT wallet FROM ${tables.positions.name} ORDER BY wallet`,
  );
  expect(wallets).toHaveLength(8);
  for (const { wallet } of wallets) {
    const stored = await clickhouse.selectRows(
      `SELECT market, outcome, reinterpretAsInt64(size) AS size_micro, reinterpretAsInt64(cost) AS cost_micro,
         reinterpretAsInt64(total_bought) AS bought_micro, reinterpretAsInt64(realized_pnl) AS realized_micro
       FROM ${tables.positions.name} FINAL WHERE wallet = {wallet:String} ORDER BY market, outcome`,
      { wallet },
    );
    expect(await clickhouse.selectRows(sql, { wallet })).toEqual(stored);
  }
}, 120_000);

import { anyTrade } from '@pm/domain/orders/trades';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { Collateral } from '../../src/positions/collateral.io.ts';
import { OwnRecords } from '../../src/recent/own-reads.io.ts';
import { RecentLog } from '../../src/recent/recent-log.ts';
import { apiKey, wallet } from '../in-memory.ts';

/** Tables that have nothing, which is old. */
const clickhouse = { selectRows: async () => [] } as unknown as Pick<ClickHouse, 'selectRows'>;

function ownRecords(isSettled: boolean): OwnRecords {
  return new OwnRecords({ clickhouse, recent: new RecentLog(), settle: async () => isSettled });
}

const [wallets, keys] = [[wallet(1)], new Set([apiKey(1)])];
const page = { after: null, limit: 10 };
const viewer = { wallets: new Set<string>(wallets), keys };

const reads: readonly (readonly [string, (own: OwnRecords) => Promise<readonly unknown[]>])[] = [
  ['orders by id', (own) => own.orderEvents([`0x${'1'.repeat(64)}`])],
  [
    'trades',
    async (own) =>
      (await own.trades({ ...viewer, query: anyTrade, market: null, outcome: null, ...page })).rows,
  ],
  [
    'open orders',
    async (own) => {
      const search = { wallets, keys, ...page, orderId: null, market: null, outcome: null };
      return (await own.openOrders(search)).rows;
    },
  ],
  ['cancels', (own) => own.cancels({ wallets, keys, sinceMs: 0, limit: 10 })],
  ['markets', (own) => own.marketsOf(wallets)],
  ['holdings', (own) => own.holdings({ wallets, market: null })],
];

test.each(reads)('own %s are as of the request, or refused for now', async (_name, read) => {
  expect(await read(ownRecords(true))).toEqual([]);
  await expect(read(ownRecords(false))).rejects.toMatchObject({
    code: 'newest_records_behind',
    reaction: 'retry',
  });
});

test('money is as of the request, or refused for now', async () => {
  const money = { freeMicro: 5, heldMicro: 0, pendingMicro: 0, availableMicro: 5 };
  const state = { ready: true, generation: 1 };
  const ledger = { balance: async () => money, state: async () => state };
  const collateralOf = (isSettled: boolean) =>
    new Collateral(ledger, { settle: async () => isSettled });
  expect(await collateralOf(true).balance(wallet(1))).toEqual(money);
  await expect(collateralOf(false).balance(wallet(1))).rejects.toMatchObject({
    code: 'newest_records_behind',
  });
});

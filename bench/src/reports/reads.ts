import type { Market } from '@pm/domain/markets/market';
import { ReadRefusal } from '@pm/domain/reading/refusal';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { planHistory } from '@pm/query-api/history/history-plan';
import { WalletPositions } from '@pm/query-api/positions/wallet-positions.io';
import { readBuilderQuery } from '@pm/query-api/reports/builder-trades';
import { Reports } from '@pm/query-api/reports/reports.io';
import { TableReads } from '@pm/query-api/tables/tables.io';
import { parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import { makersMade, walletOf, walletsMade } from './generated.ts';
import { leaderboardReads } from './leaderboard-reads.ts';
import type { Read } from './read.ts';

/** Markets that reads ask for are among so many of the busiest. */
const busyMarkets = 500;

function walletAt(rank: number): WalletAddress {
  const wallet = parseWalletAddress(walletOf(rank));
  if (wallet === null) throw new RangeError(`no wallet has the rank ${rank}`);
  return wallet;
}

/** The measured reads, by name; the same requests for every history. */
export function readsOf(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  markets: readonly Market[],
  nowMs: number,
): ReadonlyMap<string, Read> {
  const tables = new TableReads(clickhouse);
  const positions = new WalletPositions({ clickhouse });
  const reports = new Reports(clickhouse, { nowMs: () => nowMs, monotonicMs: () => nowMs });
  const some = (index: number, count: number) =>
    Array.from(
      { length: count },
      (_, at) => markets[(index * 17 + at * 3) % busyMarkets] ?? markets[0],
    ).flatMap((market) => market ?? []);
  const plan = planHistory(
    { interval: '1d', startS: null, endS: null, fidelity: null },
    { nowS: nowMs / 1000, firstS: 0 },
  );
  const builders = readBuilderQuery({});
  if (plan instanceof ReadRefusal || builders instanceof ReadRefusal)
    throw new RangeError('a query');
  const ordinary = (index: number) => walletAt(Math.floor(walletsMade / 2) + index);
  const busiest = (index: number) => walletAt(1 + (index % makersMade));
  type Rows = readonly unknown[];
  const lines = async (rows: Rows | Promise<Rows>): Promise<number> => (await rows).length;
  const plain = (run: Read['run']): Read => ({ run });
  return new Map<string, Read>([
    ['/positions, ordinary wallet', plain((index) => lines(positions.open(ordinary(index), null)))],
    ['/positions, heaviest wallets', plain((index) => lines(positions.open(busiest(index), null)))],
    [
      '/holders of 20 markets',
      plain((index) =>
        lines(tables.holders(some(index, 20), { limit: 100, minBalanceMicro: 1_000_000 })),
      ),
    ],
    ...leaderboardReads(clickhouse, nowMs, { ordinary, busiest }),
    [
      '/prices-history of a day',
      plain(async (index) => {
        const listings = some(index, 1).map((market) => ({
          market,
          outcome: 0 as const,
          token: market.tokens[0],
        }));
        const facts = await tables.prices(listings, plan);
        return facts.reduce((sum, { midpoints }) => sum + midpoints.length, 0);
      }),
    ],
    [
      '/builder/trades',
      plain(() =>
        lines(
          reports.builderTrades({
            query: builders,
            market: null,
            outcome: null,
            after: null,
            limit: 101,
          }),
        ),
      ),
    ],
  ]);
}

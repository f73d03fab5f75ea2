import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import { walletFromBytes } from '@pm/schemas/ids';
import type { Execution } from '@pm/schemas/log/executions';
import { columnNames, createTableSql } from '@pm/schemas/tables/create-table';
import {
  type LeaderboardPeriod,
  leaderboardColumn,
  leaderboardPeriods,
  leaderboardTables,
} from '@pm/schemas/tables/leaderboard-tables';
import { tables } from '@pm/schemas/tables/tables';
import { engineUrl } from '../../../kit/test/engines.ts';
import {
  computeLeaderboards,
  dropOldLeaderboards,
  newestLeaderboard,
} from '../../src/views/leaderboard/leaderboards.io.ts';
import { TableViews } from '../../src/views/table-views.ts';
import { appendedMs, executionOf, TinyExchange } from '../log.ts';

/** The leaderboards of real tables against a recomputation from the raw events only. */
const url = engineUrl('CLICKHOUSE');
const open = (database: string) =>
  openClickHouse({ url, database, user: 'default', password: '', log: silentLog });

const startMs = Date.UTC(2026, 2, 1);
const stepMs = 4 * 3_600_000;
const spread = (records: readonly Execution[]): readonly Execution[] =>
  records.map((record, index) => executionOf(index, record.events, startMs + index * stepMs));
const masks = [
  [1, 0b0011],
  [2, 0b0101],
] as const;
/** So few that the wallets of the test are taken in many slices. */
const positionsAtOnce = 1;
const maskOf = (market: number) => masks.find(([one]) => one === market)?.[1] ?? 1;

interface Leg {
  readonly timeMs: number;
  readonly wallet: string;
  readonly market: number;
  readonly outcome: number;
  readonly sizeMicro: bigint;
  readonly cashMicro: bigint;
  readonly isTrade: boolean;
}

function legsOf(records: readonly Execution[]): readonly Leg[] {
  const payouts = new Map<number, number>();
  return records.flatMap(({ events, timeMs }) =>
    events.flatMap((event): readonly Leg[] => {
      if (event.kind === 'MarketResolved') payouts.set(event.market, event.payout0);
      if (event.kind === 'Fill') {
        const { market, sizeMicro: size } = event;
        const leg = (wallet: Buffer, outcome: number, side: string, price: number): Leg => {
          const sign = side === 'BUY' ? 1n : -1n;
          const value = (BigInt(size) * BigInt(price)) / 10_000n;
          const flow = { sizeMicro: sign * BigInt(size), cashMicro: -sign * value };
          return {
            timeMs,
            wallet: walletFromBytes(wallet),
            market,
            outcome,
            ...flow,
            isTrade: true,
          };
        };
        return [
          leg(event.taker, event.takerOutcome, event.takerSide, event.takerPrice),
          leg(event.maker, event.makerOutcome, event.makerSide, event.makerPrice),
        ];
      }
      if (event.kind !== 'PositionMoved') return [];
      const payout0 = event.action === 'REDEEM' ? (payouts.get(event.market) ?? 0) : 5_000;
      return [event.token0Micro, event.token1Micro].map((size, outcome) => ({
        timeMs,
        wallet: walletFromBytes(event.wallet),
        market: event.market,
        outcome,
        sizeMicro: BigInt(size),
        cashMicro: (-BigInt(size) * BigInt(outcome === 0 ? payout0 : 10_000 - payout0)) / 10_000n,
        isTrade: false,
      }));
    }),
  );
}

/** Price of token 0 at a moment, micro-USDC: the payout, or the displayed price (definitions.md). */
function priceBefore(records: readonly Execution[], market: number, beforeMs: number): bigint {
  const past = records.filter(({ timeMs }) => timeMs < beforeMs);
  const events = past.flatMap((record) => record.events);
  const payouts = events.flatMap((event) =>
    event.kind === 'MarketResolved' && event.market === market ? [event.payout0 * 100] : [],
  );
  const tops = events.flatMap((event) =>
    event.kind === 'TopChanged' && event.market === market ? [event] : [],
  );
  const { bid, ask } = tops.at(-1) ?? { bid: 0, ask: 0 };
  const best = ask === 0 ? 10_000 : ask;
  const trade = past.flatMap((record) => lastTrade(record, market) ?? []).at(-1);
  const shown = best - bid > 1_000 && trade !== undefined ? trade : (bid + best) * 50;
  return BigInt(payouts.at(-1) ?? shown);
}

/** In one record the last trade of token 1 counts, otherwise that of token 0. */
function lastTrade({ events }: Execution, market: number): number | undefined {
  const own = events.flatMap((event) =>
    event.kind === 'Fill' && event.market === market
      ? [
          { outcome: event.takerOutcome, price: event.takerPrice },
          { outcome: event.makerOutcome, price: event.makerPrice },
        ]
      : [],
  );
  const last = own.filter(({ outcome }) => outcome === 1).at(-1) ?? own.at(-1);
  if (last === undefined) return undefined;
  return (last.outcome === 0 ? last.price : 10_000 - last.price) * 100;
}

/** `period:category:wallet` to volume and profit in micro-USDC. */
function naive(records: readonly Execution[], nowMs: number): Map<string, [bigint, bigint]> {
  const minuteMs = Math.floor(nowMs / 60_000) * 60_000;
  const boards = Object.entries(leaderboardPeriods).flatMap(([period, seconds]) => {
    const sinceMs = seconds === null ? 0 : minuteMs - seconds * 1_000;
    return Array.from({ length: 10 }, (_, category) => ({ period, sinceMs, category }));
  });
  const legs = legsOf(records);
  return new Map(
    boards.flatMap(({ period, sinceMs, category }) => {
      const own = legs.filter(({ market }) => (maskOf(market) & (1 << category)) !== 0);
      const wallets = [...new Set(own.map(({ wallet }) => wallet))];
      return wallets.flatMap((wallet): [string, [bigint, bigint]][] => {
        const mine = own.filter((leg) => leg.wallet === wallet);
        const vol = volumeSince(mine, sinceMs);
        const end = profitAt(records, mine, Number.POSITIVE_INFINITY);
        const pnl = (end - profitAt(records, mine, sinceMs)) / 1_000_000n;
        return vol === 0n && pnl === 0n ? [] : [[`${period}:${category}:${wallet}`, [vol, pnl]]];
      });
    }),
  );
}

function volumeSince(legs: readonly Leg[], sinceMs: number): bigint {
  const values = legs
    .filter(({ timeMs, isTrade }) => isTrade && timeMs >= sinceMs)
    .map(({ cashMicro }) => (cashMicro < 0n ? -cashMicro : cashMicro));
  return values.reduce((sum, value) => sum + value, 0n);
}

/** P(t) in 10^-12 USDC: the money so far, and the positions at the price of that time. */
function profitAt(records: readonly Execution[], legs: readonly Leg[], atMs: number): bigint {
  const prices = new Map<number, bigint>();
  let pico = 0n;
  for (const { timeMs, market, outcome, sizeMicro, cashMicro } of legs) {
    if (timeMs >= atMs) continue;
    const first = prices.get(market) ?? priceBefore(records, market, atMs);
    prices.set(market, first);
    pico += cashMicro * 1_000_000n + sizeMicro * (outcome === 0 ? first : 1_000_000n - first);
  }
  return pico;
}

interface Row {
  readonly period: LeaderboardPeriod;
  readonly category: number;
  readonly wallet: string;
  readonly vol_micro: string;
  readonly pnl_micro: string;
}

interface Place extends Row {
  readonly board: 'VOL' | 'PNL';
  readonly place: number;
  readonly rank: number;
}

describe('leaderboards', () => {
  const name = `projectors_board_${process.pid}`;
  let clickhouse: ClickHouse;

  beforeAll(async () => {
    const server = open('default');
    await server.command(`CREATE DATABASE ${name} ENGINE = Atomic`);
    await server.close();
    clickhouse = open(name);
    for (const table of Object.values({ ...tables, ...leaderboardTables }))
      await clickhouse.command(createTableSql(table, name));
  }, 60_000);

  afterAll(async () => {
    await clickhouse.command(`DROP DATABASE ${name}`);
    await clickhouse.close();
  });

  const newest = `snapshot = (SELECT max(snapshot) FROM ${leaderboardTables.runs.name})`;
  const listed = async (): Promise<readonly Row[]> => {
    const rows = await clickhouse.selectRows<Record<string, string> & { category: number }>(
      `SELECT * FROM ${leaderboardTables.wallets.name} WHERE ${newest}`,
    );
    const periods = Object.keys(leaderboardPeriods) as LeaderboardPeriod[];
    return rows.flatMap((row) =>
      periods.flatMap((period) => {
        const [vol_micro = '', pnl_micro = ''] = (['vol', 'pnl'] as const).map(
          (figure) => row[leaderboardColumn(figure, period)],
        );
        const { category, wallet = '' } = row;
        const isListed = vol_micro !== '0' || pnl_micro !== '0';
        return isListed ? [{ period, category, wallet, vol_micro, pnl_micro }] : [];
      }),
    );
  };

  it('agree with raw fills in every period and category, and rank like competitions', async () => {
    const records = spread(new TinyExchange(5).records(300));
    const views = new TableViews(0, { positions: [], candles: [] });
    for (const [index, record] of records.entries()) {
      views.fold(record, appendedMs(record));
      if (index % 50 !== 49) continue;
      for (const { table, pieces } of views.take())
        await clickhouse.insertTabSeparated(table.name, columnNames(table), pieces);
    }
    const nowMs = startMs + 300 * stepMs + 12_345;
    await computeLeaderboards(clickhouse, masks, { nowMs, positionsAtOnce });
    expect(await newestLeaderboard(clickhouse)).toBe(nowMs);
    const rows = await listed();
    const expected = naive(records, nowMs);
    const seen = new Map(
      rows.map((row) => [
        `${row.period}:${row.category}:${row.wallet}`,
        [BigInt(row.vol_micro), BigInt(row.pnl_micro)],
      ]),
    );
    expect(seen).toEqual(expected);
    const places = await clickhouse.selectRows<Place>(
      `SELECT * FROM ${leaderboardTables.tops.name} WHERE ${newest}`,
    );
    expect(places.length).toBe(rows.length * 2);
    for (const one of places) {
      const figure = one.board === 'VOL' ? 'vol_micro' : 'pnl_micro';
      const peers = rows.filter(
        ({ period, category }) => period === one.period && category === one.category,
      );
      const better = peers.filter((row) => BigInt(row[figure]) > BigInt(one[figure]));
      const before = peers.filter((row) => row[figure] === one[figure] && row.wallet < one.wallet);
      expect(one.rank).toBe(better.length + 1);
      expect(one.place).toBe(better.length + before.length + 1);
    }
  }, 120_000);

  it('are replaced as a whole, and old ones are dropped', async () => {
    const before = await newestLeaderboard(clickhouse);
    for (const turn of [1, 2, 3])
      await computeLeaderboards(clickhouse, masks, { nowMs: before + turn });
    await dropOldLeaderboards(clickhouse);
    const left = await clickhouse.selectRows<{ snapshot: string }>(
      `SELECT DISTINCT toString(snapshot) AS snapshot FROM ${leaderboardTables.tops.name} ORDER BY snapshot`,
    );
    expect(left.map(({ snapshot }) => Number(snapshot))).toEqual([before + 2, before + 3]);
  }, 120_000);
});

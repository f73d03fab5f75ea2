import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clickhouseServer } from '@pm/deploy/local/clickhouse-server';
import { holdFreePorts } from '@pm/deploy/local/ports';
import { startProcesses } from '@pm/deploy/local/supervisor';
import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import { computeLeaderboards } from '@pm/projectors/leaderboards';
import { Catalog } from '@pm/query-api/core/catalog';
import { planHistory } from '@pm/query-api/core/history-plan';
import { ReadRefusal } from '@pm/query-api/core/refusal';
import { readBuilderQuery } from '@pm/query-api/core/reports/builder-trades';
import { openReports } from '@pm/query-api/reports';
import { openTables } from '@pm/query-api/tables';
import { parseWalletAddress, type WalletAddress } from '@pm/schemas';
import { catalogCodec, catalogRecords } from './catalog/made-up.ts';
import { readArguments } from './report/arguments.ts';
import { msText, quantile, ratioText } from './report/numbers.ts';
import { publish } from './report/report.ts';
import { fillTables, marketsMade, walletOf, walletsMade } from './reports/generated.ts';

/** `npm run bench:reports`: reads of public reports over a small and a large generated history, in turn. */
const given = readArguments({
  small: { default: 1_000_000, min: 1_000, max: 100_000_000 },
  large: { default: 10_000_000, min: 1_000, max: 100_000_000 },
  requests: { default: 100, min: 5, max: 10_000 },
});
const sizes = [given.number('small'), given.number('large')] as const;
const requests = given.number('requests');
const fillTimeoutMs = 1_800_000;

type Read = (index: number) => Promise<unknown>;

const catalog = new Catalog();
const codec = catalogCodec();
for (const record of catalogRecords(marketsMade, 7)) catalog.apply(codec.decode(record));
const markets = [...catalog.markets()];

function walletAt(rank: number): WalletAddress {
  const wallet = parseWalletAddress(walletOf(rank));
  if (wallet === null) throw new RangeError(`no wallet has the rank ${rank}`);
  return wallet;
}

/** What is measured, by name. `index` spreads requests over wallets and markets, the same for both histories. */
function readsOf(clickhouse: ClickHouse, nowMs: number): ReadonlyMap<string, Read> {
  const tables = openTables(clickhouse);
  const reports = openReports(clickhouse, () => nowMs);
  const some = (index: number, count: number) =>
    Array.from(
      { length: count },
      (_, at) => markets[(index * 17 + at * 3) % 500] ?? markets[0],
    ).flatMap((market) => market ?? []);
  const plan = planHistory(
    { interval: '1d', startS: null, endS: null, fidelity: null },
    nowMs / 1000,
  );
  const builders = readBuilderQuery({});
  if (plan instanceof ReadRefusal || builders instanceof ReadRefusal)
    throw new RangeError('a query');
  const board = { category: 0, period: 'WEEK', orderBy: 'PNL', limit: 25 } as const;
  const ordinary = (index: number) => walletAt(Math.floor(walletsMade / 2) + index);
  return new Map<string, Read>([
    ['/positions, ordinary wallet', (index) => tables.positions(ordinary(index), null)],
    ['/positions, heaviest wallets', (index) => tables.positions(walletAt(1 + (index % 20)), null)],
    [
      '/holders of 20 markets',
      (index) => tables.holders(some(index, 20), { limit: 100, minBalanceMicro: 1_000_000 }),
    ],
    [
      '/v1/leaderboard, a page',
      (index) => reports.leaderboard({ ...board, offset: (index * 25) % 1_000, wallets: null }),
    ],
    [
      '/v1/leaderboard, a wallet',
      (index) => reports.leaderboard({ ...board, offset: 0, wallets: [ordinary(index)] }),
    ],
    [
      '/prices-history of a day',
      (index) =>
        tables.prices(
          some(index, 1).map((market) => ({ market, outcome: 0, token: market.tokens[0] })),
          plan,
        ),
    ],
    [
      '/builder/trades',
      (index) =>
        reports.builderTrades({
          query: { ...builders, offset: (index % 5) * 100 },
          market: null,
          outcome: null,
          limit: 101,
        }),
    ],
  ]);
}

interface History {
  readonly fills: number;
  readonly reads: ReadonlyMap<string, Read>;
  readonly computeMs: number;
  close(): Promise<void>;
}

async function openHistory(url: string, name: string, fills: number): Promise<History> {
  const account = { url, user: 'default', password: '', log: silentLog };
  const server = openClickHouse({ ...account, database: 'default' });
  await server.command(`CREATE DATABASE ${name} ENGINE = Atomic`);
  await server.close();
  const clickhouse = openClickHouse({
    ...account,
    database: name,
    requestTimeoutMs: fillTimeoutMs,
  });
  const nowMs = Math.floor(Date.now() / 60_000) * 60_000;
  console.error(`${name}: generating ${fills} fills`);
  await fillTables(clickhouse, name, { fills, nowS: nowMs / 1000 });
  const startedMs = performance.now();
  await computeLeaderboards(
    clickhouse,
    markets.map(({ market }) => [market, 1 | (1 << (1 + (market % 9)))] as const),
    nowMs,
  );
  const computeMs = performance.now() - startedMs;
  return { fills, reads: readsOf(clickhouse, nowMs), computeMs, close: () => clickhouse.close() };
}

/** Milliseconds of each request, one after the other, in turn over both histories. */
async function measure(histories: readonly History[], name: string): Promise<number[][]> {
  const samples: number[][] = histories.map(() => []);
  for (let index = -3; index < requests; index += 1) {
    for (const [at, { reads }] of histories.entries()) {
      const startedMs = performance.now();
      await reads.get(name)?.(Math.abs(index));
      if (index >= 0) samples[at]?.push(performance.now() - startedMs);
    }
  }
  return samples;
}

const dataDir = mkdtempSync(join(tmpdir(), 'pm-bench-reports-'));
const held = await holdFreePorts(1);
const [port = 0] = held.ports;
await held.release();
const engines = await startProcesses({ dataDir, progress: (line) => console.error(line) }, [
  clickhouseServer({ dataDir, logDir: join(dataDir, 'logs'), port }),
]);
try {
  const url = `http://127.0.0.1:${port}`;
  const small = await openHistory(url, 'small', sizes[0]);
  const large = await openHistory(url, 'large', sizes[1]);
  const found = new Map<string, number[][]>();
  for (const name of small.reads.keys()) found.set(name, await measure([small, large], name));
  publishReports(found, [small, large]);
  for (const history of [small, large]) await history.close();
} finally {
  await engines.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

function publishReports(
  found: ReadonlyMap<string, number[][]>,
  histories: readonly History[],
): void {
  const rows = [...found].map(([name, [one = [], other = []]]) => {
    const [before, after] = [quantile(one, 0.5), quantile(other, 0.5)];
    return {
      name,
      cells: [
        name,
        `${msText(before)} / ${msText(quantile(one, 0.99))}`,
        `${msText(after)} / ${msText(quantile(other, 0.99))}`,
        ratioText(after / before),
        ratioText(quantile(other, 0.99) / quantile(one, 0.99)),
      ],
    };
  });
  const [small, large] = sizes.map((fills) => fills.toLocaleString('en'));
  publish(
    {
      name: 'reports',
      title: `Public reports over ${small} and ${large} fills`,
      conditions: [
        `Tables filled by INSERT SELECT: ${walletsMade} wallets and ${marketsMade} markets of which few have most, 90 days, two fifths of the fills with one of 50 builders; per fill 0.7 positions and 0.9 minutes with a midpoint.`,
        `The sources of query-api against the embedded ClickHouse behind its local front; one request at a time, ${requests} of each kind in turn over both histories, three before to warm up. No HTTP door, no prices from Redis, no JSON.`,
      ],
      tables: [
        {
          title: 'Milliseconds, p50 / p99 (target: growth at most 2, leaderboard at most 15 ms)',
          head: ['read', small ?? '', large ?? '', 'growth of p50', 'growth of p99'],
          rows: rows.map(({ cells }) => cells),
        },
      ],
      notes: histories.map(
        ({ fills, computeMs }) =>
          `All leaderboards over ${fills.toLocaleString('en')} fills, computed and ranked anew: ${msText(computeMs)} ms.`,
      ),
      figures: Object.fromEntries(found),
    },
    given,
  );
}

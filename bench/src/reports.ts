import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clickhouseServer } from '@pm/deploy/local/engines/clickhouse-server';
import { holdFreePorts } from '@pm/deploy/local/ports';
import { type Supervisor, startProcesses } from '@pm/deploy/local/supervisor';
import { Catalog } from '@pm/domain/markets/catalog';
import { openClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import { computeLeaderboards } from '@pm/projectors/leaderboards';
import { tables } from '@pm/schemas/tables/tables';
import { catalogCodec, catalogRecords } from './catalog/made-up.ts';
import { readArguments } from './report/arguments.ts';
import { mebibytesText, msText, quantile, ratioText } from './report/numbers.ts';
import { publish } from './report/report.ts';
import { type CountedReads, countedReads } from './reports/counted-reads.ts';
import { fillTables, makersMade, marketsMade, walletsMade } from './reports/generated.ts';
import type { Read } from './reports/read.ts';
import { readsOf } from './reports/reads.ts';

/** `npm run bench:reports`: reads of public reports over a small and a large generated history, in turn. */
const given = readArguments({
  small: { default: 1_000_000, min: 10_000, max: 100_000_000 },
  large: { default: 10_000_000, min: 10_000, max: 100_000_000 },
  requests: { default: 200, min: 5, max: 10_000 },
});
const sizes = [given.number('small'), given.number('large')] as const;
const requests = given.number('requests');
/** Requests of each kind that are counted: a count needs no repetition. */
const countedRequests = Math.min(requests, 20);
const fillTimeoutMs = 1_800_000;
const startedMs = performance.now();

const catalog = new Catalog();
const codec = catalogCodec();
for (const record of catalogRecords(marketsMade, 7)) catalog.apply(codec.decode(record));
const markets = [...catalog.markets()];

function tell(line: string): void {
  console.error(`${((performance.now() - startedMs) / 1_000).toFixed(0).padStart(4)} s  ${line}`);
}

/** One computation of all leaderboards. */
interface Computation {
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Peak memory of the engine meanwhile, bytes. */
  readonly peakBytes: number;
}

interface History {
  readonly fills: number;
  readonly positions: number;
  readonly reads: ReadonlyMap<string, Read>;
  /** Reads equal to `reads`, counted by the server. */
  readonly counted: ReadonlyMap<string, Read>;
  readonly counts: CountedReads;
  readonly computation: Computation;
  close(): Promise<void>;
}

/** Processor time of the engine so far. */
function usage(engines: Supervisor): { readonly cpuSeconds: number; readonly rssBytes: number } {
  const [status] = engines.status();
  return status ?? { cpuSeconds: 0, rssBytes: 0 };
}

async function compute(engines: Supervisor, work: () => Promise<void>): Promise<Computation> {
  const [beforeMs, before] = [performance.now(), usage(engines).cpuSeconds];
  let peakBytes = 0;
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, usage(engines).rssBytes);
  }, 200);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  const cpuMs = (usage(engines).cpuSeconds - before) * 1_000;
  return { wallMs: performance.now() - beforeMs, cpuMs, peakBytes };
}

async function openHistory(
  engines: Supervisor,
  url: string,
  { name, fills }: { readonly name: string; readonly fills: number },
): Promise<History> {
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
  const progress = (line: string): void => tell(`${name}: ${line}`);
  await fillTables(clickhouse, name, { fills, nowS: nowMs / 1000, progress });
  progress('computing leaderboards');
  const masks = markets.map(({ market }) => [market, 1 | (1 << (1 + (market % 9)))] as const);
  const computation = await compute(engines, () =>
    computeLeaderboards(clickhouse, masks, { nowMs }),
  );
  const counts = countedReads(url, name);
  const reads = readsOf(clickhouse, markets, nowMs);
  const counted = readsOf(counts, markets, nowMs);
  const [held] = await clickhouse.selectRows<{ readonly positions: string }>(
    `SELECT toString(uniqCombined64(wallet, market, outcome)) AS positions FROM ${tables.positions.name}`,
  );
  const positions = Number(held?.positions ?? 0);
  const close = () => clickhouse.close();
  return { fills, positions, reads, counted, counts, computation, close };
}

/** Times of one read over one history, by request. */
interface Samples {
  readonly ms: number[];
  /** Rows the server read. */
  readonly rows: number[];
  /** Rows of the response. */
  readonly answers: number[];
}

/** One request after the other, in turn over both histories; three before, which do not count. */
async function measure(histories: readonly History[], name: string): Promise<readonly Samples[]> {
  tell(`reading ${name}`);
  const samples = histories.map((): Samples => ({ ms: [], rows: [], answers: [] }));
  for (let index = -3; index < requests; index += 1)
    for (const [at, { reads }] of histories.entries()) {
      const read = reads.get(name);
      await read?.prepare?.();
      const beforeMs = performance.now();
      await read?.run(Math.abs(index));
      if (index >= 0) samples[at]?.ms.push(performance.now() - beforeMs);
    }
  for (let index = 0; index < countedRequests; index += 1)
    for (const [at, { counted, counts }] of histories.entries()) {
      const read = counted.get(name);
      await read?.prepare?.();
      counts.take();
      const answer = await read?.run(index);
      samples[at]?.answers.push(answer ?? 0);
      samples[at]?.rows.push(counts.take().rows);
    }
  return samples;
}

const dataDir = mkdtempSync(join(tmpdir(), 'pm-bench-reports-'));
const held = await holdFreePorts(1);
const [port = 0] = held.ports;
await held.release();
const engines = await startProcesses({ dataDir, progress: tell }, [
  clickhouseServer({ dataDir, logDir: join(dataDir, 'logs'), port, passwordFiles: null }),
]);
try {
  const url = `http://127.0.0.1:${port}`;
  const small = await openHistory(engines, url, { name: 'small', fills: sizes[0] });
  const large = await openHistory(engines, url, { name: 'large', fills: sizes[1] });
  const found = new Map<string, readonly Samples[]>();
  for (const name of small.reads.keys()) found.set(name, await measure([small, large], name));
  publishReports(found, [small, large]);
  for (const history of [small, large]) await history.close();
} finally {
  await engines.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

function publishReports(
  found: ReadonlyMap<string, readonly Samples[]>,
  histories: readonly History[],
): void {
  const none: Samples = { ms: [], rows: [], answers: [] };
  const entries = [...found].map(([name, [small = none, large = none]]) => ({
    name,
    small,
    large,
  }));
  const times = ({ ms }: Samples) => `${msText(quantile(ms, 0.5))} / ${msText(quantile(ms, 0.99))}`;
  const growth = (small: readonly number[], large: readonly number[], q: number) =>
    ratioText(quantile(large, q) / quantile(small, q));
  const count = (numbers: readonly number[]) => quantile(numbers, 0.5).toLocaleString('en');
  const [small = '', large = ''] = sizes.map((fills) => `${fills.toLocaleString('en')} fills`);
  publish(
    {
      name: 'reports',
      title: `Public reports over ${sizes[0].toLocaleString('en')} and ${sizes[1].toLocaleString('en')} fills`,
      conditions: [
        `Tables as projectors write them, by INSERT SELECT: ${marketsMade} markets of which few have most fills, each with a crowd of its own (30 to 12,000 of ${walletsMade} wallets); ${makersMade} makers quote in all markets and stand in half of the fills, and those are the heaviest wallets; 90 days; two fifths of the fills with one of 50 builders. Both histories have the same wallets, markets and days, and come to ${histories.map(({ positions }) => `${(positions / 1e6).toFixed(1)} M`).join(' and ')} positions.`,
        'The bulk is merged as the engine does by itself, positions and holders into one part as their setting makes of what is an hour old; on top of it lie twenty small batches that came last, as behind a running projector.',
        `The sources of query-api against the embedded ClickHouse behind its local front; one request at a time, ${requests} of each kind in turn over both histories, three before to warm up. No HTTP listener, no prices from Redis, no JSON.`,
        'Of a leaderboard that was asked for, its first thousand places and all its figures are taken along to the next computation before that one is served (after a swap); what was not asked for before is read when it is.',
        'Rows read are the engine’s own count over all parts, copies included, p50; a part is read by whole granules, and the twenty small batches are a granule each until they are merged.',
      ],
      tables: [
        {
          title: 'Milliseconds, p50 / p99 (target: growth at most 2, leaderboard at most 15 ms)',
          head: ['read', small, large, 'growth of p50', 'growth of p99'],
          rows: entries.map((read) => [
            read.name,
            times(read.small),
            times(read.large),
            growth(read.small.ms, read.large.ms, 0.5),
            growth(read.small.ms, read.large.ms, 0.99),
          ]),
        },
        {
          title: 'Rows read for the rows of an answer, p50',
          head: ['read', small, large, 'growth of rows read'],
          rows: entries.map((read) => [
            read.name,
            `${count(read.small.rows)} for ${count(read.small.answers)}`,
            `${count(read.large.rows)} for ${count(read.large.answers)}`,
            growth(read.small.rows, read.large.rows, 0.5),
          ]),
        },
      ],
      notes: histories.map(({ fills, computation: { wallMs, cpuMs, peakBytes } }) => {
        const took = `${msText(wallMs)} ms, ${msText(cpuMs)} ms of processor time`;
        return `All leaderboards over ${fills.toLocaleString('en')} fills, computed and ranked anew on one thread: ${took}; the engine held ${mebibytesText(peakBytes)} at most.`;
      }),
      figures: Object.fromEntries(found),
    },
    given,
  );
}

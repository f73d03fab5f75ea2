import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '@pm/deploy/local/process-table';
import { importCatalog } from '@pm/deploy/stack/catalog-file';
import { tokensPerRequestMax } from '@pm/schemas/http/reading';
import { type Child, startChild } from './child/child.ts';
import { fillBook, fillHolders, fillQuotes } from './reads/book.ts';
import { bookCase, type ReadCase, readCases } from './reads/cases.ts';
import { load, type Sample } from './reads/load.ts';
import type { BareResult } from './reads-bare-server.ts';
import { readArguments } from './report/arguments.ts';
import { percentText, ratioText, type Spread, spreadOf, spreadText } from './report/numbers.ts';
import { publish } from './report/report.ts';
import { openWorld, type World } from './world/world.ts';

/** `npm run bench:reads`: reads of query-api, each compared with a bare fastify response of the same bytes. */
const given = readArguments({
  rounds: { default: 9, min: 1, max: 30 },
  seconds: { default: 1, min: 0.2, max: 60 },
  connections: { default: 32, min: 1, max: 256 },
  markets: { default: 4_000, min: 0, max: 100_000 },
});
const [rounds, seconds, connections] = [
  given.number('rounds'),
  given.number('seconds'),
  given.number('connections'),
];
/** Reads without a target get so many; the batches alone would take the rest of the time. */
const fewerRounds = Math.ceil(rounds / 3);
/** Rounds of warm-up of the first read: compiling takes seconds of processor time. */
const warmRounds = 4;
/** Time to index and project new markets and orders before the measurement. */
const settleSeconds = 15;
const idleSeconds = 3;
const marketsPerEvent = 20;
/** Wallets that hold a token of one market, for GET /holders. */
const holders = 40;

/** A read, its response, and the rates of both servers. */
interface Measured extends ReadCase {
  readonly bytes: Buffer;
  readonly contentType: string;
  readonly served: Sample[];
  readonly bare: Sample[];
}

const world = await openWorld({ markets: 2 + tokensPerRequestMax / 2, traders: 2 + holders });
let bare: Child<void> | null = null;
try {
  const deep = await fillBook(world);
  const quoted = await fillQuotes(world);
  const held = await fillHolders(world);
  await listMore(world);
  const queryApiUrl = `http://127.0.0.1:${world.stack.ports.queryApi}`;
  const measured: Measured[] = [];
  for (const one of readCases({ deep, quoted, held }))
    measured.push(await answered(one, queryApiUrl));
  const child = startChild<void>('reads-bare-server', measured.map(bareAnswer));
  bare = child;
  const { info: ceiling } = (await child.ready) as { readonly info: string };
  const queryApi = world.stack.supervisor.status().find(({ name }) => name === 'query-api');
  const pids = { served: queryApi?.pid ?? 0, bare: child.pid };
  await sleep(settleSeconds * 1000);
  const idle = await idleShare(pids.served);
  for (const [place, one] of measured.entries()) {
    await measure(one, { served: queryApiUrl, bare: `${ceiling}/${place}` }, pids);
  }
  await child.go();
  publishReads(measured, idle);
} finally {
  bare?.stop();
  await world.end();
}

/** A catalog that is worth filtering. */
async function listMore({ stack }: World): Promise<void> {
  const events = Array.from(
    { length: Math.ceil(given.number('markets') / marketsPerEvent) },
    (_, event) => ({
      slug: `bench-more-${event}`,
      title: `More of the bench ${event}`,
      endDate: '2030-01-01T00:00:00.000Z',
      tags: event % 2 === 0 ? ['bench'] : ['bench', 'half'],
      markets: Array.from({ length: marketsPerEvent }, (_one, market) => ({
        slug: `bench-more-${event}-${market}`,
        question: `Is read ${market} of ${event} fast?`,
      })),
    }),
  );
  await importCatalog(stack.operator, events, () => {});
}

async function answered(one: ReadCase, queryApiUrl: string): Promise<Measured> {
  const { method, path, body } = one;
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(
    queryApiUrl + path,
    body === undefined ? {} : { method, headers, body },
  );
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (!answer.ok) throw new Error(`${one.name} answered ${answer.status} ${bytes}`);
  const contentType = answer.headers.get('content-type') ?? 'application/json';
  return { ...one, bytes, contentType, served: [], bare: [] };
}

function bareAnswer({ method, path, bytes, contentType }: Measured, place: number): BareResult {
  const url = `/${place}${path.split('?', 1)[0]}`;
  return { method, url, contentType, base64: bytes.toString('base64') };
}

/** Share of a core that a process uses without requests. */
async function idleShare(pid: number): Promise<number> {
  const before = usageOf(pid).cpuSeconds;
  await sleep(idleSeconds * 1000);
  return (usageOf(pid).cpuSeconds - before) / idleSeconds;
}

/** Some rounds to warm up, then rounds in turn. */
async function measure(
  one: Measured,
  urls: { readonly served: string; readonly bare: string },
  pids: { readonly served: number; readonly bare: number },
): Promise<void> {
  const isBook = one.name === bookCase;
  const times = isBook ? rounds : fewerRounds;
  for (let round = isBook ? -warmRounds : -1; round < times; round += 1) {
    for (const server of ['served', 'bare'] as const) {
      const [pid, url] = [pids[server], urls[server] + one.path];
      const sample = await load(one, { pid, url, connections, seconds });
      if (round >= 0) one[server].push(sample);
    }
  }
  console.error(`${one.name}: ${ratioText(ratioOf(one, 'onCpu').median)}`);
}

function ratioOf({ served, bare: ceiling }: Measured, field: 'wall' | 'onCpu'): Spread {
  return spreadOf(
    served.map((sample, round) => sample[field] / (ceiling[round]?.[field] ?? Number.NaN)),
  );
}

/** The ratio of processor time without the idle use of query-api. */
function netRatioOf({ served, bare: ceiling }: Measured, idle: number): Spread {
  return spreadOf(
    served.map(({ wall, onCpu }, round) => {
      const net = wall / (wall / onCpu - idle);
      return net / (ceiling[round]?.onCpu ?? Number.NaN);
    }),
  );
}

function rateOf(samples: readonly Sample[]): Spread {
  return spreadOf(samples.map(({ onCpu }) => onCpu));
}

/** Cost of one batch in single reads, and the number of reads that it replaces. */
function worthText(one: Measured, all: readonly Measured[]): string {
  const single = all.find(({ name }) => name === one.batch?.single);
  if (one.batch === undefined || single === undefined) return '';
  const costs = rateOf(single.served).median / rateOf(one.served).median;
  return `${costs.toFixed(1)} of ${one.batch.tokens}`;
}

function rowOf(one: Measured, all: readonly Measured[]): readonly string[] {
  const latency = (of: 'p50' | 'p99') => spreadOf(one.served.map((sample) => sample[of])).median;
  return [
    one.name,
    String(one.bytes.length),
    spreadText(rateOf(one.served)),
    spreadText(rateOf(one.bare)),
    `**${ratioText(ratioOf(one, 'onCpu').median)}**`,
    worthText(one, all),
    `${latency('p50')} / ${latency('p99')}`,
    String([...one.served, ...one.bare].reduce((sum, { failed }) => sum + failed, 0)),
  ];
}

function publishReads(all: readonly Measured[], idle: number): void {
  const book = all.find(({ name }) => name === bookCase);
  if (book === undefined) throw new Error('the book was not measured');
  publish(
    {
      name: 'reads',
      title: 'Reads against a bare fastify answer of the same bytes',
      conditions: [
        `${connections} connections kept open (autocannon, in the process of the benchmark), straight at query-api, with its rate limits (raised) and metrics; the bare server is a process of its own.`,
        `In turn, ${seconds} s each after rounds to warm up: ${rounds} rounds of GET /book, ${fewerRounds} of every other read. The rest of the stack runs idle beside; it had ${settleSeconds} s to settle.`,
        `A book of 45 levels a side for GET /book, ${tokensPerRequestMax} tokens with a trade, a bid and an ask for everything else, ${holders} wallets with a token for GET /holders; ${given.number('markets')} more markets in the catalog. Nothing changes meanwhile.`,
      ],
      tables: [
        {
          title: `Requests per second of processor time, min / median / max (target: ${bookCase} 0.9)`,
          head: [
            ...['read', 'bytes', 'query-api', 'bare fastify', 'ratio'],
            ...['costs as much as single reads', 'ms p50 / p99', 'failed'],
          ],
          rows: all.map((one) => rowOf(one, all)),
        },
      ],
      notes: [
        `${bookCase}, median of the rounds: ${ratioText(ratioOf(book, 'onCpu').median)} on the processor, ${ratioText(ratioOf(book, 'wall').median)} by the wall clock.`,
        `Without load query-api uses ${percentText(idle)} of a core (it follows its topics); that is in its figures, and weighs the more the less it gets to do. Without it ${bookCase} is at ${ratioText(netRatioOf(book, idle).median)}.`,
        'The bare server parses bodies too, but knows its answer. Processor time is that of the process alone, without ClickHouse and Redis.',
        'Nothing changes: of equal bodies the parsed value is kept, of histories and holders the rows until the tables have something new. In the lines with bodies that differ nothing is kept of them.',
      ],
      figures: all.map(({ name, bytes, served, bare: ceiling }) => ({
        name,
        bytes: bytes.length,
        served,
        bare: ceiling,
      })),
    },
    given,
  );
}

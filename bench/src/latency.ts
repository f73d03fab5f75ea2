import { lateMs, type PhaseResult, runLoad, signOrders } from './latency/load.ts';
import { Poster } from './latency/poster.ts';
import { openRoundTrips } from './latency/round-trip.ts';
import { pairMarkets, type Visibility, watchVisibility } from './latency/visibility.ts';
import { visibilityCondition, visibilityHead, visibilityRows } from './latency/visibility-rows.ts';
import { readArguments } from './report/arguments.ts';
import { loadText } from './report/machine.ts';
import { msText, quantile } from './report/numbers.ts';
import { publish, type Table } from './report/report.ts';
import { openWorld } from './world/world.ts';

/** `npm run bench:latency`: from the post of an order to its result and to public reads, through the whole stack. */
const given = readArguments({ seconds: { default: 20, min: 3, max: 120 } });
const seconds = given.number('seconds');
const rates = [100, 500];
const warmUp = { perSecond: 100, seconds: 5 };

interface Phase {
  readonly name: string;
  readonly sent: number;
  readonly load: PhaseResult;
  readonly seen: Visibility;
  readonly roundTripMs: readonly number[];
  readonly loadAverage: string;
}

const marketCount = 16;
const traderCount = 16;
const world = await openWorld({ markets: marketCount + pairMarkets, traders: traderCount + 2 });
const trips = await openRoundTrips(world.stack.urls.kafka);
try {
  const quiet = await beforeLoad();
  const addresses = [
    ['straight at ingress', `http://127.0.0.1:${world.stack.ports.ingress}`],
    ['through the gateway', world.stack.baseUrl],
  ] as const;
  await runPhase('warm-up', addresses[1][1], {
    perSecond: warmUp.perSecond,
    seconds: warmUp.seconds,
  });
  const phases: Phase[] = [];
  for (const perSecond of rates) {
    for (const [way, url] of addresses) {
      phases.push(await runPhase(`${perSecond}/s ${way}`, url, { perSecond, seconds }));
    }
  }
  publishLatency(quiet, phases);
} finally {
  await trips.close();
  await world.end();
}

/** Round trips without trading. */
async function beforeLoad(): Promise<number[]> {
  const until = performance.now() + 5_000;
  return await trips.measure(() => performance.now() > until);
}

async function runPhase(
  name: string,
  url: string,
  rate: { perSecond: number; seconds: number },
): Promise<Phase> {
  const markets = world.markets.slice(0, marketCount);
  const sent = rate.perSecond * rate.seconds;
  const orders = signOrders(sent, markets, world.traders.slice(0, traderCount));
  const poster = new Poster(url);
  const reads = new Poster(world.stack.baseUrl);
  const [maker, taker] = world.traders.slice(traderCount);
  if (maker === undefined || taker === undefined) throw new RangeError('there are two traders');
  const pairs = world.markets.slice(marketCount);
  let isOver = false;
  const watching = watchVisibility({
    poster: reads,
    markets: pairs,
    maker,
    taker,
    seconds: rate.seconds,
  });
  const travelling = trips.measure(() => isOver);
  const load = await runLoad(poster, orders, rate.perSecond);
  isOver = true;
  const [seen, roundTripMs] = [await watching, await travelling];
  poster.close();
  reads.close();
  console.error(`${name}: ${JSON.stringify(load.outcomes)}`);
  return { name, sent, load, seen, roundTripMs, loadAverage: loadText() };
}

function publishLatency(quiet: readonly number[], phases: readonly Phase[]): void {
  publish(
    {
      name: 'latency',
      title: 'Order posted to answer, and to what others can read',
      conditions: [
        `Whole stack, 8 partitions; ${marketCount} markets, ${traderCount} wallets; BUYs of 5 shares at 0.5 of either token in turn, so every second order is a fill (a mint). Orders signed ahead of time, connections kept open, HMAC at the time of sending; sent at a fixed rate whether or not answers come, latency counts from the planned time. ${seconds} s a phase after ${warmUp.seconds} s of warm-up.`,
        visibilityCondition,
        'Round trip: a record of 256 bytes, idempotent acks=all send and read by the same client library, on a topic of its own, at the same time as the load.',
        'The load generator runs on the same cores and is part of every figure.',
      ],
      tables: [answerTable(phases), visibleTable(phases), tripTable(quiet, phases)],
      notes: [
        `Late: answers after more than ${lateMs} ms. Outcomes count every order sent; "no answer" is in no percentile.`,
      ],
      figures: { quiet: summary(quiet), phases: phases.map(figuresOf) },
    },
    given,
  );
}

function figuresOf({ name, sent, load, seen, roundTripMs, loadAverage }: Phase) {
  const { outcomes, late, plannedLateMs } = load;
  const { failed } = seen;
  const readable = Object.fromEntries([...seen.seenMs].map(([what, ms]) => [what, summary(ms)]));
  const answer = summary(load.latenciesMs);
  const roundTrip = summary(roundTripMs);
  return {
    name,
    sent,
    answer,
    outcomes,
    late,
    plannedLateMs,
    readable,
    failed,
    roundTrip,
    loadAverage,
  };
}

function summary(samples: readonly number[]) {
  const [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1].map((q) => quantile(samples, q));
  return { count: samples.length, p50, p90, p99, max };
}

function cells(samples: readonly number[]): string[] {
  return [0.5, 0.9, 0.99, 1].map((q) => msText(quantile(samples, q)));
}

function answerTable(phases: readonly Phase[]): Table {
  return {
    title: 'Posted to answered, ms',
    head: ['phase', 'p50', 'p90', 'p99', 'max', 'outcomes', 'late', 'own delay', 'load average'],
    rows: phases.map(({ name, load, loadAverage }) => [
      name,
      ...cells(load.latenciesMs),
      Object.entries(load.outcomes)
        .map(([outcome, count]) => `${outcome} ${count}`)
        .join(', '),
      String(load.late),
      msText(load.plannedLateMs),
      loadAverage,
    ]),
  };
}

function visibleTable(phases: readonly Phase[]): Table {
  return {
    title: 'From the planned moment of an order to what others can read, during the load, ms',
    head: ['phase', ...visibilityHead],
    rows: phases.flatMap(({ name, seen }) => visibilityRows(seen).map((row) => [name, ...row])),
  };
}

function tripTable(quiet: readonly number[], phases: readonly Phase[]): Table {
  const all: (readonly [string, readonly number[]])[] = [
    ['no one trades', quiet],
    ...phases.map(({ name, roundTripMs }) => [name, roundTripMs] as const),
  ];
  return {
    title: 'One plain Kafka round trip in the same run, ms',
    head: ['phase', 'samples', 'p50', 'p90', 'p99', 'max'],
    rows: all.map(([name, samples]) => [name, String(samples.length), ...cells(samples)]),
  };
}

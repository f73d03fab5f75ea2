import { setTimeout as sleep } from 'node:timers/promises';
import { brokerCounts } from '@pm/deploy/local/engines/kafka-broker';
import { loopback } from '@pm/deploy/local/ports';
import type { RunningStack } from '@pm/deploy/stack/stack';
import { Random } from '@pm/kit/random';
import { readArguments } from './report/arguments.ts';
import { loadText } from './report/machine.ts';
import { msText, quantile } from './report/numbers.ts';
import { publish } from './report/report.ts';
import { OrderStream } from './takeover/order-stream.ts';
import { openWorld } from './world/world.ts';

/** `npm run bench:takeover`: how long no order is acknowledged after the owner of partitions is killed or stopped. */
const given = readArguments({
  tries: { default: 20, min: 1, max: 1_000 },
  /** Faults before the first that counts: brokers and matchers compile what they do in one. */
  warm: { default: 4, min: 0, max: 100 },
  markets: { default: 8, min: 1, max: 64 },
  /** Between the answer of an order and the next one of its market, milliseconds. */
  pause: { default: 80, min: 1, max: 1_000 },
  brokers: { default: 3, min: 1, max: 3 },
  seed: { default: 1, min: 1, max: 1_000_000 },
});

/** Goal for the 99th percentile, milliseconds. */
const goalMs = 1_000;
/** The fault comes so long after all is well, at most; a stopped owner sleeps so long, milliseconds. */
const calmMs = 1_500;
const sleepsMs = { min: 500, max: 6_000 };
/** Longest wait for both matchers to be ready again, milliseconds. */
const readyMaxMs = 60_000;

const names = ['matcher', 'matcher-2'] as const;
type Name = (typeof names)[number];

interface MatcherPartition {
  readonly state: string;
  readonly role: string;
}

async function partitionsOf(stack: RunningStack, name: Name): Promise<MatcherPartition[]> {
  const place = stack.places.of('matcher').find((one) => one.name === name);
  try {
    const response = await fetch(`http://${loopback}:${place?.ports.matcherOps}/status`);
    return ((await response.json()) as { partitions: MatcherPartition[] }).partitions;
  } catch {
    return [];
  }
}

/** Partitions that each owns, once every partition has an owner and a live standby. */
async function ownedWhenReady(stack: RunningStack): Promise<Readonly<Record<Name, number>>> {
  const untilMs = performance.now() + readyMaxMs;
  while (performance.now() < untilMs) {
    const [one = [], two = []] = await Promise.all(names.map((name) => partitionsOf(stack, name)));
    const ownedBy = (all: MatcherPartition[]) => all.filter(({ role }) => role === 'owner').length;
    const owned = { matcher: ownedBy(one), 'matcher-2': ownedBy(two) };
    const areLive = [one, two].every((all) => all.length === 8 && all.every(isLive));
    if (areLive && owned.matcher + owned['matcher-2'] === 8) return owned;
    await sleep(50);
  }
  throw new Error('the matchers are not ready again');
}

function isLive({ state }: MatcherPartition): boolean {
  return state === 'live';
}

const kinds = ['SIGKILL', 'SIGSTOP'] as const;
const random = new Random(given.number('seed'));
const loadBefore = loadText();
const marketCount = given.number('markets');
const pauseMs = given.number('pause');
const warm = given.number('warm');
const brokers = brokerCounts.find((count) => count === given.number('brokers'));
if (brokers === undefined) throw new RangeError(`--brokers is ${brokerCounts.join(' or ')}`);
const world = await openWorld(
  { markets: marketCount, traders: marketCount },
  { scale: { matcher: names.length }, brokers },
);
const gapsMs: Record<(typeof kinds)[number], number[]> = { SIGKILL: [], SIGSTOP: [] };
const streams = world.traders.map((trader, at) => {
  const market = world.markets[at % world.markets.length];
  if (market === undefined) throw new RangeError('there are markets');
  return new OrderStream(world.stack.baseUrl, { trader, market, pauseMs });
});

/** One fault; the longest time without an acknowledgement in any market. */
async function fault(kind: (typeof kinds)[number]): Promise<number> {
  const { stack } = world;
  const owned = await ownedWhenReady(stack);
  await sleep(random.below(calmMs));
  const victim = owned.matcher >= owned['matcher-2'] ? 'matcher' : 'matcher-2';
  const fromMs = performance.now();
  stack.supervisor.kill(victim, kind);
  await sleep(kind === 'SIGSTOP' ? random.integer(sleepsMs.min, sleepsMs.max) : calmMs);
  if (kind === 'SIGSTOP') stack.supervisor.kill(victim, 'SIGCONT');
  // Its return takes processors, too, and belongs to the fault.
  await ownedWhenReady(stack);
  return Math.max(...streams.map((stream) => stream.longestGapMs(fromMs)));
}

try {
  await ownedWhenReady(world.stack);
  for (const stream of streams) stream.start();
  for (let done = -warm; done < given.number('tries'); done += 1) {
    const kind = kinds[Math.abs(done) % kinds.length] ?? 'SIGKILL';
    const gapMs = await fault(kind);
    if (done >= 0) gapsMs[kind].push(gapMs);
    console.error(`${done < 0 ? 'warm' : done + 1}: ${kind}, ${Math.round(gapMs)} ms`);
  }
  await ownedWhenReady(world.stack);
} finally {
  await Promise.all(streams.map((stream) => stream.end()));
  await world.end();
}

const all = Object.values(gapsMs).flat();
const sums = (name: 'sent' | 'acknowledged' | 'refused' | 'failed') =>
  streams.reduce((sum, { counts }) => sum + counts[name], 0);
const counts = {
  sent: sums('sent'),
  acknowledged: sums('acknowledged'),
  refused: sums('refused'),
  failed: sums('failed'),
};
publish(
  {
    name: 'takeover',
    title: 'Orders without an owner: from a fault to the next acknowledgement',
    conditions: [
      `Engines, services and gateway as npm start -- --standby starts them, 8 partitions, brokers: ${brokers}, ${marketCount} markets with one sender each, which sends the next order ${pauseMs} ms after the answer of the one before and repeats none; load average ${loadBefore} before and ${loadText()} after the run.`,
      `Each fault is of the matcher that owns more partitions: kill -9, or SIGSTOP for ${sleepsMs.min} to ${sleepsMs.max} ms, then SIGCONT; the first ${warm} do not count. A gap is the longest time without an acknowledged order in any market, from the fault until both matchers are ready again.`,
    ],
    tables: [
      {
        title: `Gap of acknowledged orders, ms (goal p99: ${goalMs})`,
        head: ['fault', 'tries', 'p50', 'p90', 'p99', 'longest'],
        rows: [...Object.entries(gapsMs), ['both', all] as const].map(([kind, gaps]) => [
          kind,
          String(gaps.length),
          ...[0.5, 0.9, 0.99, 1].map((share) => msText(quantile(gaps, share))),
        ]),
      },
    ],
    notes: [
      `${counts.sent} orders sent, ${counts.acknowledged} acknowledged, ${counts.refused} refused with 425 or 503, ${counts.failed} answered otherwise.`,
    ],
    figures: { gapsMs, ...counts },
  },
  given,
);

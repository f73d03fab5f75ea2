import { floodKinds } from './flood/kinds.ts';
import { type KindResult, type Level, measureKind, type PhasePlan } from './flood/phases.ts';
import { probed } from './flood/probe.ts';
import { floodTable, p99Ratio, probeTable, processorTable, ratioMax } from './flood/tables.ts';
import { readArguments } from './report/arguments.ts';
import { loadText } from './report/machine.ts';
import { publish } from './report/report.ts';
import { openKey, openWorld, signerOf, type Trader, type World } from './world/world.ts';

/**
 * `npm run bench:flood`: orders, cancels and reads of one wallet while another address, or bad proofs at the same one,
 * flood the exchange. `--only N` measures the N-th kind alone, which is printed and not written.
 */
const given = readArguments({
  seconds: { default: 10, min: 3, max: 60 },
  rounds: { default: 3, min: 1, max: 10 },
  rate: { default: 20, min: 1, max: 100 },
  keys: { default: 100, min: 1, max: 200 },
  only: { default: 0, min: 0, max: 30 },
});
const only = given.number('only');
if (only > 0 && given.write === true) throw new RangeError('--write takes all kinds');
const seconds = given.number('seconds');
const rounds = given.number('rounds');
const perSecond = given.number('rate');

const levels: readonly Level[] = [
  { name: 'within its limits', share: 0.95 },
  { name: 'ten times its limits', share: 10 },
];
const marketCount = 16;
/** Keys that are made at once, from the address that floods do not use. */
const keysAtOnce = 4;
const warmUpSeconds = 5;

const world = await openWorld({ markets: marketCount, traders: 1 }, { hasWideLimits: false });
try {
  const keys = await openFreeKeys(world, given.number('keys'));
  const probe = world.traders[0];
  if (probe === undefined) throw new RangeError('there is a trader');
  const kinds = floodKinds(keys, world.markets, probe);
  const plan: PhasePlan = {
    world,
    probe,
    markets: world.markets,
    perSecond,
    seconds,
    rounds,
    levels,
  };
  await warmUp(plan);
  const results: KindResult[] = [];
  let addresses = 0;
  for (const kind of only === 0 ? kinds : kinds.slice(only - 1, only)) {
    results.push(
      await measureKind(plan, kind, () => {
        addresses += 1;
        return `127.3.0.${addresses}`;
      }),
    );
    for (const { rows } of [probeTable, floodTable, processorTable].map((of) =>
      of(results.slice(-1)),
    ))
      for (const row of rows) console.error(row.join(' | '));
    console.error(`load average ${loadText()}`);
  }
  publishFlood(results, keys.length);
} finally {
  await world.end();
}

async function openFreeKeys({ stack }: World, count: number): Promise<readonly Trader[]> {
  const keys: Trader[] = [];
  for (let from = 0; from < count; from += keysAtOnce) {
    const some = Array.from({ length: Math.min(keysAtOnce, count - from) }, (_, at) =>
      openKey(stack, signerOf(`free ${from + at}`)),
    );
    keys.push(...(await Promise.all(some)));
  }
  return keys;
}

/** Compiles the paths of orders and cancels. */
async function warmUp(plan: PhasePlan): Promise<void> {
  const quiet = {
    name: 'warm-up',
    perSecond: 0,
    isAtProbe: true,
    locksOrders: false,
    requests: [],
    held: null,
  };
  await measureKind({ ...plan, seconds: warmUpSeconds, rounds: 1, levels: [] }, quiet, () => '');
}

function publishFlood(results: readonly KindResult[], keys: number): void {
  publish(
    {
      name: 'flood',
      title: 'Orders, cancels and reads of others while one address floods',
      conditions: [
        `Whole stack through the gateway, 8 partitions, ${marketCount} markets, rate limits of the product. The probe: one wallet at an address of its own, ${perSecond} resting orders, ${perSecond} cancels and ${perSecond} reads of books a second at planned moments, whether or not answers come; latency counts from the planned moment. ${rounds} rounds of ${seconds} s quiet, then ${seconds} s with the flood at each rate; all samples of a kind together, after 3 s of each kind that are not measured.`,
        `The flood: ${keys} keys of as many wallets without money at one address, a new address for each phase, at the rate that their limits at an address admit (a tenth of the table), and at ten times that rate; new keys and bad proofs at the rate for an address without a proof. Bad proofs come from the address of the probe; those for its own key lock out its orders there by design, so they come from another address. At most 512 requests in flight over 128 connections. Floods of connections open them at the rate and keep them, with a request each whose body never ends, or whose response is not taken; those at other listeners than the gateway reach the service itself.`,
        'The flood is sent by a process that gets the processor last (nice 19), but on the same cores: with little to spare it sends less than planned.',
      ],
      tables: [probeTable(results), floodTable(results), processorTable(results)],
      notes: [missedText(results)],
      figures: results.map(({ kind, quiet, floods }) => ({
        ...kind,
        quiet: numbersOf(quiet),
        floods: floods.map(({ level, sums }) => ({ ...level, ...numbersOf(sums) })),
      })),
    },
    given,
  );
}

function missedText(results: readonly KindResult[]): string {
  const missed = results.flatMap(({ kind, quiet, floods }) =>
    floods.flatMap(({ level, sums }) =>
      probed
        .filter((what) => p99Ratio(quiet, sums, what) > ratioMax)
        .map((what) => `${what} during ${kind.name}, ${level.name}`),
    ),
  );
  if (missed.length === 0) return `Every p99 is within ${ratioMax} times that of the quiet system.`;
  return `More than ${ratioMax} times the p99 of the quiet system: ${missed.join('; ')}.`;
}

function numbersOf({ samples, processor, answers, planned }: KindResult['quiet']) {
  return { ...samples, answers, planned, processor: Object.fromEntries(processor) };
}

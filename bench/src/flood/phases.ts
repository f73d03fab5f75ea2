import { setTimeout as sleep } from 'node:timers/promises';
import { loopback } from '@pm/deploy/local/ports';
import { startChild } from '../child/child.ts';
import { Poster } from '../latency/poster.ts';
import type { Trader, World, WorldMarket } from '../world/world.ts';
import type { FloodJob, FloodResult } from './job.ts';
import type { FloodKind } from './kinds.ts';
import { noSamples, type ProbeSamples, probed, runProbe } from './probe.ts';
import { addUsed, processorTimes } from './processor-time.ts';

/** Phases of one load: samples of all its rounds together. */
export interface PhaseSums {
  readonly samples: ProbeSamples;
  readonly processor: Map<string, number>;
  readonly answers: Record<string, number>;
  planned: number;
  seconds: number;
}

/** A kind of flood at each of its rates, and the quiet phases between them. */
export interface KindResult {
  readonly kind: Omit<FloodKind, 'requests' | 'held'>;
  readonly quiet: PhaseSums;
  readonly floods: readonly { readonly level: Level; readonly sums: PhaseSums }[];
}

export interface Level {
  readonly name: string;
  /** Share of the rate that the limits of the address admit. */
  readonly share: number;
}

export interface PhasePlan {
  readonly world: World;
  readonly probe: Trader;
  readonly markets: readonly WorldMarket[];
  readonly perSecond: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly levels: readonly Level[];
}

const probeAddress = '127.2.0.1';
/** Where the orders of the probe come from when bad proofs lock its key out at the first one. */
const otherAddress = '127.2.0.2';
/** After a flood, for what it left in queues; after bad proofs until their window has ended. */
const settleMs = { queues: 1_500, window: 10_500 };
/** The flood begins before the probe and ends after it. */
const floodLeadMs = 500;

const emptySums = (): PhaseSums => ({
  samples: noSamples(),
  processor: new Map(),
  answers: {},
  planned: 0,
  seconds: 0,
});

/** Each kind floods at its first level for this, not measured, while processes compile what only it uses, seconds. */
const warmUpSeconds = 3;

/** Phases in turn: quiet, then the flood at each level; several rounds. */
export async function measureKind(
  plan: PhasePlan,
  kind: FloodKind,
  nextAddress: () => string,
): Promise<KindResult> {
  const quiet = emptySums();
  const floods = plan.levels.map((level) => ({ level, sums: emptySums() }));
  const orderAddress = kind.locksOrders ? otherAddress : probeAddress;
  const floodAt = (level: Level, round: number) => {
    const localAddress = kind.isAtProbe ? probeAddress : nextAddress();
    return { orderAddress, flood: { kind, level, localAddress, round } };
  };
  for (const level of plan.levels.slice(0, 1))
    await runPhase({ ...plan, seconds: warmUpSeconds }, emptySums(), floodAt(level, -1));
  for (let round = 0; round < plan.rounds; round += 1) {
    await runPhase(plan, quiet, { orderAddress, flood: null });
    for (const { level, sums } of floods) await runPhase(plan, sums, floodAt(level, round));
  }
  const { requests: _, held: __, ...named } = kind;
  return { kind: named, quiet, floods };
}

interface PhaseFlood {
  readonly kind: FloodKind;
  readonly level: Level;
  readonly localAddress: string;
  readonly round: number;
}

interface Phase {
  /** The address that the orders of the probe come from. */
  readonly orderAddress: string;
  /** Null when it is quiet. */
  readonly flood: PhaseFlood | null;
}

async function runPhase(
  plan: PhasePlan,
  sums: PhaseSums,
  { orderAddress, flood }: Phase,
): Promise<void> {
  const { world, probe: trader, markets, perSecond, seconds } = plan;
  const posterAt = (localAddress: string) => new Poster(world.stack.baseUrl, { localAddress });
  const [orders, cancels] = [posterAt(orderAddress), posterAt(probeAddress)];
  const sender = flood === null ? null : startFlood(plan, flood);
  try {
    await sender?.ready;
    const before = processorTimes(world.stack);
    const flooding = sender?.go();
    await sleep(floodLeadMs);
    const samples = await runProbe({ orders, cancels }, { trader, markets, perSecond, seconds });
    addUsed(sums.processor, before, processorTimes(world.stack));
    const outcome = (await flooding) ?? null;
    addSamples(sums, samples, outcome);
    sums.seconds += seconds;
    await sleep(flood?.kind.isAtProbe === true ? settleMs.window : settleMs.queues);
  } finally {
    sender?.stop();
    orders.close();
    cancels.close();
  }
}

function startFlood(
  { world, seconds }: PhasePlan,
  { kind, level, localAddress, round }: PhaseFlood,
) {
  const job: FloodJob = {
    name: `${kind.name} ${level.name} ${round}`,
    url: `http://${loopback}:${world.stack.ports[kind.held?.listener ?? 'gateway']}`,
    localAddress,
    perSecond: kind.perSecond * level.share,
    seconds: seconds + (2 * floodLeadMs) / 1000,
    requests: kind.requests,
    held: kind.held,
  };
  return startChild<FloodResult>('flood-sender', job, { isBackground: true });
}

function addSamples(sums: PhaseSums, samples: ProbeSamples, outcome: FloodResult | null): void {
  for (const what of probed) {
    sums.samples[what].latencyMs.push(...samples[what].latencyMs);
    addCounts(sums.samples[what].outcomes, samples[what].outcomes);
  }
  sums.samples.plannedLateMs = Math.max(sums.samples.plannedLateMs, samples.plannedLateMs);
  addCounts(sums.answers, outcome?.answers ?? {});
  sums.planned += outcome?.planned ?? 0;
}

function addCounts(to: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [word, count] of Object.entries(counts)) to[word] = (to[word] ?? 0) + count;
}

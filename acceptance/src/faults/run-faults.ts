import { setTimeout as sleep } from 'node:timers/promises';
import { testAccounts } from '@pm/deploy/demo/wallets';
import type { Progress } from '@pm/deploy/local/managed-process';
import { loopback } from '@pm/deploy/local/ports';
import type { World } from '../smoke/world.ts';
import { Brokers } from './brokers.ts';
import { type Judgement, judgeOrders } from './fates.ts';
import { type GapReport, gapsWithin, type Span } from './gaps.ts';
import { OrderLoad } from './order-load.ts';
import type { FaultPlace, Hit, Scenario } from './scenarios.ts';

export interface FaultResult {
  readonly scenario: Scenario;
  readonly hit: Hit;
  /** Between the fault and the recovery. */
  readonly gaps: GapReport;
  /** The longest time without an acknowledged order that the goal is about, milliseconds. */
  readonly judgedMs: number;
  /** The longest of the partitions that the fault should not concern, milliseconds; null where it concerns all. */
  readonly otherMs: number | null;
  /** Restarts of processes during it, by name. */
  readonly restarts: Readonly<Record<string, number>>;
  /** From the fault to the recovery. */
  readonly span: Span;
  /** Why the exchange has not recovered by itself; empty when it has. */
  readonly problems: readonly string[];
}

export interface FaultsReport extends Judgement {
  readonly results: readonly FaultResult[];
}

/** Time between two orders of a partition, milliseconds: every gap contains one, and two cores have time left. */
const orderEveryMs = 320;
const walletCount = 6;
/** Time for orders before the first fault and after each recovery, milliseconds. */
const calmMs = 2_000;
/** Pause between two looks whether the exchange is calm, milliseconds. */
const lookEveryMs = 250;
/** The exchange has so long to recover, milliseconds. */
const recoveryMaxMs = 180_000;

/** Lets orders flow through each fault, and judges the responses of clients. */
export async function runFaults(
  world: World,
  scenarios: readonly Scenario[],
  progress: Progress,
): Promise<FaultsReport> {
  const { stack, markets, dataDir } = world;
  const brokers = await Brokers.open(stack);
  const signers = testAccounts().slice(0, walletCount);
  const load = await OrderLoad.open({
    baseUrl: stack.baseUrl,
    signers,
    markets,
    ordersPerSecond: (markets.length * 1_000) / orderEveryMs,
  });
  const place = { stack, brokers, dataDir };
  const results: FaultResult[] = [];
  load.start();
  try {
    for (const scenario of scenarios) {
      progress(`fault: ${scenario.name}`);
      const isCalm = results.at(-1)?.problems.length === 0;
      results.push(await runOne(scenario, { place, load, isCalm }));
      progress(lineOf(results.at(-1) as FaultResult));
    }
  } finally {
    await load.stop();
    await brokers.close();
  }
  progress('comparing the responses with the log');
  const ends = results.filter(({ restarts }) => restarts['ingress'] !== undefined);
  const judgement = await judgeOrders(
    world,
    load.sent,
    ends.map(({ span }) => span),
  );
  return { results, ...judgement };
}

interface Run {
  readonly place: FaultPlace;
  readonly load: OrderLoad;
  /** Whether the exchange has just recovered from another fault. */
  readonly isCalm: boolean;
}

async function runOne(scenario: Scenario, { place, load, isCalm }: Run): Promise<FaultResult> {
  const { stack } = place;
  const problems: string[] = isCalm ? [] : await untilCalm(place, load);
  const before = restartsOf(stack.supervisor.status());
  const fromMs = performance.now();
  const hit = await scenario.strike(place);
  const backMs = performance.now();
  problems.push(...(await untilCalm(place, load)));
  const toMs = performance.now();
  const gaps = gapsWithin(load.sent, { fromMs, toMs });
  const judged = scenario.fromBack ? gapsWithin(load.sent, { fromMs: backMs, toMs }) : gaps;
  const longest = (own: boolean) =>
    Math.max(
      0,
      ...[...judged.byPartition]
        .filter(([partition]) => (hit.partitions?.has(partition) ?? true) === own)
        .map(([, ms]) => ms),
    );
  return {
    scenario,
    hit,
    gaps,
    judgedMs: longest(true),
    otherMs: hit.partitions === null ? null : longest(false),
    restarts: restartsBetween(before, restartsOf(stack.supervisor.status())),
    span: { fromMs, toMs },
    problems,
  };
}

/** Resolves when orders of all partitions were acknowledged for a while and everything runs; else says what is not. */
async function untilCalm(place: FaultPlace, load: OrderLoad): Promise<string[]> {
  const untilMs = performance.now() + recoveryMaxMs;
  await sleep(calmMs);
  for (;;) {
    const problems = [...notReady(place), ...silent(load, performance.now() - calmMs)];
    if (problems.length === 0 && !(await place.brokers.isWhole()))
      problems.push('copies of partitions are missing');
    if (problems.length === 0 && !(await isOpen(place))) problems.push('ingress is not ready');
    if (problems.length === 0) return [];
    if (performance.now() > untilMs) return problems;
    await sleep(lookEveryMs);
  }
}

function notReady({ stack }: FaultPlace): string[] {
  const unready = stack.supervisor.status().filter(({ state }) => state !== 'ready');
  return unready.map(({ name, state }) => `${name} is ${state}`);
}

function silent({ sent }: OrderLoad, fromMs: number): string[] {
  const recent = sent.filter(({ answeredAtMs }) => answeredAtMs >= fromMs);
  const heard = new Set(
    recent.filter(({ outcome }) => outcome === 'acknowledged').map(({ partition }) => partition),
  );
  const wrong = recent.filter(({ outcome }) => outcome !== 'acknowledged').length;
  const missing = [...new Set(sent.map(({ partition }) => partition))].filter(
    (partition) => !heard.has(partition),
  );
  return [
    ...missing.map((partition) => `partition ${partition} acknowledges no order`),
    ...(wrong === 0 ? [] : [`${wrong} orders were not acknowledged`]),
  ];
}

async function isOpen({ stack }: FaultPlace): Promise<boolean> {
  try {
    return (await fetch(`http://${loopback}:${stack.ports.ingressOps}/ready`)).ok;
  } catch {
    return false;
  }
}

type Restarts = ReadonlyMap<string, number>;

function restartsOf(
  processes: readonly { readonly name: string; readonly restarts: number }[],
): Restarts {
  return new Map(processes.map(({ name, restarts }) => [name, restarts]));
}

function restartsBetween(before: Restarts, after: Restarts): Record<string, number> {
  const changed = [...after].map(
    ([name, count]) => [name, count - (before.get(name) ?? 0)] as const,
  );
  return Object.fromEntries(changed.filter(([, count]) => count > 0));
}

/** One line of a result for people. */
export function lineOf({ scenario, gaps, judgedMs, otherMs, problems }: FaultResult): string {
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  const counts = (codes: ReadonlyMap<string, number>) =>
    [...codes].map(([code, count]) => `${count} ${code}`).join(', ') || '0';
  const others = otherMs === null ? '' : `, others ${seconds(otherMs)} s`;
  const state = problems.length === 0 ? 'recovered alone' : problems.join('; ');
  return (
    `${scenario.name}: gap ${seconds(judgedMs)} s${others}, refused ${counts(gaps.refused)}, ` +
    `open ${counts(gaps.unknown)}, ${state}`
  );
}

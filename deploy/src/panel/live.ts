import { setTimeout as sleep } from 'node:timers/promises';
import { loopback, type PortName } from '../local/ports.ts';
import { reasonsIn } from '../local/probes.ts';
import type { Places, ScaledService } from '../stack/scale.ts';
import type { RunningStack } from '../stack/stack.ts';
import { counterSum, readCounters } from './counters.ts';
import {
  cutLines,
  failuresText,
  lagText,
  type ProjectionLine,
  processTable,
  type UnreadyServices,
} from './text.ts';
import { textTable } from './text-table.ts';

/** Interval of the panel on a terminal, and of lines without one. */
const terminalEveryMs = 1_000;
const plainEveryMs = 10_000;

/** Services with several processes, and the port where each of these says what it waits for. */
const listening: readonly (readonly [ScaledService, PortName])[] = [
  ['matcher', 'matcherOps'],
  ['projectors', 'projectorsOps'],
  ['ingress', 'ingressOps'],
  ['query-api', 'queryApiOps'],
  ['streams', 'streamsOps'],
];

interface Sample {
  readonly atMs: number;
  readonly orders: number;
  readonly fills: number;
  readonly partitions: readonly ReplicaLine[];
  readonly projections: readonly ProjectionLine[];
  readonly unready: UnreadyServices;
}

interface PartitionLine {
  readonly partition: number;
  readonly state: string;
  readonly role: string;
  readonly inOffset: number;
  readonly lagRecords: number;
  readonly openOrders: number;
}

/** A partition, as the matcher of this name shows it. */
interface ReplicaLine extends PartitionLine {
  readonly instance: string;
}

interface MatcherStatus {
  readonly instance: string;
  readonly partitions: readonly PartitionLine[];
}

/** Shows rates and progress until the stack is stopped: a panel in place on a terminal, plain lines elsewhere. */
export async function runPanel(
  stack: RunningStack,
  how: { readonly isTerminal: boolean; readonly isStopped: () => boolean },
): Promise<void> {
  let before = await sample(stack);
  let drawnLines = 0;
  while (!how.isStopped()) {
    await sleep(how.isTerminal ? terminalEveryMs : plainEveryMs);
    const now = await sample(stack);
    const rates = ratesBetween(before, now);
    before = now;
    if (how.isStopped()) return;
    if (!how.isTerminal) {
      console.log(plainLine(now, rates));
      continue;
    }
    // A line that the terminal breaks would count as one.
    const panel = cutLines(panelText(stack, now, rates), process.stdout.columns);
    // Up to the first line of the panel drawn before, then clear to the end of the screen.
    process.stdout.write(`${drawnLines === 0 ? '' : `\x1b[${drawnLines}A`}\x1b[J${panel}\n`);
    drawnLines = panel.split('\n').length;
  }
}

interface Rates {
  readonly ordersPerSecond: number;
  readonly fillsPerSecond: number;
}

function ratesBetween(before: Sample, now: Sample): Rates {
  const seconds = Math.max(0.001, (now.atMs - before.atMs) / 1000);
  // A restarted process counts from zero again.
  return {
    ordersPerSecond: Math.max(0, now.orders - before.orders) / seconds,
    fillsPerSecond: Math.max(0, now.fills - before.fills) / seconds,
  };
}

/** A service that is restarting shows as zeros, not as an error. */
async function sample({ places, ports, baseUrl }: RunningStack): Promise<Sample> {
  const matcherPorts = places.of('matcher').map((place) => place.ports.matcherOps);
  const ingressPorts = places.of('ingress').map((place) => place.ports.ingressOps);
  const [replicas, projections, matcher, ingress, unready] = await Promise.all([
    Promise.all(matcherPorts.map(readReplicas)),
    readJson<{ projections: readonly ProjectionLine[] }>(`${baseUrl}/status`),
    Promise.all(matcherPorts.map(readCounters)),
    Promise.all(ingressPorts.map(readCounters)),
    readUnready(places, ports.operatorOps),
  ]);
  const placed = ingress.flat();
  return {
    atMs: Date.now(),
    orders:
      counterSum(placed, 'pm_ingress_placed_total') +
      counterSum(placed, 'pm_ingress_refused_total'),
    fills: counterSum(matcher.flat(), 'pm_matcher_fills_total'),
    partitions: ownersOf(replicas.flat()),
    projections: projections?.projections ?? [],
    unready,
  };
}

/** Each partition once, as its owner shows it if there is one. */
function ownersOf(lines: readonly ReplicaLine[]): readonly ReplicaLine[] {
  const found = new Map<number, ReplicaLine>();
  for (const line of lines) {
    const isBetter = line.role === 'owner' || !found.has(line.partition);
    if (isBetter) found.set(line.partition, line);
  }
  return [...found.values()].sort((one, other) => one.partition - other.partition);
}

/** The partitions of a matcher; none while it restarts. */
async function readReplicas(opsPort: number): Promise<readonly ReplicaLine[]> {
  const status = await readJson<MatcherStatus>(`http://${loopback}:${opsPort}/status`);
  return (status?.partitions ?? []).map((line) => ({ ...line, instance: status?.instance ?? '' }));
}

/** Services that run and cannot do their work now, as while an engine is away. */
async function readUnready(places: Places, operatorPort: number): Promise<UnreadyServices> {
  const scaled = listening.flatMap(([service, port]) =>
    places.of(service).map((place) => [place.name, place.ports[port]] as const),
  );
  const asked = [...scaled, ['operator', operatorPort] as const].map(
    async ([name, port]) => [name, await unreadyReasons(port)] as const,
  );
  return new Map((await Promise.all(asked)).filter(([, reasons]) => reasons.length > 0));
}

async function unreadyReasons(port: number): Promise<readonly string[]> {
  try {
    const signal = AbortSignal.timeout(1_000);
    const response = await fetch(`http://${loopback}:${port}/ready`, { signal });
    const reasons = reasonsIn(await response.text());
    return response.ok ? [] : reasons;
  } catch {
    return [];
  }
}

async function readJson<T>(url: string): Promise<T | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    return response.ok ? ((await response.json()) as T) : null;
  } catch {
    return null;
  }
}

function plainLine(now: Sample, rates: Rates): string {
  const lag = now.partitions.reduce((sum, one) => sum + one.lagRecords, 0);
  const live = now.partitions.filter((one) => one.state === 'live').length;
  return (
    `${rates.ordersPerSecond.toFixed(1)} orders/s  ${rates.fillsPerSecond.toFixed(1)} fills/s  ` +
    `${live} partitions live  lag ${lag}  ${lagText(now.projections)}`
  );
}

function panelText(stack: RunningStack, now: Sample, rates: Rates): string {
  const rows = now.partitions.map((one) => [
    String(one.partition),
    one.role === 'owner' ? one.instance : '',
    one.state,
    String(one.lagRecords),
    String(one.inOffset),
    String(one.openOrders),
  ]);
  const processes = stack.supervisor.status();
  const failures = failuresText(processes);
  return [
    `${rates.ordersPerSecond.toFixed(1).padStart(8)} orders/s ${rates.fillsPerSecond.toFixed(1).padStart(8)} fills/s`,
    lagText(now.projections),
    '',
    textTable([['partition', 'owner', 'state', 'lag', 'last offset', 'open orders'], ...rows]),
    '',
    processTable(processes, now.unready),
    ...(failures === '' ? [] : ['', failures]),
  ].join('\n');
}

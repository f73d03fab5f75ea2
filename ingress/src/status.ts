import type { Readiness } from '@pm/kit/health';
import type { DoorGauges } from './metrics.ts';

interface Hearing {
  readonly inOffset: number;
  readonly clockMs: number;
  readonly heardAtMs: number | null;
}

interface Line {
  readonly sink: { queued(partition: number): number };
  readonly waiters: { readonly count: number };
}

/** The parts that status, readiness and gauges look at. They exist only once they are caught up. */
export interface Watched {
  readonly nowMs: () => number;
  readonly hearings: {
    readonly count: number;
    at(partition: number): Hearing;
    isReady(partition: number): boolean;
  };
  readonly ledgerWatch: { isReady(): boolean };
  readonly signatures: { readonly queued: number };
  readonly traders: Line;
  readonly operator: Line;
  readonly memory: { readonly size: number };
  readonly keys: { readonly size: number };
  readonly owners: { readonly boundCount: number };
  readonly catalog: { readonly marketCount: number };
  readonly sessions: { facts(): object };
}

/** Ready while money can be reserved and at least one partition works; single silent ones refuse their own orders. */
export function readinessOf({ hearings, ledgerWatch }: Watched): Readiness {
  const heard = partitionsOf(hearings.count).some((partition) => hearings.isReady(partition));
  const reasons = [...(ledgerWatch.isReady() ? [] : ['ledger']), ...(heard ? [] : ['executions'])];
  return { ready: reasons.length === 0, reasons };
}

/** What the operator sees, and the same as gauges. */
export function statusOf(watched: Watched): { facts(): object; readonly gauges: DoorGauges } {
  const { hearings, traders, operator } = watched;
  const partitions = partitionsOf(hearings.count);
  const queued = (partition: number) =>
    traders.sink.queued(partition) + operator.sink.queued(partition);
  const gauges: DoorGauges = {
    queuedSignatures: () => watched.signatures.queued,
    queuedCommands: () => partitions.reduce((sum, partition) => sum + queued(partition), 0),
    waitingCommands: () => traders.waiters.count + operator.waiters.count,
    rememberedAnswers: () => watched.memory.size,
    silentPartitions: () => partitions.filter((partition) => !hearings.isReady(partition)).length,
  };
  return {
    gauges,
    facts: () => ({
      readiness: readinessOf(watched),
      markets: watched.catalog.marketCount,
      keys: watched.keys.size,
      boundWallets: watched.owners.boundCount,
      answersKept: gauges.rememberedAnswers(),
      queuedSignatures: gauges.queuedSignatures(),
      waitingCommands: gauges.waitingCommands(),
      sessions: watched.sessions.facts(),
      partitions: partitions.map((partition) => ({
        partition,
        ready: hearings.isReady(partition),
        queuedCommands: queued(partition),
        ...hearingFacts(hearings.at(partition), watched.nowMs()),
      })),
    }),
  };
}

function hearingFacts({ inOffset, clockMs, heardAtMs }: Hearing, nowMs: number) {
  const silentMs = heardAtMs === null ? null : Math.round(nowMs - heardAtMs);
  return { inOffset, clockMs, silentMs };
}

function partitionsOf(count: number): readonly number[] {
  return [...Array(count).keys()];
}

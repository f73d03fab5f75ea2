import { cpus } from 'node:os';
import { usageOf } from '@pm/deploy/local/process-table';
import type { ProcessStatus } from '@pm/deploy/local/supervised-process';

/** Processor and memory of a moment. */
export interface UsageReading {
  /** Processor seconds by process so far. */
  readonly cpuSeconds: ReadonlyMap<string, number>;
  readonly rssBytes: ReadonlyMap<string, number>;
  /** Seconds of all cores so far, and those in which one had nothing to do. */
  readonly coreSeconds: number;
  readonly idleSeconds: number;
}

/** Processor time and memory that the processes and the machine used between two readings. */
export interface UsedWindow {
  readonly cpuSeconds: ReadonlyMap<string, number>;
  readonly rssBytes: ReadonlyMap<string, number>;
  /** Share of the time of all cores in which they had nothing to do. */
  readonly idleShare: number;
  /** Share of the time of all cores that processes used which do not belong to the run. */
  readonly othersShare: number;
}

/** The processes of the stack, and those that the benchmark started beside it, by name. */
export function readUsage(
  stack: readonly Pick<ProcessStatus, 'name' | 'cpuSeconds' | 'rssBytes'>[],
  beside: Readonly<Record<string, number>>,
): UsageReading {
  const own = Object.entries(beside).map(([name, pid]) => ({ name, ...usageOf(pid) }));
  const all = [...stack, ...own];
  const times = cpus().map((core) => core.times);
  const total = times.reduce((sum, one) => sum + Object.values(one).reduce((a, b) => a + b, 0), 0);
  const idle = times.reduce((sum, one) => sum + one.idle, 0);
  return {
    cpuSeconds: new Map(all.map(({ name, cpuSeconds }) => [name, cpuSeconds])),
    rssBytes: new Map(all.map(({ name, rssBytes }) => [name, rssBytes])),
    coreSeconds: total / 1_000,
    idleSeconds: idle / 1_000,
  };
}

export function usedBetween(from: UsageReading, to: UsageReading): UsedWindow {
  const cpuSeconds = new Map(
    [...to.cpuSeconds].map(([name, now]) => [name, now - (from.cpuSeconds.get(name) ?? 0)]),
  );
  const own = [...cpuSeconds.values()].reduce((sum, seconds) => sum + seconds, 0);
  const cores = to.coreSeconds - from.coreSeconds;
  const idle = to.idleSeconds - from.idleSeconds;
  return {
    cpuSeconds,
    rssBytes: to.rssBytes,
    idleShare: idle / cores,
    othersShare: Math.max(0, cores - idle - own) / cores,
  };
}

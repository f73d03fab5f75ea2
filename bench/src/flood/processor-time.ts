import type { RunningStack } from '@pm/deploy/stack/stack';

/** Processor seconds of each process of the stack. */
export type ProcessorTimes = ReadonlyMap<string, number>;

export function processorTimes({ supervisor }: RunningStack): ProcessorTimes {
  return new Map(supervisor.status().map(({ name, cpuSeconds }) => [name, cpuSeconds]));
}

/** Adds what each process used between two readings. */
export function addUsed(
  sums: Map<string, number>,
  before: ProcessorTimes,
  after: ProcessorTimes,
): void {
  for (const [name, seconds] of after) {
    sums.set(name, (sums.get(name) ?? 0) + seconds - (before.get(name) ?? 0));
  }
}

import type { Execution } from '@pm/schemas/log/executions';
import { noCutover, type RecentLimits, RecentLog } from '../../src/recent/recent-log.ts';
import { TinyLog } from './log.ts';

export const pacedPartitions = [0, 1, 2] as const;
const records = 200;

/** Three logs that memory and the tables follow, each at a pace of its own; a step takes a millisecond. */
export class PacedLogs {
  readonly recent: RecentLog;
  readonly logs: readonly (readonly Execution[])[];
  readonly read = [0, 0, 0];
  readonly stored = [0, 0, 0];

  #nowMs = 0;

  constructor(seed: number, limits: Partial<RecentLimits>) {
    this.recent = new RecentLog(limits);
    this.logs = pacedPartitions.map((one) => new TinyLog(seed + one, one).records(records));
    this.recent.restart(new Map(pacedPartitions.map((one) => [one, 0])));
  }

  /** Memory reads a record, or the tables take some; they may be ahead of memory, or are `behind` it. */
  step(random: (below: number) => number, tables?: 'behind'): void {
    this.#nowMs += 1;
    const at = random(3);
    const position = this.read[at] ?? 0;
    const execution = this.logs[at]?.[position];
    if (random(3) > 0 && execution !== undefined) {
      this.recent.take(at, execution, position);
      this.read[at] = position + 1;
    } else if (random(4) === 0) {
      const end = tables === 'behind' ? position : records;
      const stored = Math.min(end, (this.stored[at] ?? 0) + random(40));
      this.stored[at] = stored;
      this.recent.stored(at, stored, this.#nowMs);
    }
  }

  /** The end of what memory or the tables have of a partition with this cutover offset. */
  knownEnd(partition: number, cutoverOffset: number): number {
    const [read = 0, stored = 0] = [this.read[partition], this.stored[partition]];
    return cutoverOffset === noCutover ? stored : Math.max(read, stored);
  }
}

import { collectGarbage } from '../report/garbage.ts';
import { ratioText, spreadOf } from '../report/numbers.ts';
import { ratePerCpuSecond } from '../report/on-cpu.ts';
import type { Table } from '../report/report.ts';

/** Something that is protected, or the same without its protection. */
export interface Step {
  readonly name: string;
  /** The step that it is compared with; none for a bare one. */
  readonly bare?: string;
  /** Records of one run, where there are several. */
  readonly records?: number;
  work(index: number): void;
}

export interface Rounds {
  readonly rounds: number;
  /** Duration of one step in one round, seconds. */
  readonly seconds: number;
}

/** Microseconds of processor time of one run of each step, a sample per round; the steps in turn. */
export function measureSteps(
  steps: readonly Step[],
  { rounds, seconds }: Rounds,
): ReadonlyMap<string, readonly number[]> {
  const samples = new Map(steps.map(({ name }) => [name, [] as number[]]));
  for (const step of steps) ratePerCpuSecond(step.work, seconds / 4);
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, work } of steps) {
      collectGarbage();
      samples.get(name)?.push(1e6 / ratePerCpuSecond(work, seconds));
    }
  }
  return samples;
}

/** Samples of each step, with what it is compared with. */
export function costTable(
  title: string,
  steps: readonly Pick<Step, 'name' | 'bare' | 'records'>[],
  samples: ReadonlyMap<string, readonly number[]>,
): Table {
  return {
    title,
    head: ['step', 'min', 'median', 'max', 'compared with', 'ratio', 'difference', 'a record'],
    rows: steps.map(({ name, bare, records }) => {
      const own = samples.get(name) ?? [];
      const { min, median, max } = spreadOf(own);
      const cells = [name, ...[min, median, max].map(microText)];
      if (bare === undefined) return [...cells, '', '', '', ''];
      const others = samples.get(bare) ?? [];
      const pairs = own.map((value, round) => [value, others[round] ?? Number.NaN] as const);
      const ratio = spreadOf(pairs.map(([value, other]) => value / other)).median;
      const difference = spreadOf(pairs.map(([value, other]) => value - other)).median;
      const ofRecord = records === undefined ? '' : microText(difference / records);
      return [...cells, bare, ratioText(ratio), microText(difference), ofRecord];
    }),
  };
}

function microText(micro: number): string {
  if (!Number.isFinite(micro)) return '-';
  return Math.abs(micro) >= 100 ? micro.toFixed(0) : micro.toPrecision(3);
}

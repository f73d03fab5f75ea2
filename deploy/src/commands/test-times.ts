import { textTable } from '../panel/text-table.ts';
import type { PartReport, SuiteTime } from './test-report.ts';

/** Times that all cores of the machine have worked and rested, milliseconds. */
export interface CoreTimes {
  readonly busyMs: number;
  readonly idleMs: number;
}

/** Time of a part of `npm test`. */
export interface PartTimes extends Pick<PartReport, 'suites'> {
  readonly seconds: number;
  /** Share of all cores that worked meanwhile, for whatever program; the rest was waiting. From 0 to 1. */
  readonly busyShare: number;
}

/** Suites of a part that are shown. */
const suitesShownMax = 10;

/** From what `os.cpus()` says of each core. */
export function coreTimes(
  cores: readonly { readonly times: Readonly<Record<string, number>> }[],
): CoreTimes {
  const sumOf = (isCounted: (name: string) => boolean) =>
    cores
      .flatMap(({ times }) => Object.entries(times))
      .reduce((sum, [name, ms]) => sum + (isCounted(name) ? ms : 0), 0);
  return {
    busyMs: sumOf((name) => name !== 'idle'),
    idleMs: sumOf((name) => name === 'idle'),
  };
}

/** Share of the cores that worked between two readings, from 0 to 1. */
export function busyShare(from: CoreTimes, to: CoreTimes): number {
  const busyMs = to.busyMs - from.busyMs;
  const allMs = busyMs + to.idleMs - from.idleMs;
  return allMs <= 0 ? 0 : busyMs / allMs;
}

/** Each part with its time, and the slowest suites of each. */
export function timesText(parts: ReadonlyMap<string, PartTimes>): string {
  const rows = [...parts].map(([name, { seconds, busyShare }]) => [
    name,
    seconds.toFixed(0),
    `${(busyShare * 100).toFixed(0)} %`,
  ]);
  const slowest = [...parts].flatMap(([name, { suites }]) =>
    suites.length === 0 ? [] : [`\nslowest of ${name}, seconds`, slowestText(suites)],
  );
  return [textTable([['part', 'seconds', 'cores busy'], ...rows]), ...slowest].join('\n');
}

function slowestText(suites: readonly SuiteTime[]): string {
  const sorted = [...suites].sort((a, b) => b.seconds - a.seconds).slice(0, suitesShownMax);
  return textTable(sorted.map(({ name, seconds }) => [seconds.toFixed(0).padStart(5), name]));
}

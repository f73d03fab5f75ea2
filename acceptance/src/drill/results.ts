import { type Accident, titleOf } from './accident.ts';
import type { DrillResult } from './run-drill.ts';

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

/** A line of the terminal for each accident. */
export function resultLines(results: readonly DrillResult[]): readonly string[] {
  return results.map(({ accident, ordersMs, serviceMs, wrong }) => {
    const times = `orders ${seconds(ordersMs).padStart(6)} s  all ${seconds(serviceMs).padStart(6)} s`;
    const verdict = wrong.length === 0 ? 'audit clean' : wrong.join(', ');
    return `${titleOf(accident).padEnd(60)} ${times}  ${verdict}`;
  });
}

const head = ['hit', 'what was done', 'said', 'way back', 'orders, s', 'all, s'];

/** Cells of an accident in the table, without its times. */
export function cellsOf({ state, done, says, wayBack }: Accident): readonly string[] {
  return [state, done, says === null ? 'nothing' : `\`${says}\``, wayBack ?? 'none needed'];
}

/** The table in docs/operating/recovery.md. */
export function resultTable(results: readonly DrillResult[]): readonly string[] {
  const rows = results.map(({ accident, ordersMs, serviceMs }) => [
    ...cellsOf(accident),
    seconds(ordersMs),
    seconds(serviceMs),
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

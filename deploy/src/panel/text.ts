import type { ProcessStatus } from '../local/supervised-process.ts';

/** Rows as columns of text, each as wide as its widest cell. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    }
  }
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}

/** Name, state, memory and CPU of every process. */
export function processTable(processes: readonly ProcessStatus[]): string {
  const rows = processes.map((one) => [
    one.name,
    one.state,
    String(one.pid ?? ''),
    String(one.restarts),
    `${Math.round((one.rssBytes ?? 0) / (1 << 20))} MiB`,
    `${(one.cpuSeconds ?? 0).toFixed(1)} s`,
  ]);
  return textTable([['process', 'state', 'pid', 'restarts', 'memory', 'cpu'], ...rows]);
}

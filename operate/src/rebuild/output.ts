import type { Comparison } from './compare.ts';

/** Output of progress; a terminal shows it in one line. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const barWidth = 40;
/** Without a terminal a line is printed each time this share more is done. */
const plainStep = 0.1;

export interface ProgressBar {
  show(done: number, records: number): void;
  /** Prints the name of the next step. */
  step(name: string): void;
}

export function progressBar(output: ProgressOutput): ProgressBar {
  let isOpen = false;
  let shown = -1;
  const end = () => {
    if (isOpen) output.write('\n');
    isOpen = false;
  };
  return {
    show(done, records) {
      const part = records === 0 ? 1 : done / records;
      const line = `${barOf(part)} ${done} of ${records} records`;
      if (output.isTTY === true) {
        output.write(`\r${line}\u001b[K`);
        isOpen = true;
        return;
      }
      if (part < 1 && part < shown + plainStep) return;
      if (part === 1 && shown === 1) return;
      shown = part;
      output.write(`${line}\n`);
    },
    step(name) {
      end();
      shown = -1;
      output.write(`${name}\n`);
    },
  };
}

function barOf(part: number): string {
  const full = Math.floor(part * barWidth);
  const percent = (Math.floor(part * 1_000) / 10).toFixed(1).padStart(5);
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${percent} %`;
}

/** One line per table: rows and hashes on both sides. */
export function comparisonLine({
  table,
  rows,
  servedHash,
  rebuiltHash,
  difference,
}: Comparison): string {
  const name = table.padEnd(16);
  const counted = `${String(rows).padStart(10)} rows`;
  if (difference === null) return `equal   ${name} ${counted}  ${servedHash}`;
  const { missing, extra, changed, columns, examples } = difference;
  if (columns.length > 0) return `DIFFER  ${name} other columns: ${columns.join(', ')}`;
  const found = `${missing} missing, ${extra} too many, ${changed} changed`;
  return `DIFFER  ${name} ${counted}  ${servedHash} served, ${rebuiltHash} rebuilt: ${found}, such as ${examples.join(' ')}`;
}

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { machineText } from './machine.ts';

export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Report of one benchmark. */
export interface Report {
  /** Name of the benchmark: `npm run bench:<name>`. */
  readonly name: string;
  readonly title: string;
  /** Load shape, rounds, and what is not included. The machine is added by `publish`. */
  readonly conditions: readonly string[];
  readonly tables: readonly Table[];
  readonly notes: readonly string[];
  /** The figures as numbers, for `--json`. */
  readonly figures: unknown;
}

export interface PublishOptions {
  /** Path of a file for the report as JSON. */
  readonly json?: string | undefined;
  /** Puts the report into figures.md. */
  readonly write?: boolean | undefined;
}

const figuresFile = fileURLToPath(new URL('../../../docs/figures.md', import.meta.url));

const preface = `# Figures

Written by \`npm run bench:<name> -- --write\`; each benchmark owns the part between its markers. Rates are per second of
processor time unless a line says otherwise; ratios come from runs taken in turn on one machine. Nothing here is a promise
about another machine.
`;

/** Prints the report, and writes it to the files of the options. */
export function publish(report: Report, options: PublishOptions): void {
  const measuredAt = new Date().toISOString();
  const machine = machineText();
  const text = markdownOf(report, [`${machine}; measured ${measuredAt.slice(0, 16)}Z`]);
  console.log(text);
  if (options.json !== undefined) {
    const { name, conditions, notes, figures } = report;
    const json = { name, measuredAt, machine, conditions, notes, figures };
    writeFileSync(options.json, `${JSON.stringify(json, null, 2)}\n`);
  }
  if (options.write === true) writeSection(report.name, text);
}

function markdownOf(report: Report, machine: readonly string[]): string {
  const conditions = [...machine, ...report.conditions].map((line) => `- ${line}`).join('\n');
  const tables = report.tables.map(tableText).join('\n\n');
  const notes = report.notes.map((note) => `- ${note}`).join('\n');
  return `## ${report.title}\n\n${conditions}\n\n${tables}\n${notes === '' ? '' : `\n${notes}\n`}`;
}

function tableText({ title, head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = line(head.map(() => '---'));
  return [`**${title}**`, '', line(head), rule, ...rows.map(line)].join('\n');
}

function writeSection(name: string, text: string): void {
  const [open, close] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const section = `${open}\n${text}\n${close}`;
  const current = existsSync(figuresFile) ? readFileSync(figuresFile, 'utf8') : preface;
  const from = current.indexOf(open);
  const to = current.indexOf(close);
  const isThere = from !== -1 && to > from;
  const written = isThere
    ? current.slice(0, from) + section + current.slice(to + close.length)
    : `${current.trimEnd()}\n\n${section}\n`;
  writeFileSync(figuresFile, written);
}

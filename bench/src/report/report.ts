import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { busyMark, type MachineWatch, machineText } from './machine.ts';
import { itemText, type Part, withPart } from './parts.ts';

export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Content of a report under one heading. */
export interface Section {
  readonly title: string;
  /** Load shape, rounds, and what is not included. The machine is added by `publish`. */
  readonly conditions: readonly string[];
  readonly tables: readonly Table[];
  readonly notes: readonly string[];
}

/** Report of one benchmark. */
export interface Report extends Section {
  /** Name of the benchmark: `npm run bench:<name>`. */
  readonly name: string;
  /** Its part is the first one of figures.md. */
  readonly heads?: boolean;
  /** Part of another document (below docs/) that the same run writes. */
  readonly page?: Section & { readonly file: string };
  /** The figures as numbers, for `--json`. */
  readonly figures: unknown;
}

export interface PublishOptions {
  /** Path of a file for the report as JSON. */
  readonly json?: string | undefined;
  /** Puts the report into figures.md. */
  readonly write?: boolean | undefined;
  /** Load of the machine before and during the run. */
  readonly machine: MachineWatch;
}

const documents = new URL('../../../docs/', import.meta.url);

const preface = `# Figures

Written by \`npm run bench:<name> -- --write\`; each benchmark owns the part between its markers. Rates are per second of
processor time unless a line says otherwise; ratios come from runs taken in turn on one machine. Nothing here is a promise
about another machine. A heading says where the machine was busy before the start (load average above 1).
`;

/** Prints the report, and writes it to the files of the options. */
export function publish(report: Report, options: PublishOptions): void {
  const measuredAt = new Date().toISOString();
  const loads = options.machine.loads();
  const machine = machineText(loads);
  const line = `${machine}; measured ${measuredAt.slice(0, 16)}Z`;
  const textOf = (section: Section) => markdownOf(section, busyMark(loads), line);
  console.log(textOf(report));
  if (options.json !== undefined) {
    const { name, conditions, notes, figures } = report;
    const json = { name, measuredAt, machine, loads, conditions, notes, figures };
    writeFileSync(options.json, `${JSON.stringify(json, null, 2)}\n`);
  }
  if (options.write !== true) return;
  const { name, page, heads = false } = report;
  writePart('figures.md', { name, text: textOf(report), isFirst: heads });
  if (page !== undefined) writePart(page.file, { name, text: textOf(page), isFirst: false });
}

function markdownOf(section: Section, mark: string, machine: string): string {
  const conditions = [machine, ...section.conditions].map(itemText).join('\n');
  const tables = section.tables.map(tableText).join('\n\n');
  const notes = section.notes.map(itemText).join('\n');
  return `## ${section.title}${mark}\n\n${conditions}\n\n${tables}\n${notes === '' ? '' : `\n${notes}\n`}`;
}

function tableText({ title, head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = line(head.map(() => '---'));
  return [`**${title}**`, '', line(head), rule, ...rows.map(line)].join('\n');
}

function writePart(name: string, part: Part): void {
  const file = fileURLToPath(new URL(name, documents));
  const current = existsSync(file) ? readFileSync(file, 'utf8') : preface;
  writeFileSync(file, withPart(current, part));
}

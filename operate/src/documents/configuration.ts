import { stackFields, toolFields } from '@pm/deploy/stack/variables';
import { gatewayFields } from '@pm/gateway/config';
import { ingressFields } from '@pm/ingress/config';
import type { Field } from '@pm/kit/config';
import { matcherFields } from '@pm/matcher/config';
import { mcpFields } from '@pm/mcp/config';
import { stdioFields } from '@pm/mcp/stdio/settings.io';
import { operatorFields } from '@pm/operator/config';
import { projectorsFields } from '@pm/projectors/config';
import { queryApiFields } from '@pm/query-api/config';
import { streamsFields } from '@pm/streams/config';
import { renewed } from './data-dictionary.ts';

const marks = [
  '<!-- configuration:begin (npm run docs) -->',
  '<!-- configuration:end -->',
] as const;

/** Readers of variables, and the fields of each. */
const readers: readonly (readonly [reader: string, fields: readonly Field<unknown>[]])[] = [
  ['ingress', Object.values(ingressFields)],
  ['operator', Object.values(operatorFields)],
  ['matcher', Object.values(matcherFields)],
  ['projectors', Object.values(projectorsFields)],
  ['query-api', Object.values(queryApiFields)],
  ['streams', Object.values(streamsFields)],
  ['mcp', Object.values(mcpFields)],
  ['mcp over stdio', Object.values(stdioFields)],
  ['gateway', Object.values(gatewayFields)],
  ['tools', toolFields],
  ['npm start', stackFields],
];

/** One line of the reference. */
export interface Setting {
  readonly field: Field<unknown>;
  readonly readers: readonly string[];
}

/** Every variable with its readers; one that means different things to two readers is there twice. */
export function settings(): readonly Setting[] {
  const found = new Map<string, { field: Field<unknown>; readers: string[] }>();
  for (const [reader, fields] of readers) {
    for (const field of fields) {
      const key = cells(field).join('|');
      const known = found.get(key);
      if (known === undefined) found.set(key, { field, readers: [reader] });
      else known.readers.push(reader);
    }
  }
  return [...found.values()];
}

/** The tables of the reference as Markdown: variables with several readers first, then those of each reader. */
export function configurationTables(): string {
  const all = settings();
  const shared = all.filter((one) => one.readers.length > 1);
  const sections = [tableOf('Several readers', shared)];
  for (const [reader] of readers) {
    const own = all.filter((one) => one.readers.length === 1 && one.readers[0] === reader);
    if (own.length > 0) sections.push(tableOf(titleOf(reader), own));
  }
  return sections.join('\n\n');
}

const titleOf = (reader: string) => (reader === 'npm start' ? '`npm start` and the tools' : reader);

function tableOf(title: string, rows: readonly Setting[]): string {
  const isShared = rows.some((row) => row.readers.length > 1);
  const head = [
    'variable',
    'default',
    'unit',
    'allowed',
    'meaning',
    ...(isShared ? ['read by'] : []),
  ];
  const lines = rows.map((row) =>
    line([...cells(row.field), ...(isShared ? [row.readers.join(', ')] : [])]),
  );
  return [`## ${title}`, '', line(head), line(head.map(() => '---')), ...lines].join('\n');
}

const line = (cellsOfLine: readonly string[]) => `| ${cellsOfLine.join(' | ')} |`;

function cells(field: Field<unknown>): readonly string[] {
  return [`\`${field.name}\``, defaultOf(field), field.unit ?? '', allowedOf(field), field.meaning];
}

/** A default in one cell; secrets show none. */
function defaultOf({ secret, fallback }: Field<unknown>): string {
  if (fallback === undefined) return secret ? 'required, secret' : 'required';
  if (secret) return 'optional, secret';
  const { value, shown = Array.isArray(value) ? value.join(',') : String(value ?? '') } = fallback;
  if (shown === '') return 'empty';
  return shown.includes(' ') ? shown : `\`${shown}\``;
}

/** Patterns are code; a bar would end the cell. */
function allowedOf({ allowed }: Field<unknown>): string {
  const words = allowed.replaceAll('|', '\\|');
  return words.replace(/\^\S+\$/, (pattern) => `\`${pattern}\``);
}

/** The text with the tables between its marks renewed. Throws a `RangeError` when marks are missing. */
export function withConfiguration(page: string): string {
  return renewed(page, marks, configurationTables());
}

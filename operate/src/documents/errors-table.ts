import { readRefusalCodes, readRefusals, refusalCauses, refusalCodes, refusals } from '@pm/schemas';

const marks = ['<!-- errors:begin (npm run docs) -->', '<!-- errors:end -->'] as const;
const readMarks = [
  '<!-- read-errors:begin (npm run docs) -->',
  '<!-- read-errors:end -->',
] as const;

/** The closed list of refusals as Markdown. */
function errorsTable(): string {
  const rows = refusalCodes.map((code) => {
    const { status, text, retry, final } = refusals[code];
    const cells = [
      `\`${code}\``,
      status,
      `\`${text}\``,
      yes(retry),
      yes(final),
      refusalCauses[code],
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| code | status | text | retry | final | cause |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** The refusals of reads as Markdown. */
function readErrorsTable(): string {
  const rows = readRefusalCodes.map((code) => {
    const { status, text, retry } = readRefusals[code];
    return `| ${status} | \`${text}\` | ${yes(retry)} |`;
  });
  return ['| status | text | retry |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The text with both tables between their marks renewed. Throws a `RangeError` when marks are missing. */
export function withErrorsTable(text: string): string {
  return between(between(text, readMarks, readErrorsTable()), marks, errorsTable());
}

function between(text: string, [begin, end]: readonly [string, string], table: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError(`${begin} and ${end} mark the table`);
  return `${text.slice(0, from + begin.length)}\n\n${table}\n\n${text.slice(to)}`;
}

function yes(value: boolean | undefined): string {
  return value === true ? 'yes' : '';
}

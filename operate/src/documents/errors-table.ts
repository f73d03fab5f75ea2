import { readRefusalCodes, readRefusals } from '@pm/schemas/read-refusals';
import { refusalCauses } from '@pm/schemas/refusal-causes';
import { refusalCodes, refusals, retryOf } from '@pm/schemas/refusals';

const marks = ['<!-- errors:begin (npm run docs) -->', '<!-- errors:end -->'] as const;
const readMarks = [
  '<!-- read-errors:begin (npm run docs) -->',
  '<!-- read-errors:end -->',
] as const;
const waitingMarks = ['<!-- waiting:begin (npm run docs) -->', '<!-- waiting:end -->'] as const;

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

/** Refusals that end by waiting, by what the refused request may have done. */
function waitingTable(): string {
  const row = (effect: string, meaning: string): string => {
    const codes = refusalCodes.filter((code) => retryOf(code) === effect);
    return `| ${effect} | ${meaning} | ${codes.map((code) => `\`${code}\``).join(', ')} |`;
  };
  return [
    '| effect | the refused request | codes |',
    '| --- | --- | --- |',
    row('unchanged', 'It changed nothing. An earlier attempt may have.'),
    row('unknown', 'It may be carried out, or may be yet.'),
  ].join('\n');
}

/** The text with all tables between their marks renewed. Throws a `RangeError` when marks are missing. */
export function withErrorsTable(text: string): string {
  const withReads = between(text, readMarks, readErrorsTable());
  return between(between(withReads, waitingMarks, waitingTable()), marks, errorsTable());
}

function between(text: string, [begin, end]: readonly [string, string], table: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError(`${begin} and ${end} mark the table`);
  return `${text.slice(0, from + begin.length)}\n\n${table}\n\n${text.slice(to)}`;
}

function yes(value: boolean | undefined): string {
  return value === true ? 'yes' : '';
}

import { refusalCauses, refusalCodes, refusals } from '@pm/schemas';

const begin = '<!-- errors:begin (npm run docs) -->';
const end = '<!-- errors:end -->';

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

/** The text with the table between its marks renewed. Throws a `RangeError` when the marks are missing. */
export function withErrorsTable(text: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError(`${begin} and ${end} mark the table`);
  return `${text.slice(0, from + begin.length)}\n\n${errorsTable()}\n\n${text.slice(to)}`;
}

function yes(value: boolean | undefined): string {
  return value === true ? 'yes' : '';
}

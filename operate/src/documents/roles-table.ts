import { type ClickHouseRole, clickhouseRoles, type ProfileSetting } from '../roles/roles.ts';
import { renewed } from './data-dictionary.ts';

const marks = ['<!-- roles:begin (npm run docs) -->', '<!-- roles:end -->'] as const;

const grouped = new Intl.NumberFormat('en-US');
const shown = (value: number | string): string =>
  typeof value === 'number' ? grouped.format(value) : `\`${value}\``;

function limitText([name, { value, max }]: readonly [string, ProfileSetting]): string {
  const most = max === undefined ? 'fixed' : max === value ? 'at most' : `at most ${shown(max)}`;
  return `\`${name}\` ${shown(value)} (${most})`;
}

function row({ name, comment, settings, quota }: ClickHouseRole): string {
  const limits = Object.entries(settings).map(limitText);
  const hourly = Object.entries(quota ?? {}).map(([what, most]) => `\`${what}\` ${shown(most)}`);
  const cells = [`\`${name}\``, comment, limits.join('; ') || 'none', hourly.join('; ') || 'none'];
  return `| ${cells.join(' | ')} |`;
}

/** The text with the table of roles between its marks renewed. Throws a `RangeError` when marks are missing. */
export function withRolesTable(text: string): string {
  const head = [
    '| role | for | settings of its queries | per hour and user |',
    '| --- | --- | --- | --- |',
  ];
  return renewed(text, marks, [...head, ...clickhouseRoles.map(row)].join('\n'));
}

import { coveredRoutes, rateScopes } from '@pm/schemas';

const begin = '<!-- limits:begin (npm run docs) -->';
const end = '<!-- limits:end -->';

/** Scopes without routes. */
const failures = {
  claim: 'failed proofs of one claimed key from one address',
  address: 'all failed proofs from one address',
  wallet: 'requests of one wallet without reserved money that found no tokens; and of one address',
} as const;

/** The table of rate limits as Markdown. */
export function limitsTable(): string {
  const rows = rateScopes.map((scope) => {
    const { name, unit, windows, countedFor = 'claim' } = scope;
    const routes = coveredRoutes(scope).map(code).join(', ') || failures[countedFor];
    const limits = windows.map(({ limit, seconds }) => `${limit} / ${seconds} s`).join('; ');
    return `| \`${name}\` | ${routes} | ${limits} | ${unit} |`;
  });
  return ['| scope | routes | limit | counts |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** The text with the table between its marks renewed. Throws a `RangeError` when the marks are missing. */
export function withLimitsTable(text: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError(`${begin} and ${end} mark the table`);
  return `${text.slice(0, from + begin.length)}\n\n${limitsTable()}\n\n${text.slice(to)}`;
}

/** Groups and prefixes are words, routes are code. */
const code = (route: string): string => (route.startsWith('all ') ? route : `\`${route}\``);

import { familyMounts, type RouteDeclaration } from '@pm/schemas/routes/route';
import { routeSubjects } from '@pm/schemas/routes/routes';
import { renewed } from './data-dictionary.ts';

const marks = ['<!-- routes:begin (npm run docs) -->', '<!-- routes:end -->'] as const;

const head = ['| route | about | proof | mounts |', '| --- | --- | --- | --- |'];

function row({ method, path, summary, auth, family, mounts = [family] }: RouteDeclaration): string {
  const prefixes = mounts.map((mount) => `\`${familyMounts[mount]}\``);
  return `| \`${method} ${path}\` | ${summary} | ${auth.join(', ')} | ${prefixes.join(', ')} |`;
}

/** The text with a table of routes for each subject between its marks. Throws a `RangeError` when marks are missing. */
export function withRoutesTable(text: string): string {
  const parts = Object.entries(routeSubjects).map(([subject, routes]) =>
    [`## ${subject}`, '', ...head, ...Object.values(routes).map(row)].join('\n'),
  );
  return renewed(text, marks, parts.join('\n\n'));
}

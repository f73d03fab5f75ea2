import { operatorRoles } from '@pm/schemas/operators';
import {
  type Access,
  accessOf,
  type OperatorCaller,
  operatorAccessOf,
  type Principal,
  principals,
} from '@pm/schemas/routes/access';
import { type SecondPersonCase, secondPersonCases } from '@pm/schemas/routes/route';
import { operatorSubjects, routeSubjects } from '@pm/schemas/routes/routes';
import { renewed } from './data-dictionary.ts';

const marks = ['<!-- access:begin (npm run docs) -->', '<!-- access:end -->'] as const;
const names = Object.keys(principals) as readonly Principal[];
/** Whoever is no operator is refused alike. */
const operatorNames: readonly OperatorCaller[] = ['none', 'owner', ...operatorRoles];
const statuses = { read_only_key: 403, user_banned: 400, closed_only: 400 } as const;

function cell(access: Access): string {
  if (access.kind === 'served') return 'yes';
  if (access.kind === 'unproven') return '401';
  if (access.kind === 'absent') return '404';
  if (access.kind === 'roleless') return '403';
  return `${access.each ? 'each' : statuses[access.code]} \`${access.code}\``;
}

interface Row<Name extends string> {
  readonly method: string;
  readonly path: string;
  readonly access: Readonly<Record<Name, Access>>;
  /** When a second operator has to approve a request; only for routes of the operator. */
  readonly secondPerson?: SecondPersonCase;
}

function table<Name extends string>(
  subject: string,
  columns: readonly Name[],
  rows: readonly Row<Name>[],
): string {
  const more = rows.some(({ secondPerson }) => secondPerson !== undefined) ? ['second person'] : [];
  return [
    `## ${subject}`,
    '',
    `| route | ${[...columns, ...more].join(' | ')} |`,
    `| --- |${' --- |'.repeat(columns.length + more.length)}`,
    ...rows.map(({ method, path, access, secondPerson }) => {
      const second = secondPerson === undefined ? [] : [secondPersonCases[secondPerson]];
      const cells = [...columns.map((name) => cell(access[name])), ...second];
      return `| \`${method} ${path}\` | ${cells.join(' | ')} |`;
    }),
  ].join('\n');
}

/** The text with a table of callers for each subject between its marks. Throws a `RangeError` without marks. */
export function withAccessTable(text: string): string {
  const callers = names.map((name) => `| ${name} | ${principals[name]} |`);
  const head = ['## Callers', '', '| caller | sends |', '| --- | --- |', ...callers].join('\n');
  const subjects = Object.entries(routeSubjects).map(([subject, routes]) => {
    const rows = Object.values(routes).map((route) => ({ ...route, access: accessOf(route) }));
    return table(subject, names, rows);
  });
  const operator = Object.entries(operatorSubjects).map(([subject, routes]) => {
    const rows = Object.values(routes).map((one) => ({ ...one, access: operatorAccessOf(one) }));
    return table(`Operator: ${subject}`, operatorNames, rows);
  });
  return renewed(text, marks, [head, ...subjects, ...operator].join('\n\n'));
}

import { resolve } from 'node:path';
import { Fault } from '../fault/index.ts';
import type { ConfigOf, Described, Field, Fields } from './fields.ts';
import { isServiceLink } from './service-links.ts';

/** Checks beyond the single variable. */
export interface ConfigRules<F extends Fields> {
  /** Variables starting with `PM_` that other rooms read, so that one environment can serve several processes. */
  readonly known?: readonly string[];
  /** Variables that another program reads and this one must not be given, such as its secrets. */
  readonly elsewhere?: { readonly program: string; readonly names: readonly string[] };
  /** Sentences about values that do not fit together; none when all fit. */
  readonly relations?: (config: ConfigOf<F>) => readonly string[];
}

/** Read by the lifecycle and by tests; known in every room. */
const parentPipeName = 'PM_PARENT_PIPE';
const testPrefix = 'PM_TEST_';

type Environment = Readonly<Record<string, string | undefined>>;
/** Problems by variable. */
type Problems = Record<string, string>;

/**
 * Reads and checks all variables at once. Throws one `Fault` `invalid_config` (stop) that names every variable in its
 * facts, with what was given (secrets hidden) and what is allowed; unknown variables starting with `PM_` are
 * refused with the nearest known name, since a misspelt setting silently means the default, and those of another
 * program with its name. Links of Kubernetes Services are left alone (`readServiceLinks`).
 */
export function readConfig<const F extends Fields>(
  fields: F,
  env: Environment = process.env,
  rules: ConfigRules<F> = {},
): ConfigOf<F> {
  const problems: Problems = {};
  const values: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(fields)) {
    values[key] = readField(field, env, problems);
  }
  const names = Object.values(fields).map((field) => field.name);
  findUnknown(env, [...names, ...(rules.known ?? []), parentPipeName], problems);
  findForeign(env, rules.elsewhere, problems);
  const config = values as ConfigOf<F>;
  if (Object.keys(problems).length === 0) checkRelations(rules.relations?.(config), problems);
  if (Object.keys(problems).length > 0) {
    throw new Fault('invalid_config', 'stop', { facts: problems });
  }
  return config;
}

/** A path of the file system, made absolute from the working directory. */
export function path(name: string, options: Described<string>): Field<string> {
  const { meaning, default: given } = options;
  return {
    name,
    meaning,
    allowed: 'a path',
    secret: false,
    ...(given === undefined ? {} : { fallback: { value: resolve(given), shown: given } }),
    parse: (text) => (text.includes('\u0000') ? null : { value: resolve(text) }),
  };
}

/** Whether the parent asks this process to end with its standard input (`PM_PARENT_PIPE=1`). */
export function readParentPipe(env: Environment = process.env): boolean {
  return env[parentPipeName] === '1';
}

/** Names of the links of Kubernetes Services in the environment, which no program reads as settings. */
export function readServiceLinks(env: Environment = process.env): readonly string[] {
  return Object.keys(env).filter((name) => isServiceLink(name, env[name] ?? ''));
}

function readField(field: Field<unknown>, env: Environment, problems: Problems): unknown {
  const given = env[field.name] ?? '';
  if (given === '') {
    if (field.fallback === undefined) {
      problems[field.name] = `missing; allowed: ${field.allowed}`;
    }
    return field.fallback?.value;
  }
  const parsed = field.parse(given);
  if (parsed !== null && 'value' in parsed) return parsed.value;
  const reason = parsed === null ? linkReason(field, given) : `; ${parsed.reason}`;
  problems[field.name] = `given ${shown(field, given)}${reason}; allowed: ${field.allowed}`;
  return undefined;
}

function linkReason({ name }: Field<unknown>, given: string): string {
  return isServiceLink(name, given) ? '; a Kubernetes Service of that name has set it' : '';
}

const shownChars = 80;

function shown(field: Field<unknown>, given: string): string {
  if (field.secret) return `[secret of ${given.length} characters]`;
  const bare = given.replace(/\/\/\S*@/g, '//[secret]@');
  return JSON.stringify(bare.length > shownChars ? `${bare.slice(0, shownChars)}...` : bare);
}

function findUnknown(env: Environment, known: readonly string[], problems: Problems): void {
  for (const name of Object.keys(env)) {
    if (!name.startsWith('PM_') || name.startsWith(testPrefix) || known.includes(name)) continue;
    if (isServiceLink(name, env[name] ?? '')) continue;
    problems[name] = `unknown; the nearest known name is ${nearest(name, known)}`;
  }
}

function findForeign(
  env: Environment,
  elsewhere: ConfigRules<Fields>['elsewhere'],
  problems: Problems,
): void {
  for (const name of elsewhere?.names ?? []) {
    const value = env[name];
    if (value === undefined || isServiceLink(name, value)) continue;
    problems[name] = `belongs to the program ${elsewhere?.program}, and is not for this one`;
  }
}

function checkRelations(sentences: readonly string[] | undefined, problems: Problems): void {
  for (const [index, sentence] of (sentences ?? []).entries()) {
    problems[`relation${index + 1}`] = sentence;
  }
}

function nearest(name: string, known: readonly string[]): string {
  let best = parentPipeName;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const away = distance(name, candidate);
    if (away < bestDistance) {
      best = candidate;
      bestDistance = away;
    }
  }
  return best;
}

/** Levenshtein distance: insertions, deletions and replacements from one text to the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

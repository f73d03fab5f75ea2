import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';

/** Sources that run in a process: their texts by their paths from the root of the repository. */
export type Sources = ReadonlyMap<string, string>;

const readText = (file: string) => readFileSync(join(repositoryRoot, file), 'utf8');

/** The entry file and all sources that it imports, directly or not; imports of types alone do not run. */
export function sourcesOf(entry: string): Sources {
  const found = new Map<string, string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue;
    const text = readText(file);
    found.set(file, text);
    waiting.push(...importsOf(file, text));
  }
  return found;
}

const importing = /^(?:import|export)\s+(?!type\b)(?:([^;']*?)\bfrom\s+)?'([^']+)'/gm;

function importsOf(file: string, text: string): readonly string[] {
  return [...text.matchAll(importing)].flatMap(([, names = '', from = '']) => {
    if (isOfTypes(names)) return [];
    if (from.startsWith('.')) return [join(file, '..', from)];
    const [, room, part = ''] = /^@pm\/([a-z-]+)\/?(.*)$/.exec(from) ?? [];
    return room === undefined ? [] : [sourceOf(room, part)];
  });
}

/** The source of an export of another room, by the `exports` of its package. */
function sourceOf(room: string, part: string): string {
  const { exports } = JSON.parse(readText(`${room}/package.json`)) as {
    readonly exports: Readonly<Record<string, { readonly default: string }>>;
  };
  for (const [name, { default: built }] of Object.entries(exports)) {
    const [before = '', after] = name.replace(/^\.\/?/, '').split('*');
    const isIt = after === undefined ? part === before : part.startsWith(before);
    if (!isIt) continue;
    const target = built.replace('*', part.slice(before.length));
    return join(room, target.replace('/dist/', '/src/').replace(/\.js$/, '.ts'));
  }
  throw new Error(`@pm/${room} has no ${part}`);
}

/** Whether an import in braces names types alone. */
function isOfTypes(names: string): boolean {
  const inBraces = /^\{([^}]*)\}\s*$/.exec(names)?.[1];
  if (inBraces === undefined) return false;
  const all = inBraces.split(',').map((name) => name.trim());
  return all.every((name) => name === '' || name.startsWith('type '));
}

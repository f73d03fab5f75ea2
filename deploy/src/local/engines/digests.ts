import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileFacts } from '../file-facts.ts';
import { StackError } from '../stack-error.ts';

/** SHA-256, hex, by path below a folder. */
export type Digests = ReadonlyMap<string, string>;

/** Reads lines of `sha256sum`; `#` begins a comment line. */
export function parseDigests(text: string): Digests {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, digest, path] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? [];
      if (digest === undefined || path === undefined)
        throw new StackError('BAD_DESCRIPTION', `not a line of sha256sum: ${line}`);
      return [path, digest];
    }),
  );
}

/**
 * Throws a `StackError` FETCH_FAILED that names the files when one differs from its digest, has none, or is missing: a
 * surplus archive in a folder of Java would run as well.
 */
export async function requireDigests(
  folder: string,
  wanted: Digests,
  list = 'deploy/local/engines.sha256',
): Promise<void> {
  const found = new Map<string, string>();
  for (const path of await filesBelow(folder)) {
    const { sha256 } = await fileFacts(join(folder, path));
    found.set(path, sha256);
  }
  const paths = new Set([...wanted.keys(), ...found.keys()]);
  const wrong = [...paths].filter((path) => found.get(path) !== wanted.get(path)).sort();
  if (wrong.length === 0) return;
  const causes = wrong.map((path) => {
    if (!found.has(path)) return `${path} is missing`;
    return wanted.has(path) ? `${path} is ${found.get(path)}` : `${path} is not expected`;
  });
  throw new StackError(
    'FETCH_FAILED',
    `what was fetched is not what ${list} says; nothing of it was run:\n${causes.join('\n')}`,
  );
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

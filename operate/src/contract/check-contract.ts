import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unannounced } from './announced.ts';
import { breakingChanges } from './breaking-changes.ts';
import { fileAt, lastVersion, releasedCommit } from './release.ts';

/** Descriptions of an API by file, as the declarations of the sources give them. */
export type Described = Readonly<Record<string, string>>;

interface ContractResult {
  readonly problems: readonly string[];
  /** Comparisons that were left out, with the reason. */
  readonly leftOut: readonly string[];
}

/** One problem per description of the repository at `root` that is not the one of the declarations. */
export function staleDescriptions(root: string, described: Described): readonly string[] {
  return Object.entries(described)
    .filter(([file, text]) => readFileSync(join(root, file), 'utf8') !== text)
    .map(([file]) => `${file} is not up to date: npm run docs`);
}

/**
 * Compares OpenAPI descriptions with those of the last release, as git has them: a problem for each change that breaks
 * clients and that the changelog does not announce.
 */
export function unannouncedChanges(root: string, described: Described): ContractResult {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const version = lastVersion(changelog);
  if (version === null) return { problems: [], leftOut: ['no release to compare with'] };
  const commit = releasedCommit(root, version);
  const results = Object.entries(described).map(([file, text]) => {
    const released = commit === null ? null : fileAt(root, commit, file);
    if (released === null) return { problems: [], leftOut: [notCompared(file, version)] };
    const changes = breakingChanges(JSON.parse(released), JSON.parse(text));
    const open = unannounced(changes, changelog);
    return { problems: open.map((change) => `${change.route}: ${change.text}`), leftOut: [] };
  });
  return {
    problems: results.flatMap((result) => result.problems),
    leftOut: results.flatMap((result) => result.leftOut),
  };
}

function notCompared(file: string, version: string): string {
  return `${file} is not compared with release ${version}: git has no tag v${version} and no commit of it here`;
}

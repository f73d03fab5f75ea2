import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';

/** Commits of releases that got no tag: their descriptions are the released ones. */
const commitsWithoutTag: Readonly<Record<string, string>> = {
  '0.1.0': '959b30951627a0babe78a26949caf80ea86e085b',
};

/** The newest version that has a heading in a changelog; null before the first release. */
export function lastVersion(changelog: string): string | null {
  return /^## (\d+\.\d+\.\d+) - /m.exec(changelog)?.[1] ?? null;
}

/**
 * The commit of a released version in the repository at `root`: that of its tag `v1.2.3`, or else the one that gave
 * the changelog the version's heading. Null without git, a repository, or that part of its history.
 */
export function releasedCommit(root: string, version: string): string | null {
  const known = commitsWithoutTag[version];
  return (
    commitOf(root, `refs/tags/v${version}`) ??
    (known === undefined ? null : commitOf(root, known)) ??
    commitOfHeading(root, version)
  );
}

/** A file as a commit has it; null if the commit has none. */
export function fileAt(root: string, commit: string, path: string): string | null {
  return git(root, 'show', `${commit}:${path}`);
}

function commitOf(root: string, name: string): string | null {
  return git(root, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`)?.trim() ?? null;
}

function commitOfHeading(root: string, version: string): string | null {
  const search = ['log', '--reverse', '--format=%H %P', `-S## ${version} - `];
  const commits = git(root, ...search, '--', 'CHANGELOG.md') ?? '';
  const [commit = '', parent = ''] = commits.trimEnd().split('\n')[0]?.split(' ') ?? [];
  // The oldest commit of a shallow clone has every heading, and no parent.
  return parent === '' ? null : commit;
}

/** The output of a command of git; null if it fails. Only a repository at `root` itself is asked. */
function git(root: string, ...args: readonly string[]): string | null {
  const { status, stdout } = spawnSync('git', ['-C', root, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    env: { ...process.env, GIT_DIR: undefined, GIT_CEILING_DIRECTORIES: dirname(root) },
  });
  return status === 0 ? stdout : null;
}

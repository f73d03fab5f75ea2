import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unannouncedChanges } from '../../src/contract/check-contract.ts';
import { lastVersion } from '../../src/contract/release.ts';

const file = 'openapi.json';
const released = JSON.stringify({ paths: { '/price': { get: {} } } });
const changed = JSON.stringify({ paths: {} });
const changelog = (line = '') =>
  `# Changelog\n\n## Unreleased\n\n${line}\n\n## 0.9.0 - 2030-01-02\n\n## 0.8.0 - 2030-01-01\n`;

let folders: string[] = [];

afterEach(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
  folders = [];
});

/** A folder with a changelog that has an unannounced change. */
function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pm-release-'));
  folders.push(folder);
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog());
  return folder;
}

function git(folder: string, ...args: readonly string[]): void {
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
  // Without the variables that git sets for hooks, which name another repository.
  const env = { PATH: process.env['PATH'] };
  execFileSync('git', ['-C', folder, ...author, ...args], { stdio: 'ignore', env });
}

function commit(folder: string, texts: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  git(folder, 'add', '.');
  git(folder, 'commit', '--message', 'step');
}

/** A repository: a first commit, one of the release, and one after it with a change that breaks clients. */
function repositoryOf(): string {
  const folder = folderOf();
  git(folder, 'init');
  commit(folder, { [file]: changed, 'CHANGELOG.md': '# Changelog\n' });
  commit(folder, { [file]: released, 'CHANGELOG.md': changelog() });
  commit(folder, { [file]: changed });
  return folder;
}

const found = (folder: string) => unannouncedChanges(folder, { [file]: changed });
const removed = { problems: ['GET /price: the route is removed'], leftOut: [] };
const leftOut = {
  problems: [],
  leftOut: [
    `${file} is not compared with release 0.9.0: git has no tag v0.9.0 and no commit of it here`,
  ],
};

test('a change that breaks clients of the tag of the last release is a problem until it is announced', () => {
  const folder = repositoryOf();
  git(folder, 'tag', 'v0.8.0', 'HEAD');
  git(folder, 'tag', 'v0.9.0', 'HEAD~1');
  expect(found(folder)).toEqual(removed);
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog('- **Breaking:** GET /price is removed.'));
  expect(found(folder)).toEqual({ problems: [], leftOut: [] });
});

test('the tag goes before the commit that gave the changelog the heading of the release', () => {
  const folder = repositoryOf();
  git(folder, 'tag', 'v0.9.0', 'HEAD');
  expect(found(folder)).toEqual({ problems: [], leftOut: [] });
});

test('without the tag the commit that gave the changelog the heading of the release counts', () => {
  expect(found(repositoryOf())).toEqual(removed);
});

test('a shallow clone without the tag says that nothing is compared', () => {
  const folder = folderOf();
  rmSync(folder, { recursive: true });
  git(tmpdir(), 'clone', '--depth', '1', `file://${repositoryOf()}`, folder);
  expect(found(folder)).toEqual(leftOut);
});

test('a folder without history says that nothing is compared, also inside of another repository', () => {
  const around = repositoryOf();
  git(around, 'tag', 'v0.9.0', 'HEAD~1');
  const inside = mkdtempSync(join(around, 'unpacked-'));
  writeFileSync(join(inside, 'CHANGELOG.md'), changelog());
  expect(found(inside)).toEqual(leftOut);
});

test('a description that the last release does not have is not compared', () => {
  const folder = repositoryOf();
  git(folder, 'tag', 'v0.9.0', 'HEAD~1');
  expect(unannouncedChanges(folder, { 'new.json': changed }).leftOut).toHaveLength(1);
});

test('the last version is that of the newest heading', () => {
  expect(lastVersion(changelog())).toBe('0.9.0');
  expect(lastVersion('# Changelog\n\n## Unreleased\n')).toBeNull();
});

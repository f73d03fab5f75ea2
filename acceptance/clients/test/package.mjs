// Packages of this repository as other projects get them: packed, and installed in an empty folder outside of it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { installNode } from '../../../deploy/dist/local/node-versions.js';

export const repository = join(import.meta.dirname, '..', '..', '..');

/** A folder with the package in it from before the first test of a file to after the last. */
export function installedPackage(name, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), `exchange-${name}-package-`));
  const archives = [];

  function run(command, args, cwd = folder) {
    const all = { ...process.env, ...env };
    return execFileSync(command, args, { cwd, env: all, encoding: 'utf8', timeout: 120_000 });
  }

  before(() => {
    const pack = join(repository, 'operate/dist/commands/pack.js');
    const args = [name, '--folder', join(folder, 'contents'), '--to', folder];
    archives.push(run(process.execPath, [pack, ...args], repository).trim());
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...archives]);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  const contents = () =>
    run('tar', ['-tzf', ...archives])
      .trim()
      .split('\n')
      .sort();
  return { folder, run, contents };
}

/** A Node of a major version: the running one, or one from the registry. */
export function nodeOf(major) {
  if (process.versions.node.startsWith(`${major}.`)) {
    return { kind: 'ready', binary: process.execPath };
  }
  return installNode(major, join(repository, '.cache'));
}

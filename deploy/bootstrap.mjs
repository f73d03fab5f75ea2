#!/usr/bin/env node
// Entry point of a bare clone: checks the machine, installs packages, builds, and runs the built command. Plain
// JavaScript on Node's own modules, because nothing else is installed yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const cache = join(root, '.cache');
const nodeMinimum = [20, 19];

/** Command of this file -> entry file that runs after the build. */
const targets = {
  start: 'deploy/dist/commands/start.js',
  stack: 'deploy/dist/commands/stack.js',
  smoke: 'acceptance/dist/commands/smoke.js',
  faults: 'acceptance/dist/commands/faults.js',
  test: 'deploy/dist/commands/test.js',
  near: 'deploy/dist/commands/test-near.js',
  nodes: 'deploy/dist/commands/test-nodes.js',
  python: 'deploy/dist/commands/test-python.js',
  clients: 'acceptance/dist/commands/clients.js',
  bench: 'deploy/dist/commands/bench.js',
  catalog: 'deploy/dist/commands/catalog.js',
  wallets: 'deploy/dist/commands/wallets.js',
  audit: 'operate/dist/commands/audit.js',
  export: 'operate/dist/commands/export.js',
  tour: 'acceptance/dist/commands/tour.js',
  screenshots: 'acceptance/dist/commands/screenshots.js',
  rebuild: 'operate/dist/commands/rebuild.js',
  repair: 'operate/dist/commands/repair.js',
  sbom: 'operate/dist/commands/sbom.js',
  preflight: 'operate/dist/commands/preflight.js',
  access: 'operate/dist/commands/access.js',
  operators: 'operate/dist/commands/operators.js',
  keys: 'operate/dist/commands/keys.js',
  backup: 'operate/dist/commands/backup.js',
  restore: 'operate/dist/commands/restore.js',
  drill: 'acceptance/dist/commands/drill.js',
};

function fail(message) {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [wantMajor, wantMinor] = nodeMinimum;
  if (major > wantMajor || (major === wantMajor && minor >= wantMinor)) return;
  fail(
    `Node ${nodeMinimum.join('.')} or newer is needed, this is ${process.versions.node}.\n` +
      'Get it from your package manager or from nodejs.org.',
  );
}

/** Runs a step with its output in a log file, and names the file when it fails. */
function step(name, command, args) {
  mkdirSync(cache, { recursive: true });
  const logFile = join(cache, `${name}.log`);
  const log = openSync(logFile, 'w');
  const startedAt = performance.now();
  process.stderr.write(`${name.padEnd(10)} ...`);
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', log, log] });
  if (result.status !== 0) {
    const tail = readFileSync(logFile, 'utf8').split('\n').slice(-15).join('\n');
    fail(`${tail}\n${name} failed; the whole output is in ${logFile}`);
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stderr.write(` done in ${seconds} s\n`);
}

/** Identifies the installed packages: the lock file, and the Node version that native parts belong to. */
function packagesMark() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(process.versions.modules)
    .digest('hex');
}

function installPackages() {
  const stamp = join(root, 'node_modules', '.installed-from');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === packagesMark()) return;
  // `npm ci` empties node_modules first, so it runs only when the lock file differs from what is installed. Install
  // scripts stay off: every native part used here ships its binaries inside its package.
  step('packages', 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
  writeFileSync(stamp, packagesMark());
}

/** Every package, because these two refer to all of them, and the console. Types of tests are left to `npm run check`. */
function build() {
  step('build', process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'),
    '-b',
    'acceptance',
    'bench',
  ]);
  step('console', process.execPath, [join(root, 'console/build.mjs')]);
  step('programs', process.execPath, [join(root, 'deploy/bundle.mjs')]);
}

const [command = '', ...args] = process.argv.slice(2);
const target = targets[command];
if (target === undefined) fail(`usage: bootstrap.mjs ${Object.keys(targets).join(' | ')}`);
checkNode();
installPackages();
build();

// The command is imported, not spawned: signals, exit codes and the terminal are then its own.
process.argv = [process.execPath, join(root, target), ...args];
await import(join(root, target));

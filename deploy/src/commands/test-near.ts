import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Command } from 'commander';
import { repositoryRoot } from '../local/paths.ts';
import { compileJavaOnce, enginesArgs, jestProgram } from './jest.ts';
import { nearSuites, type RelatedSuites } from './near.ts';

/**
 * `npm run test:near -- --since COMMIT`: the checks, and the suites that a change can break, with short runs. The
 * change is what differs from the commit: by default what is not committed, or else the newest commit.
 */
const command = new Command('npm run test:near --')
  .option('--since <commit>', 'the commit that the change begins after')
  .parse();
const { since } = command.opts<{ since?: string }>();
const startedAtMs = performance.now();
/** How a program is run whose lines are read. */
const listed = { cwd: repositoryRoot, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;

function lines(program: string, args: readonly string[]): string[] {
  return execFileSync(program, args, listed).split('\n').filter(Boolean);
}

/** Files that the change adds, changes or removes. */
function changedFiles(): readonly string[] {
  const open = [
    ...lines('git', ['diff', '--name-only', since ?? 'HEAD']),
    ...lines('git', ['ls-files', '--others', '--exclude-standard']),
  ];
  if (open.length > 0 || since !== undefined) return open;
  return lines('git', ['diff', '--name-only', 'HEAD~1']);
}

function relatedOf(project: string, sources: readonly string[]): readonly string[] {
  if (sources.length === 0) return [];
  const args = ['--selectProjects', project, '--listTests', '--findRelatedTests', ...sources];
  const found = lines(process.execPath, [...jestProgram, ...args]);
  return found.filter((line) => line.endsWith('.ts')).map((path) => relative(repositoryRoot, path));
}

function run(name: string, program: string, args: readonly string[]): boolean {
  console.log(`\n== ${name}`);
  // Unless another length is asked for.
  const env = { PM_TEST_LENGTH: 'near', ...process.env };
  return spawnSync(program, args, { cwd: repositoryRoot, stdio: 'inherit', env }).status === 0;
}

function runSuites(project: string, suites: readonly string[], more: readonly string[]): boolean {
  if (suites.length === 0) return true;
  const args = ['--selectProjects', project, '--maxWorkers=2', ...more];
  const name = `${suites.length} suites of ${project}`;
  return run(name, process.execPath, [...jestProgram, ...args, '--runTestsByPath', ...suites]);
}

compileJavaOnce();
const changed = changedFiles();
const sources = changed.filter(
  (file) => /\.(ts|tsx|mjs|json)$/.test(file) && existsSync(join(repositoryRoot, file)),
);
const related: RelatedSuites = {
  unit: relatedOf('unit', sources),
  engines: relatedOf('engines', sources),
};
const { unit, engines, leftOut } = nearSuites(changed, related);
console.log(
  `${changed.length} changed files: ${unit.length} unit and ${engines.length} engine suites`,
);
if (leftOut > 0) console.log(`left to npm test: ${leftOut} unit suites of other rooms`);
const isPython = changed.some((file) => file.startsWith('client-python/'));
const passed = [
  run('check', 'npm', ['run', '--silent', 'check']),
  runSuites('unit', unit, []),
  runSuites('engines', engines, enginesArgs),
  !isPython ||
    run('client in Python', process.execPath, [
      join(repositoryRoot, 'deploy/dist/commands/test-python.js'),
    ]),
].every(Boolean);
const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(0);
console.log(`\ntest:near ${passed ? 'passed' : 'FAILED'} after ${seconds} s`);
process.exit(passed ? 0 : 1);

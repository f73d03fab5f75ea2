import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../local/paths.ts';

/**
 * `npm test`: checks, unit tests, tests on real engines, the client in Python, published clients, the smoke run. Each
 * part runs even if an earlier one failed.
 */
interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const scratch = mkdtempSync(join(tmpdir(), 'exchange-test-'));
const noCounts: Readonly<Counts> = { passed: 0, failed: 0, skipped: 0 };
const total: Counts = { ...noCounts };

function run(command: string, args: readonly string[]): boolean {
  const result = spawnSync(command, args, { cwd: repositoryRoot, stdio: 'inherit' });
  return result.status === 0;
}

/** A part that is one test: it passes or it fails. */
function single(name: string, command: string, args: readonly string[]): void {
  console.log(`\n== ${name}`);
  const passed = run(command, args);
  if (passed) total.passed += 1;
  else total.failed += 1;
  console.log(`== ${name} ${passed ? 'passed' : 'FAILED'}`);
}

function jest(project: string, args: readonly string[]): void {
  console.log(`\n== ${project} tests`);
  const file = join(scratch, `${project}.json`);
  const binary = join(repositoryRoot, 'node_modules/jest/bin/jest.js');
  const output = ['--json', `--outputFile=${file}`];
  const passed = run(process.execPath, [binary, '--selectProjects', project, ...args, ...output]);
  add(jestCounts(file), passed);
}

/** Published clients against an exchange of their own; their packages are fetched here, once. */
function clients(): void {
  console.log('\n== published clients');
  const file = join(scratch, 'clients.json');
  const entry = join(repositoryRoot, 'acceptance/dist/commands/clients.js');
  const passed = run(process.execPath, [entry, '--counts', file]);
  add(
    countsFrom(file, (result) => ({ ...noCounts, ...result })),
    passed,
  );
}

/** The client in Python; its environment serves the published clients too, which run it against their exchange. */
function python(): void {
  console.log('\n== client in Python');
  const file = join(scratch, 'python.json');
  const entry = join(repositoryRoot, 'deploy/dist/commands/test-python.js');
  const passed = run(process.execPath, [entry, '--counts', file]);
  add(
    countsFrom(file, (result) => ({ ...noCounts, ...result })),
    passed,
  );
}

/** A part that failed without a failed test counts as one. */
function add(counts: Counts, passed: boolean): void {
  total.passed += counts.passed;
  total.failed += passed ? counts.failed : Math.max(counts.failed, 1);
  total.skipped += counts.skipped;
}

function jestCounts(file: string): Counts {
  return countsFrom(file, (result) => ({
    passed: result['numPassedTests'] ?? 0,
    failed: (result['numFailedTests'] ?? 0) + (result['numRuntimeErrorTestSuites'] ?? 0),
    skipped: (result['numPendingTests'] ?? 0) + (result['numTodoTests'] ?? 0),
  }));
}

/** Without a file the runner itself has failed. */
function countsFrom(file: string, read: (result: Record<string, number>) => Counts): Counts {
  try {
    return read(JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>);
  } catch {
    return noCounts;
  }
}

single('check', 'npm', ['run', '--silent', 'check']);
jest('unit', ['--maxWorkers=2']);
// After many suites in one process Node.js 20 may spin without end while it cleans up.
jest('engines', ['--runInBand', '--forceExit']);
python();
clients();
single('smoke', process.execPath, [join(repositoryRoot, 'acceptance/dist/commands/smoke.js')]);
rmSync(scratch, { recursive: true, force: true });

const skipped = total.skipped === 0 ? '' : `, ${total.skipped} skipped`;
console.log(`\ntests: ${total.passed} passed, ${total.failed} failed${skipped}`);
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);

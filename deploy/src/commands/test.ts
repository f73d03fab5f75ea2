import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { repositoryRoot } from '../local/paths.ts';
import { enginesArgs, jestProgram } from './jest.ts';
import { emptyReport, failuresText, jestReport, type PartReport } from './test-report.ts';
import { busyShare, coreTimes, type PartTimes, timesText } from './test-times.ts';

/**
 * `npm test`: checks, unit tests, simulations, tests on real engines, the client in Python, published clients, the
 * smoke run. Each part runs even if an earlier one failed; where the time went and the names of failed tests come last.
 * `npm run test:deep` is the same with the long runs at their deep lengths, and says what they were.
 */
const command = new Command('npm test').option('--deep', 'long runs at their deep lengths').parse();
const { deep: isDeep = false } = command.opts<{ deep?: boolean }>();
const scratch = mkdtempSync(join(tmpdir(), 'exchange-test-'));
const parts = new Map<string, PartReport & PartTimes>();
/** When the running part began. */
let begun = { atMs: performance.now(), cores: coreTimes(cpus()) };

function run(command: string, args: readonly string[]): boolean {
  const result = spawnSync(command, args, { cwd: repositoryRoot, stdio: 'inherit' });
  return result.status === 0;
}

/** A part that is one test: it passes or it fails. */
function single(name: string, command: string, args: readonly string[]): void {
  console.log(`\n== ${name}`);
  const passed = run(command, args);
  add(name, passed ? { ...emptyReport, passed: 1 } : emptyReport, passed);
  console.log(`== ${name} ${passed ? 'passed' : 'FAILED'}`);
}

function jest(project: string, args: readonly string[], name = project): void {
  console.log(`\n== ${name} tests`);
  const file = join(scratch, `${name}.json`);
  const output = ['--json', `--outputFile=${file}`];
  const passed = run(process.execPath, [
    jestProgram,
    '--selectProjects',
    project,
    ...args,
    ...output,
  ]);
  const read = (text: string) => jestReport(text, repositoryRoot);
  add(name, reportFrom(file, read), passed);
}

/** A part that has a command of its own, which writes its report to a file. */
function part(name: string, entry: string): void {
  console.log(`\n== ${name}`);
  const file = join(scratch, 'report.json');
  rmSync(file, { force: true });
  const passed = run(process.execPath, [join(repositoryRoot, entry), '--counts', file]);
  add(
    name,
    reportFrom(file, (text) => ({ ...emptyReport, ...JSON.parse(text) })),
    passed,
  );
}

/** The part that ran until now. One that failed without a failed test counts as one. */
function add(name: string, report: PartReport, passed: boolean): void {
  const isSilent = !passed && report.failed === 0;
  const counted = isSilent ? { ...report, failed: 1, failures: [name] } : report;
  const now = { atMs: performance.now(), cores: coreTimes(cpus()) };
  const seconds = (now.atMs - begun.atMs) / 1_000;
  parts.set(name, { ...counted, seconds, busyShare: busyShare(begun.cores, now.cores) });
  begun = now;
}

/** Without a file the runner itself has failed. */
function reportFrom(file: string, read: (text: string) => PartReport): PartReport {
  try {
    return read(readFileSync(file, 'utf8'));
  } catch {
    return emptyReport;
  }
}

/** A line of each long run: its suite, and how long it was in what the suite counts. */
const runsFile = join(scratch, 'long-runs.txt');
if (isDeep) Object.assign(process.env, { PM_TEST_LENGTH: 'deep', PM_TEST_RUNS: runsFile });

single('check', 'npm', ['run', '--silent', 'check']);
jest('unit', ['--maxWorkers=2']);
jest('simulator', ['--maxWorkers=2']);
// A rebuild beside other suites outlives its hold of the tables on a slow machine.
const alone = 'operate/test/rebuild/rebuild.engine';
jest('engines', [...enginesArgs, '--runInBand', '--testPathPatterns', alone], 'engines-alone');
// The others wait half of their time, so two run side by side on engines that they share.
jest('engines', [...enginesArgs, '--maxWorkers=2', '--testPathIgnorePatterns', alone]);
// The environment of the client in Python serves the published clients too, which run it against their exchange.
part('client in Python', 'deploy/dist/commands/test-python.js');
// Against an exchange of their own; their packages are fetched here, once.
part('published clients', 'acceptance/dist/commands/clients.js');
single('smoke', process.execPath, [join(repositoryRoot, 'acceptance/dist/commands/smoke.js')]);
if (isDeep) console.log(`\nlong runs\n${readFileSync(runsFile, 'utf8')}`);
rmSync(scratch, { recursive: true, force: true });

console.log(`\n${timesText(parts)}`);
const sumOf = (name: 'passed' | 'failed' | 'skipped') =>
  [...parts.values()].reduce((sum, report) => sum + report[name], 0);
const [passed, failed, skipped] = [sumOf('passed'), sumOf('failed'), sumOf('skipped')];
if (failed > 0) console.log(`\n${failuresText(parts)}`);
const skippedText = skipped === 0 ? '' : `, ${skipped} skipped`;
console.log(`\ntests: ${passed} passed, ${failed} failed${skippedText}`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { repositoryRoot } from '../local/paths.ts';
import { compileJavaOnce, enginesArgs, jestProgram } from './jest.ts';
import { areEnginesGiven, startTestEngines } from './test-engines.ts';
import { emptyReport, failuresText, jestReport, type PartReport } from './test-report.ts';
import { busyShare, coreTimes, type PartTimes, timesText } from './test-times.ts';

/**
 * `npm test`: unit tests with simulations, then tests of exchanges on real engines; beside them checks, the client in
 * Python, published clients and tests of single rooms on real engines. Each part runs even if an earlier one failed;
 * where the time went and the names of failed tests come last. `npm run test:deep` is the same with the long runs at
 * their deep lengths, and says what they were.
 */
const command = new Command('npm test').option('--deep', 'long runs at their deep lengths').parse();
const { deep: isDeep = false } = command.opts<{ deep?: boolean }>();
/** Suites at a time in one run of Jest: a third one of whole exchanges makes all slower where two cores are busy. */
const workersMax = 2;
/** Rooms whose engine suites start whole exchanges. */
const exchangeRooms = ['acceptance', 'operate', 'mcp'];
const coreCount = availableParallelism();
const workers = `--maxWorkers=${Math.min(coreCount, workersMax)}`;
const scratch = mkdtempSync(join(tmpdir(), 'exchange-test-'));
const parts = new Map<string, PartReport & PartTimes>();

/** A part of the tests: a program, and where it leaves its report. */
interface Part {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Variables besides those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Reads the report once the program has ended. */
  report(passed: boolean): PartReport;
}

/** A part that is one test: it passes or it fails. */
function single(name: string, program: string, args: readonly string[]): Part {
  const report = (passed: boolean) => (passed ? { ...emptyReport, passed: 1 } : emptyReport);
  return { name, program, args, report };
}

function jest(name: string, projects: readonly string[], args: readonly string[]): Part {
  const file = join(scratch, `${name}.json`);
  const which = ['--selectProjects', ...projects, ...args, '--json', `--outputFile=${file}`];
  return {
    name,
    program: process.execPath,
    args: [...jestProgram, ...which],
    report: () => reportFrom(file, (text) => jestReport(text, repositoryRoot)),
  };
}

/** A part that has a command of its own, which writes its report to a file. */
function counted(name: string, entry: string): Part {
  const file = join(scratch, `${name}.json`);
  return {
    name,
    program: process.execPath,
    args: [join(repositoryRoot, entry), '--counts', file],
    report: () => reportFrom(file, (text) => ({ ...emptyReport, ...JSON.parse(text) })),
  };
}

/** Without a file the runner itself has failed. */
function reportFrom(file: string, read: (text: string) => PartReport): PartReport {
  try {
    return read(readFileSync(file, 'utf8'));
  } catch {
    return emptyReport;
  }
}

/** Runs a part whose lines are seen at once. */
async function runHere(part: Part): Promise<void> {
  console.log(`\n== ${part.name}`);
  const passed = await timed(part, 'inherit');
  console.log(`== ${part.name} ${passed ? 'passed' : 'FAILED'}`);
}

/** Engine suites of the rooms that start whole exchanges, or of all others. */
function engineSuites(are: 'of exchanges' | 'of rooms', at: string): Part {
  const root = join(repositoryRoot, '/').replace(/[^\w/-]/g, '\\$&');
  const which = `^${root}(${are === 'of exchanges' ? '?=' : '?!'}(${exchangeRooms.join('|')})/)`;
  const args = [...enginesArgs, at, '--testPathPatterns', which];
  return jest(`engines ${are}`, ['engines'], args);
}

/** Runs a part beside another one; its lines are shown once it has ended. */
async function runBeside(part: Part): Promise<void> {
  const file = join(scratch, 'said.txt');
  const said = openSync(file, 'w');
  const passed = await timed(part, said);
  closeSync(said);
  console.log(`\n== ${part.name}\n${readFileSync(file, 'utf8')}`);
  console.log(`== ${part.name} ${passed ? 'passed' : 'FAILED'}`);
}

/** Runs a program and notes its report and time. One that failed without a failed test counts as one. */
async function timed({ name, program, args, env, report }: Part, out: 'inherit' | number) {
  const begun = { atMs: performance.now(), cores: coreTimes(cpus()) };
  const child = spawn(program, args, {
    cwd: repositoryRoot,
    stdio: ['ignore', out, out],
    env: { ...process.env, ...env },
  });
  // A program that cannot be started has failed; the other parts run.
  const [code] = await once(child, 'exit').catch(() => [null]);
  const passed = code === 0;
  const found = report(passed);
  const isSilent = !passed && found.failed === 0;
  const seconds = (performance.now() - begun.atMs) / 1_000;
  parts.set(name, {
    ...(isSilent ? { ...found, failed: 1, failures: [name] } : found),
    seconds,
    busyShare: busyShare(begun.cores, coreTimes(cpus())),
  });
  return passed;
}

/** A line of each long run: its suite, and how long it was in what the suite counts. */
const runsFile = join(scratch, 'long-runs.txt');
if (isDeep) Object.assign(process.env, { PM_TEST_LENGTH: 'deep', PM_TEST_RUNS: runsFile });
compileJavaOnce();

/** A part that works when the suites wait: what it does has no time limits. */
function patient(part: Part): Part {
  return { ...part, program: 'nice', args: ['-n', '10', part.program, ...part.args] };
}

const unitSuites = jest('unit and simulator', ['unit', 'simulator'], [workers]);
/** One at a time: they mostly wait, and two suites of exchanges fill two cores. */
const roomSuites = engineSuites('of rooms', '--maxWorkers=1');

/** Programs that wait for processes a part of their time, and what they start is built already. */
const others = [
  patient(single('check', 'npm', ['run', '--silent', 'check'])),
  // Its environment serves the published clients too, which run the client in Python against their exchange.
  patient(counted('client in Python', 'deploy/dist/commands/test-python.js')),
  // Against an exchange of their own; their packages are fetched here, once.
  counted('published clients', 'acceptance/dist/commands/clients.js'),
];

/**
 * Suites and, with a second core, beside them the other parts and the engine suites that wait most. The engines start
 * while suites run that need none; without them the engine suites start their own, and say why that fails.
 */
async function runAll(): Promise<void> {
  // Published clients give a response up after ten seconds: with one core nothing runs beside them.
  const isLone = coreCount === 1;
  if (isLone) for (const part of others) await runBeside(part);
  const engines = areEnginesGiven(process.env)
    ? Promise.resolve(null)
    : startTestEngines(() => {}).catch(() => null);
  const onEngines = async (part: Part) => ({ ...part, env: (await engines)?.variables ?? {} });
  const suites = async () => {
    await runHere(unitSuites);
    await runHere(await onEngines(engineSuites('of exchanges', workers)));
  };
  const beside = async () => {
    if (!isLone) for (const part of others) await runBeside(part);
    await runBeside(await onEngines(roomSuites));
  };
  try {
    if (isLone) await suites().then(beside);
    else await Promise.all([suites(), beside()]);
  } finally {
    await (await engines)?.stop();
  }
}

await runAll();
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

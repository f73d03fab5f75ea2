import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { defaultCacheDir } from '../local/paths.ts';
import {
  installPythonClient,
  makePythonEnvironment,
  pipDownload,
  pipInstall,
  pythonClientRoot,
} from '../local/python-client.ts';
import { emptyReport, failureText, type PartReport } from './test-report.ts';

/**
 * `npm run test:python -- ARGUMENTS OF PYTEST`: lint, types and tests of the client in Python, its wheel, and the wheel
 * in an environment of its own. `PM_BASE_URL` adds a real exchange. Without Python one line says so, with exit code 0.
 */
const command = new Command('npm run test:python --')
  .argument('[arguments...]', 'arguments of pytest, after another --')
  .option('--counts <file>', 'where {passed, failed, skipped, failures} is written')
  .parse();
const { counts: countsFile } = command.opts<{ counts?: string }>();
const caches = join(defaultCacheDir, 'python-client');
const environment = {
  ...process.env,
  PYTHONDONTWRITEBYTECODE: '1',
  RUFF_CACHE_DIR: join(caches, 'ruff'),
  MYPY_CACHE_DIR: join(caches, 'mypy'),
};

function run(python: string, args: readonly string[]): boolean {
  const options = { cwd: pythonClientRoot, env: environment, stdio: 'inherit' } as const;
  return spawnSync(python, args, options).status === 0;
}

/** A failed test in a report of pytest: its module, its name, its message. */
const failedCase =
  /<testcase classname="([^"]*)" name="([^"]*)"[^>]*><(?:failure|error) message="([^"]*)"/g;

/** The totals and the failed tests in the report of pytest; a report without them is one failure. */
function reportOf(report: string, passed: boolean): PartReport {
  const total = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(report)?.[1]);
  const failed = total('failures') + total('errors');
  const skipped = total('skipped');
  if (Number.isNaN(failed)) return { ...emptyReport, failed: 1, failures: ['pytest'] };
  return {
    ...emptyReport,
    passed: total('tests') - failed - skipped,
    failed: passed ? failed : Math.max(failed, 1),
    skipped,
    failures: [...report.matchAll(failedCase)].map(([, of, name, message = '']) =>
      failureText(`${of} ${name}`, message),
    ),
  };
}

function tests(python: string, scratch: string): PartReport {
  const report = join(scratch, 'report.xml');
  const quiet = ['-q', '-p', 'no:cacheprovider', `--junitxml=${report}`];
  const passed = run(python, ['-m', 'pytest', ...quiet, ...command.args]);
  try {
    return reportOf(readFileSync(report, 'utf8'), passed);
  } catch {
    return reportOf('', false);
  }
}

/**
 * Builds the wheel, installs it by its file into an empty environment, and imports it there. What it needs comes from a
 * folder of packages whose digests were checked: pip itself checks none that only a wheel names.
 */
function wheel(python: string, scratch: string): boolean {
  const args = ['-m', 'build', '--wheel', '--no-isolation', '--outdir', scratch, pythonClientRoot];
  if (!run(python, args)) return false;
  const file = readdirSync(scratch).find((name) => name.endsWith('.whl'));
  if (file === undefined) return false;
  // Kept: the tests of published clients run the README in it.
  const folder = join(caches, 'wheel');
  const fresh = join(folder, 'bin', 'python');
  const wheels = join(scratch, 'wheels');
  const source = ['--no-index', '--find-links', wheels];
  const problem =
    makePythonEnvironment(folder) ??
    pipDownload(fresh, wheels) ??
    pipInstall(fresh, [...source, `${join(scratch, file)}[pandas]`]);
  if (problem !== null) console.error(problem);
  const program = 'import exchange_client; print(exchange_client.ExchangeClient.__module__)';
  return problem === null && run(fresh, ['-I', '-c', program]);
}

function everything(python: string, scratch: string): PartReport {
  const steps: readonly (readonly [string, () => boolean])[] = [
    ['format', () => run(python, ['-m', 'ruff', 'format', '--check', '.'])],
    ['lint', () => run(python, ['-m', 'ruff', 'check', '.'])],
    ['types', () => run(python, ['-m', 'mypy'])],
    ['wheel', () => wheel(python, scratch)],
  ];
  const failed = steps.filter(([, step]) => !step()).map(([name]) => name);
  const of = tests(python, scratch);
  return {
    ...emptyReport,
    passed: of.passed + steps.length - failed.length,
    failed: of.failed + failed.length,
    skipped: of.skipped,
    failures: [...failed, ...of.failures],
  };
}

mkdirSync(caches, { recursive: true });
const installed = installPythonClient(defaultCacheDir);
let report: PartReport = { ...emptyReport, skipped: 1 };
if (installed.kind === 'absent') console.log(`client in Python: skipped, ${installed.reason}`);
else {
  const scratch = mkdtempSync(join(tmpdir(), 'exchange-python-'));
  report = everything(installed.python, scratch);
  rmSync(scratch, { recursive: true, force: true });
  const { passed, failed, skipped, failures } = report;
  const of = `Python ${installed.version}`;
  for (const name of failures) console.log(`client in Python: ${name} FAILED`);
  console.log(`client on ${of}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
}
if (countsFile !== undefined) writeFileSync(countsFile, JSON.stringify(report));
process.exit(report.failed === 0 ? 0 : 1);

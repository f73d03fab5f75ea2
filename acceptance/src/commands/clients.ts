import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyReport, failureText, type PartReport } from '@pm/deploy/commands/test-report';
import { processEnvironment } from '@pm/deploy/local/managed-process';
import { loopback } from '@pm/deploy/local/ports';
import { messageOf } from '@pm/deploy/local/stack-error';
import { routes } from '@pm/schemas/routes/routes';
import { Command } from 'commander';
import {
  clientsRoot,
  installNpmClients,
  installPythonClients,
  type PythonClients,
} from '../clients/packages.ts';
import { compatPlan } from '../clients/plan.ts';
import { openRenamedHost, type RenamedHost } from '../clients/rename-proxy.ts';
import { openWorld, type World } from '../smoke/world.ts';

/** `npm run test:clients`: published clients of this API family, unmodified, against a real exchange of their own. */
const command = new Command('npm run test:clients --')
  .argument('[files...]', 'test files of acceptance/clients/test; all of them by default')
  .option('--counts <file>', 'where {passed, failed, skipped, failures} is written')
  .parse();
const { counts: countsFile } = command.opts<{ counts?: string }>();
const wanted = command.args;

const startedAtMs = performance.now();
const mounts = { EXCHANGE_CLOB: '/clob', EXCHANGE_GAMMA: '/gamma', EXCHANGE_DATA: '/data-api' };

function progress(line: string): void {
  console.error(`${((performance.now() - startedAtMs) / 1000).toFixed(1).padStart(6)} s  ${line}`);
}

/** Variables of the tests: addresses and markets of the exchange. */
function settings(world: World, hosts: Record<string, RenamedHost>, python: PythonClients) {
  const { stack, markets } = world;
  return {
    ...processEnvironment(),
    ...Object.fromEntries(Object.entries(hosts).map(([name, host]) => [name, host.url])),
    EXCHANGE_BASE: stack.baseUrl,
    EXCHANGE_ROUTES: routes.map(({ method, path }) => `${method} ${path}`).join(','),
    EXCHANGE_MARKETS: JSON.stringify(markets),
    EXCHANGE_EVENTS: String(compatPlan.events.length),
    EXCHANGE_OPERATOR: `http://${loopback}:${stack.ports.operator}`,
    EXCHANGE_OPERATOR_TOKEN: stack.keys.operatorToken,
    EXCHANGE_PYTHON: python.kind === 'ready' ? python.python : '',
    EXCHANGE_PYTHON_ABSENT: python.kind === 'ready' ? '' : python.reason,
  };
}

/** One file at a time: they share one exchange, and each trades in a market of its own. */
async function runTests(env: Record<string, string>, tapFile: string): Promise<void> {
  const all = readdirSync(join(clientsRoot, 'test')).filter((name) => name.endsWith('.test.mjs'));
  const chosen = wanted.length === 0 ? all.sort() : wanted;
  const child = spawn(
    process.execPath,
    [
      ...['--test', '--test-concurrency=1', '--test-timeout=180000'],
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...['--test-reporter=tap', `--test-reporter-destination=${tapFile}`],
      ...chosen.map((name) => join('test', name)),
    ],
    { cwd: clientsRoot, stdio: 'inherit', env },
  );
  await once(child, 'exit');
}

/** A failed test of a TAP report: its name, and its block of facts, which has its error. */
const failedTest = /^( *)not ok \d+ - (.*)\n\1 {2}---\n([\s\S]*?)\n\1 {2}\.\.\.$/gm;
const errorOfTest = /^ *error: (?:\|-\n)?([\s\S]*?)\n *code: /m;
/** A test that failed because a test within it did, which is listed itself. */
const isOuter = (block: string): boolean => block.includes("failureType: 'subtestsFailed'");

/** The totals that a TAP report ends with, and its failed tests; a report without totals is one failure. */
function reportOf(tapFile: string): PartReport {
  const text = readFileSync(tapFile, 'utf8');
  const total = (name: string) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(text)?.[1]);
  const failed = total('fail') + total('cancelled');
  if (Number.isNaN(failed)) return { ...emptyReport, failed: 1, failures: ['no report'] };
  const failures = [...text.matchAll(failedTest)]
    .filter(([, , , block = '']) => !isOuter(block))
    .map(([, , name = '', block = '']) => failureText(name, errorOfTest.exec(block)?.[1] ?? ''));
  const counts = { passed: total('pass'), failed, skipped: total('skipped') };
  return { ...emptyReport, ...counts, failures };
}

async function runAgainst(world: World, python: PythonClients) {
  const hosts: Record<string, RenamedHost> = {};
  const scratch = mkdtempSync(join(tmpdir(), 'exchange-clients-'));
  try {
    for (const [name, mount] of Object.entries(mounts)) {
      hosts[name] = await openRenamedHost(world.stack.baseUrl, mount);
    }
    const tapFile = join(scratch, 'report.tap');
    await runTests(settings(world, hosts, python), tapFile);
    return reportOf(tapFile);
  } finally {
    await Promise.all(Object.values(hosts).map((host) => host.close()));
    rmSync(scratch, { recursive: true, force: true });
  }
}

let world: World | null = null;
let report: PartReport = emptyReport;
try {
  installNpmClients(progress);
  const python = installPythonClients(progress);
  if (python.kind === 'absent') progress(`clients: skipped, ${python.reason}`);
  world = await openWorld(progress, compatPlan);
  report = await runAgainst(world, python);
} catch (error) {
  console.error(messageOf(error));
  report = { ...emptyReport, failed: 1, failures: [failureText('set-up', messageOf(error))] };
} finally {
  await world?.end();
}
if (countsFile !== undefined) writeFileSync(countsFile, JSON.stringify(report));
process.exit(report.failed === 0 && report.passed > 0 ? 0 : 1);

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { messageOf } from '@pm/deploy/local/stack-error';
import { Command } from 'commander';
import { titleOf } from '../drill/accident.ts';
import { accidents } from '../drill/accidents/all.ts';
import { inNamespace, mayMount } from '../drill/mounts.ts';
import { type Drill, openDrill } from '../drill/open-drill.ts';
import { resultLines, resultTable } from '../drill/results.ts';
import { runDrill } from '../drill/run-drill.ts';

/**
 * `npm run drill`: lets accidents happen to an exchange of its own in a temporary folder, one after the other, carries
 * out the way back, and measures. One line for each, exit code 0 when every audit is clean.
 */
const given = new Command('npm run drill --')
  .option('--orders <number>', 'orders before each accident', Number, 60)
  .option('--only <texts...>', 'accidents whose title contains one of these')
  .option('--list', 'only lists the accidents')
  .option('--table', 'prints the table of docs/operating/recovery.md')
  .parse()
  .opts<{ orders: number; only?: readonly string[]; list?: true; table?: true }>();

if (!mayMount() && given.list === undefined) {
  const [command, ...args] = (await inNamespace()) ?? [];
  if (command !== undefined) {
    const own = [process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
    process.exit(spawnSync(command, [...args, ...own], { stdio: 'inherit' }).status ?? 1);
  }
}

const startedAtMs = performance.now();

function progress(line: string): void {
  console.error(`${((performance.now() - startedAtMs) / 1000).toFixed(1).padStart(6)} s  ${line}`);
}

const { only = [''] } = given;
const chosen = accidents.filter((one) => only.some((text) => titleOf(one).includes(text)));
if (given.list === true) {
  for (const one of chosen) console.log(titleOf(one));
  process.exit(0);
}
const possible = chosen.filter(({ mounts }) => mounts !== true || mayMount());
for (const one of chosen)
  if (!possible.includes(one)) console.log(`not tried, needs the right to mount: ${titleOf(one)}`);

let drill: Drill | null = null;
let isClean = false;
try {
  const pace = { orders: given.orders, progress };
  drill = await openDrill(pace);
  const results = await runDrill(drill, possible, pace);
  console.log((given.table === true ? resultTable(results) : resultLines(results)).join('\n'));
  isClean = results.every(({ wrong }) => wrong.length === 0);
} catch (error) {
  console.error(messageOf(error));
} finally {
  await drill?.end();
}
process.exit(isClean ? 0 : 1);

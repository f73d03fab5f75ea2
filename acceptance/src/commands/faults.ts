import { messageOf } from '@pm/deploy/local/stack-error';
import { textTable } from '@pm/deploy/panel/text-table';
import { Command } from 'commander';
import { BusyCores } from '../faults/busy-cores.ts';
import { type FaultResult, type FaultsReport, runFaults } from '../faults/run-faults.ts';
import { scenarios } from '../faults/scenarios.ts';
import { faultWorld } from '../faults/world.ts';
import type { World } from '../smoke/world.ts';

/**
 * `npm run faults`: a stack with three brokers under 25 orders a second, and one engine after the other killed, paused
 * or away. Prints what clients without retries saw. Exit code 1 when an order was lost or the exchange did not recover.
 */
const given = new Command('npm run faults --')
  .option('--only <text>', 'faults whose name contains this')
  .option('--long', 'also those that take minutes')
  .option('--beside-load', 'with a process on each core that works all the time')
  .parse()
  .opts<{ only?: string; long?: boolean; besideLoad?: boolean }>();

const startedAtMs = performance.now();

function progress(line: string): void {
  console.error(`${((performance.now() - startedAtMs) / 1000).toFixed(1).padStart(6)} s  ${line}`);
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

function counts(codes: ReadonlyMap<string, number>): string {
  const texts = [...codes].map(([code, count]) => `${count} × ${code}`);
  return texts.length === 0 ? '-' : texts.join(', ');
}

function rowOf({ scenario, gaps, judgedMs, otherMs, restarts, problems }: FaultResult) {
  return [
    scenario.name,
    `${seconds(judgedMs)}${scenario.fromBack ? ' after' : ''}`,
    scenario.goalSeconds === null ? '-' : `< ${scenario.goalSeconds}`,
    otherMs === null ? '-' : seconds(otherMs),
    counts(gaps.refused),
    counts(gaps.unknown),
    Object.entries(restarts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ') || '-',
    problems.length === 0 ? 'yes' : `no: ${problems.join('; ')}`,
  ];
}

function print({ results, sent, unresolved, lost, problems }: FaultsReport): boolean {
  const head = ['fault', 'gap s', 'goal', 'others s', 'refused', 'open', 'restarts', 'alone'];
  console.log(textTable([head, ...results.map(rowOf)]));
  const acknowledged = sent.filter(({ outcome }) => outcome === 'acknowledged').length;
  console.log(`\n${sent.length} orders sent once, ${acknowledged} answered as a success`);
  console.log(`answered as a success and never booked: ${lost.length}`);
  console.log(`without a definite fate at the end: ${unresolved.length}`);
  for (const one of unresolved) console.log(`  ${one}`);
  console.log(problems.length === 0 ? 'audit clean' : problems.slice(0, 20).join('\n'));
  const hasRecovered = results.every((one) => one.problems.length === 0);
  return hasRecovered && lost.length + unresolved.length + problems.length === 0;
}

let world: World | null = null;
let load: BusyCores | null = null;
let ok = false;
try {
  world = await faultWorld(progress);
  if (given.besideLoad === true) load = new BusyCores();
  const chosen = scenarios.filter(
    ({ name, isLong }) =>
      (given.long === true || isLong !== true) && name.includes(given.only ?? ''),
  );
  ok = print(await runFaults(world, chosen, progress));
} catch (error) {
  console.error(messageOf(error));
  if (error instanceof Error) console.error(error.stack);
} finally {
  await load?.end();
  await world?.end();
}
process.exit(ok ? 0 : 1);

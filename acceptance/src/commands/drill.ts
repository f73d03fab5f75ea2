import { messageOf } from '@pm/deploy/local/stack-error';
import { Command } from 'commander';
import { runDrill } from '../drill/run-drill.ts';
import { openWorld, smokePlan, type World } from '../smoke/world.ts';

/**
 * `npm run drill`: on a stack of its own in a temporary folder loses the data of each engine and the disks of services
 * in turn, and measures the time to the next order and to full service. One line for each, exit code 0 when every audit
 * is clean.
 */
const { orders } = new Command('npm run drill --')
  .option('--orders <number>', 'orders before each loss', Number, 600)
  .parse()
  .opts<{ orders: number }>();

const startedAtMs = performance.now();

function progress(line: string): void {
  console.error(`${((performance.now() - startedAtMs) / 1000).toFixed(1).padStart(6)} s  ${line}`);
}

/** Copies and checkpoints often enough for a drill of minutes. */
const often = {
  matcher: { PM_SNAPSHOT_EVERY_MS: '2000', PM_SNAPSHOT_COPY_EVERY_MS: '2000' },
  projectors: { PM_CHECKPOINT_EVERY_MS: '5000' },
};

let world: World | null = null;
let isClean = false;
try {
  const engines = { mode: { kind: 'local' }, accounts: often } as const;
  world = await openWorld(progress, smokePlan(), engines);
  const results = await runDrill(world, { orders, progress });
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1).padStart(6)} s`;
  for (const { name, ordersMs, serviceMs, wrong } of results) {
    const verdict = wrong.length === 0 ? 'audit clean' : wrong.join(', ');
    const times = `orders ${seconds(ordersMs)}  all ${seconds(serviceMs)}`;
    console.log(`${name.padEnd(34)} ${times}  ${verdict}`);
  }
  isClean = results.every(({ wrong }) => wrong.length === 0);
} catch (error) {
  console.error(messageOf(error));
} finally {
  await world?.end();
}
process.exit(isClean ? 0 : 1);

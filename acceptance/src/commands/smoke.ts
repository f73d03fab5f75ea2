import { messageOf } from '@pm/deploy/local/stack-error';
import { parseScale } from '@pm/deploy/stack/scale';
import { Command, InvalidArgumentError } from 'commander';
import { runSmoke, wholeSmoke } from '../smoke/run.ts';
import { verifyWorld } from '../smoke/verify.ts';
import { openWorld, smokePlan, type World } from '../smoke/world.ts';

/** `npm run smoke`: checks the whole pipeline. One line of JSON, exit code 0 or 1. */
const { seed, scale, kills, orders } = new Command('npm run smoke --')
  .option('--seed <number>', 'the same orders for the same seed', Number, 1)
  .option('--scale <processes>', 'several processes of services, such as ingress=2,matcher=2', '')
  .option('--kills <number>', 'kill -9 of so many services at random instead of each once', count)
  .option('--orders <number>', 'trade on until so many orders have a result', count, 0)
  .parse()
  .opts<{ seed: number; scale: string; kills?: number; orders: number }>();

function count(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('a whole number');
}

const startedAtMs = performance.now();

function progress(line: string): void {
  console.error(`${((performance.now() - startedAtMs) / 1000).toFixed(1).padStart(6)} s  ${line}`);
}

function percentile(sorted: readonly number[], part: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  return Math.round((value ?? 0) * 10) / 10;
}

async function smoke(world: World): Promise<boolean> {
  const chosen = { seed, ordersMin: orders, length: wholeSmoke };
  const options = kills === undefined ? chosen : { ...chosen, kills };
  const result = await runSmoke(world, options, progress);
  progress('comparing the log, the projections and the responses');
  const { checks, audit } = await verifyWorld(world, result);
  const broken = Object.entries(checks).filter(([, problems]) => problems.length > 0);
  const latencies = [...result.received.latenciesMs].sort((one, other) => one - other);
  const line = {
    ok: broken.length === 0,
    seed,
    orders: result.received.placed.size + result.received.refused.size,
    placed: result.received.placed.size,
    fills: audit.fills,
    refusals: Object.fromEntries(result.received.codes),
    requests: result.received.requests,
    retries: result.received.retries,
    repeatedRecords: audit.repeated,
    rejectedRecords: audit.rejectedRecords,
    latencyMs: {
      p50: percentile(latencies, 0.5),
      p90: percentile(latencies, 0.9),
      p99: percentile(latencies, 0.99),
    },
    kills: result.kills,
    recoveryMs: result.recoveryMs,
    checks: Object.fromEntries(
      Object.entries(checks).map(([name, problems]) => [
        name,
        problems.length === 0 ? 'ok' : problems.slice(0, 5),
      ]),
    ),
    seconds: Math.round((performance.now() - startedAtMs) / 1000),
  };
  console.log(JSON.stringify(line));
  return line.ok;
}

let world: World | null = null;
let ok = false;
try {
  world = await openWorld(progress, smokePlan({ scale: parseScale(scale) }));
  ok = await smoke(world);
} catch (error) {
  console.error(messageOf(error));
  if (error instanceof Error) console.error(error.stack);
  console.log(JSON.stringify({ ok: false, error: messageOf(error) }));
} finally {
  await world?.end();
}
process.exit(ok ? 0 : 1);

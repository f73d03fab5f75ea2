import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openInstallation } from '@pm/deploy/installation/open';
import { addressesOf } from '@pm/deploy/installation/read-addresses';
import type { Progress } from '@pm/deploy/local/managed-process';
import { messageOf } from '@pm/deploy/local/stack-error';
import { storeFolderIn } from '@pm/deploy/stack/services';
import type { RunningStack } from '@pm/deploy/stack/stack';
import { runAudit } from '@pm/operate/audit/run-audit';
import type { SmokeMarket } from '../smoke/trader.ts';
import { type Accident, titleOf } from './accident.ts';
import { DrillTraders } from './drill-traders.ts';
import type { DrilledExchange, DrillFolders } from './drilled-exchange.ts';
import { Watch } from './watch.ts';

export interface DrillResult {
  readonly accident: Accident;
  /** From the accident to the next order that is booked and can be read, milliseconds. */
  readonly ordersMs: number;
  /** From the accident until every service says that it is ready, milliseconds. */
  readonly serviceMs: number;
  /** Findings of the audit, or the reason why the exchange did not come back. */
  readonly wrong: readonly string[];
}

/** An exchange under drill with what trades on it. */
export interface DrillWorld {
  readonly exchange: DrilledExchange;
  readonly markets: readonly SmokeMarket[];
  readonly partitions: number;
}

interface CopiedWorld {
  readonly exchange: { readonly folders: Pick<DrillFolders, 'data'> };
  readonly partitions: number;
}

export interface DrillPace {
  /** Orders before each accident. */
  readonly orders: number;
  readonly progress: Progress;
}

/** Longest time until the words are seen, and until full service, milliseconds. */
const saidMaxMs = 180_000;
const serviceMaxMs = 300_000;
/** Time for projections to reach the end of the log before an audit, milliseconds. */
const auditWaitMs = 120_000;
/** Every checkpoint and copy is there after this, milliseconds. */
const copiedMaxMs = 180_000;
const pollMs = 100;

/**
 * Lets one accident after the other happen to an exchange that has traded, carries out the way back, and measures.
 * After each the audit must be clean; where it is not, or the exchange does not come back, the next one begins with the
 * older copy of everything.
 */
export async function runDrill(
  world: DrillWorld,
  accidents: readonly Accident[],
  pace: DrillPace,
): Promise<readonly DrillResult[]> {
  const results: DrillResult[] = [];
  const traders = new DrillTraders(world);
  for (const accident of accidents) {
    pace.progress(`trading before: ${titleOf(accident)}`);
    await traders.trade(pace.orders);
    await untilCopied(world);
    const result = await carryOut(accident, { ...world, traders, ...pace });
    results.push(result);
    if (result.wrong.length === 0) continue;
    pace.progress(`${titleOf(accident)}: ${result.wrong.join(', ')}`);
    await world.exchange.beginAgain();
  }
  return results;
}

async function carryOut(
  accident: Accident,
  parts: DrillWorld & DrillPace & { readonly traders: DrillTraders },
): Promise<DrillResult> {
  const { exchange, traders, progress } = parts;
  const title = titleOf(accident);
  const watch = new Watch(exchange);
  progress(`accident: ${title}`);
  const startedMs = performance.now();
  const elapsedMs = () => Math.round(performance.now() - startedMs);
  let ordersMs: number | null = null;
  try {
    await accident.carryOut(exchange);
    const onFailure = (text: string) => exchange.said.note(text);
    const order = traders.untilBooked(onFailure).then(() => {
      ordersMs = elapsedMs();
      progress(`${title}: an order is booked after ${ordersMs} ms`);
    });
    order.catch(() => undefined);
    const { says } = accident;
    if (says !== null) {
      await until(saidMaxMs, `said: ${says}`, async () => exchange.said.has(says));
      progress(`${title}: "${says}" after ${elapsedMs()} ms`);
    }
    await accident.bringBack?.(exchange);
    await until(serviceMaxMs, 'full service', async () => (await exchange.reasons()).length === 0);
    await order;
    const serviceMs = elapsedMs();
    progress(`${title}: full service after ${serviceMs} ms; audit`);
    for (const line of watch.lines()) progress(`  ${line}`);
    const wrong = await audit(exchange.stack);
    progress(`${title}: ${wrong.length === 0 ? 'the audit is clean' : wrong.join(', ')}`);
    return { accident, ordersMs: ordersMs ?? serviceMs, serviceMs, wrong };
  } catch (error) {
    for (const line of watch.lines()) progress(`  ${line}`);
    const reasons = (await exchange.reasons()).join(', ');
    const wrong = [`${messageOf(error)}${reasons === '' ? '' : ` (${reasons})`}`];
    const serviceMs = elapsedMs();
    return { accident, ordersMs: ordersMs ?? serviceMs, serviceMs, wrong };
  } finally {
    watch.end();
    traders.giveUp();
  }
}

/** Waits until the store has a snapshot of every partition and checkpoints. */
export async function untilCopied({ exchange, partitions }: CopiedWorld): Promise<void> {
  const store = storeFolderIn(exchange.folders.data);
  const has = (folder: string) =>
    existsSync(join(store, folder)) && readdirSync(join(store, folder)).length > 0;
  const numbers = Array.from({ length: partitions }, (_, partition) => partition);
  const folders = [
    'checkpoints/ledger',
    ...numbers.map((partition) => `snapshots/p${partition}`),
    ...numbers.map((partition) => `checkpoints/books/p${partition}`),
  ];
  await until(copiedMaxMs, 'checkpoints and copies in the store', async () => folders.every(has));
}

async function until(maxMs: number, what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + maxMs;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > deadlineMs) throw new Error(`not within ${maxMs} ms: ${what}`);
    await sleep(pollMs);
  }
}

/** Checks of the audit that do not hold. It waits until tables, books and ledger have reached the end of the log. */
export async function audit(stack: RunningStack): Promise<readonly string[]> {
  const rootKey = stack.keys.rootKey;
  const addresses = { ...addressesOf(stack.urls, stack.access), rootKey };
  const installation = openInstallation(addresses, 'drill');
  const wrong: string[] = [];
  try {
    const holds = await runAudit(installation, {
      waitMs: auditWaitMs,
      seed: 1,
      onProgress: () => {},
      onCheck: (check) => {
        if (check.wrong.length > 0) wrong.push(`${check.name}: ${check.wrong[0]}`);
      },
    });
    return holds || wrong.length > 0 ? wrong : ['the audit did not come to an end'];
  } finally {
    await installation.close();
  }
}

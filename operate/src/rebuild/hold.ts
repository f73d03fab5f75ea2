import { setTimeout as sleep } from 'node:timers/promises';
import { insist } from '@pm/deploy/installation/retry-budget';
import { StackError } from '@pm/deploy/local/stack-error';
import { topicName } from '@pm/kit/registry';
import { projectorGroup, topics } from '@pm/schemas/log/topics';
import { createTableSql } from '@pm/schemas/tables/create-table';
import { rebuildHold } from '@pm/schemas/tables/rebuild-hold';
import type { Rebuild } from './progress.ts';

/** A hold expires after so long. */
const holdMs = 60_000;
/** Time for open batches to end, milliseconds. */
export const restWaitMs = 20_000;
/** Longest wait for them that may be asked for, seconds: the rest of a hold is for the work. */
export const haltedSecondsMax = 40;
const pollMs = 100;

/**
 * Holds the served tables while `work` runs: projectors end their open batches and begin no others, so the tables stay
 * as `completeness` says. Reads go on. Nothing is lost when this process dies: the hold expires. It is not lifted when
 * another run may have placed its own.
 */
export async function whileHeld<T>(
  rebuild: Rebuild,
  how: { readonly haltedMs: number | null },
  work: () => Promise<T>,
): Promise<T> {
  await liftHold(rebuild);
  await placeHold(rebuild);
  try {
    await waitForRest(rebuild, how);
    return await work();
  } finally {
    if (rebuild.isAlone()) await liftHold(rebuild);
  }
}

async function placeHold({ tables, served }: Rebuild): Promise<void> {
  await tables.command(createTableSql(rebuildHold, served));
  await tables.command(
    `INSERT INTO \`${served}\`.${rebuildHold.name} SELECT now64(3) + toIntervalMillisecond({ms:UInt32})`,
    { ms: holdMs },
  );
}

async function liftHold({ tables, served }: Rebuild): Promise<void> {
  await tables.command(`DROP TABLE IF EXISTS \`${served}\`.${rebuildHold.name} SYNC`);
}

/** Time until the hold expires by the server's clock, milliseconds. */
export async function holdLeftMs({ tables, served }: Rebuild): Promise<number> {
  const [row] = await tables.selectRows<{ left: string }>(
    `SELECT toString(dateDiff('millisecond', now64(3), max(until))) AS left FROM \`${served}\`.${rebuildHold.name}`,
  );
  return Number(row?.left ?? 0);
}

/**
 * Resolves when no batch is open: no commit names a range. A projector commits its range before it looks for a hold, so
 * a range that is not seen here has not begun, and its projector will find the hold.
 */
async function waitForRest(
  rebuild: Rebuild,
  { haltedMs }: { readonly haltedMs: number | null },
): Promise<void> {
  const { client, addresses } = rebuild.installation;
  const topic = topicName(topics.executions, addresses.topicPrefix);
  const group = projectorGroup(addresses.topicPrefix, 'tables');
  const deadlineMs = performance.now() + (haltedMs ?? restWaitMs);
  const admin = await client.admin();
  let hasOwner = false;
  try {
    for (;;) {
      rebuild.assertMayGoOn();
      const commits = await insist(() => admin.commits(group, topic));
      const begun = [...commits].filter(([, { metadata }]) => metadata !== '');
      if (begun.length === 0) return;
      hasOwner ||= (await insist(() => admin.groupMembers(group, topic))).size > 0;
      if (performance.now() > deadlineMs) {
        // No projector runs that could end it; the next one starts from the tables served then.
        if (!hasOwner || haltedMs !== null) return;
        throw new StackError('START_FAILED', halted(begun.map(([partition]) => partition)));
      }
      await sleep(pollMs);
    }
  } finally {
    await admin.close();
  }
}

function halted(partitions: readonly number[]): string {
  const which = partitions.join(', ');
  return (
    `projectors do not end their batch of partition ${which}. If they are slow, run it again later; if they cannot because ` +
    'tables lack columns or are gone, run it with --halted'
  );
}

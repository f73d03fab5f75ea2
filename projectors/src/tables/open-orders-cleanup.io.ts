import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Log } from '@pm/kit/log';
import { tables } from '@pm/schemas';

/** Rows of ended orders cost reads little, so they may stand for a while. */
const cleanupEveryMs = 3_600_000;

const sql = `OPTIMIZE TABLE ${tables.openOrders.name} FINAL CLEANUP`;

/**
 * Takes the rows of ended orders out of `open_orders`. Nothing brings an order back: a batch is never sent again behind a later
 * one, so the row that ended it comes after the one that placed it whatever is repeated.
 */
export async function cleanOpenOrders(clickhouse: Pick<ClickHouse, 'command'>): Promise<void> {
  await clickhouse.command(sql);
}

/** Cleans now and then; several processes may do so at once. A failure is told and tried again at the next turn. */
export function runOpenOrdersCleanup({
  clickhouse,
  log,
}: {
  readonly clickhouse: Pick<ClickHouse, 'command'>;
  readonly log: Log;
}): { close(): void } {
  const clean = () =>
    cleanOpenOrders(clickhouse).catch((error: unknown) => {
      log.warn({ err: error }, 'ended orders were not cleaned out');
    });
  const timer = setInterval(() => void clean(), cleanupEveryMs);
  return { close: () => clearInterval(timer) };
}

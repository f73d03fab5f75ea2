import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Log } from '@pm/kit/log';
import { tables } from '@pm/schemas/tables/tables';

/** Rows of ended orders cost reads little, so they may stay for a while. */
const cleanupEveryMs = 3_600_000;

const sql = `OPTIMIZE TABLE ${tables.openOrders.name} FINAL CLEANUP`;

/**
 * Removes the rows of ended orders from `open_orders`. No order comes back: a batch is never sent again after a later
 * one, so the row that ended an order always comes after the one that placed it.
 */
export async function cleanOpenOrders(clickhouse: Pick<ClickHouse, 'command'>): Promise<void> {
  await clickhouse.command(sql);
}

/** Cleans at intervals; several processes may do so at once. A failure is logged and the next interval tries again. */
export function scheduleOpenOrdersCleanup(
  clickhouse: Pick<ClickHouse, 'command'>,
  log: Log,
): { close(): void } {
  const clean = () =>
    cleanOpenOrders(clickhouse).catch((error: unknown) => {
      log.warn({ err: error }, 'the rows of ended orders were not removed');
    });
  const timer = setInterval(() => void clean(), cleanupEveryMs);
  return { close: () => clearInterval(timer) };
}

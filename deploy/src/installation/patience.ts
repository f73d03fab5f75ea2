import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { reactionTo } from '@pm/kit/fault';

/** The tables, for a tool that waits while they are busy or away. Every statement must be one that may be repeated. */
export type PatientTables = Pick<ClickHouse, 'selectRows' | 'command'>;

/** So long a statement that fails for a passing reason is tried again, milliseconds. */
const patienceMs = 120_000;
const firstWaitMs = 100;
const maxWaitMs = 5_000;

export function patientTables(clickhouse: PatientTables): PatientTables {
  return {
    selectRows: (sql, params) => insist(() => clickhouse.selectRows(sql, params)),
    command: (sql, params) => insist(() => clickhouse.command(sql, params)),
  };
}

/** Does it again while it fails with a fault whose reaction is `retry`, until time is up. */
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + patienceMs;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, maxWaitMs)) {
    try {
      return await work();
    } catch (error) {
      if (reactionTo(error) !== 'retry' || performance.now() + waitMs > deadlineMs) throw error;
      await sleep(waitMs);
    }
  }
}

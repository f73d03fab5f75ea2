import type { ClickHouse } from '@pm/kit/clickhouse';
import { insist as insistFor } from '@pm/kit/fault';

/** The tables, for a tool that waits while they are busy or away. Every statement must be repeatable. */
export type RetriedTables = Pick<ClickHouse, 'selectRows' | 'command'>;

/** Retry budget for transient failures, milliseconds. */
const retryBudgetMs = 120_000;

export function retriedTables(clickhouse: RetriedTables): RetriedTables {
  return {
    selectRows: (sql, params) => insist(() => clickhouse.selectRows(sql, params)),
    command: (sql, params) => insist(() => clickhouse.command(sql, params)),
  };
}

/** Repeats work that fails for a transient reason, within the retry budget. */
export function insist<T>(work: () => Promise<T>): Promise<T> {
  return insistFor(work, { forMs: retryBudgetMs });
}

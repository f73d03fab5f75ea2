import type { ClickHouse } from '@pm/kit/clickhouse';
import { insist as insistFor } from '@pm/kit/fault';

/** The tables, for a tool that waits while they are busy or away. Every statement must be one that may be repeated. */
export type RetriedTables = Pick<ClickHouse, 'selectRows' | 'command'>;

/** So long a statement that fails for a passing reason is tried again, milliseconds. */
const patienceMs = 120_000;

export function retriedTables(clickhouse: RetriedTables): RetriedTables {
  return {
    selectRows: (sql, params) => insist(() => clickhouse.selectRows(sql, params)),
    command: (sql, params) => insist(() => clickhouse.command(sql, params)),
  };
}

/** Does it again while it fails for a passing reason, until patience is over. */
export function insist<T>(work: () => Promise<T>): Promise<T> {
  return insistFor(work, { forMs: patienceMs });
}

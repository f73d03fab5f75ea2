import { createHash } from 'node:crypto';
import { assert } from '@pm/kit/assert';
import { tables } from '@pm/schemas/tables/tables';
import { JoinedCalls } from './joined-calls.io.ts';
import type { ProjectionTables } from './projection-tables.io.ts';
import type { TableRows } from './row-writer.ts';

type Guarded = Pick<ProjectionTables, 'guard' | 'insert'>;

/**
 * The tables as the partitions of a process use them together. Checks that come at the same time are one query, and
 * rows of completeness of batches without others go into one insert, which costs ClickHouse as much for one row as for
 * eight. That is for this table alone: its rows are absolute values of which the largest counts, so it does not matter
 * with which others one is repeated. Rows of facts are sent again under the same token by the process that owns their
 * partition then, so an insert of them never has a second partition.
 */
export class JoinedTables implements Guarded {
  readonly #guards: JoinedCalls<undefined, Awaited<ReturnType<Guarded['guard']>>>;
  readonly #inserts: JoinedCalls<{ readonly rows: TableRows; readonly token: string }, void>;

  constructor(joined: Guarded) {
    this.#guards = new JoinedCalls(() => joined.guard());
    this.#inserts = new JoinedCalls((all) => {
      const tokens = all.map(({ token }) => token);
      return joined.insert(rowsTogether(all.map(({ rows }) => rows)), tokenOfAll(tokens));
    });
  }

  /** As of the call or later. */
  guard(): ReturnType<Guarded['guard']> {
    return this.#guards.call(undefined);
  }

  insert(rows: TableRows, token: string): Promise<void> {
    assert(rows.table === tables.completeness, 'only completeness goes together');
    return this.#inserts.call({ rows, token });
  }
}

function rowsTogether(rows: readonly TableRows[]): TableRows {
  const count = rows.reduce((sum, one) => sum + one.count, 0);
  return { table: tables.completeness, count, pieces: rows.flatMap(({ pieces }) => pieces) };
}

/** Names exactly these rows: a token has a limited length, so several are one by their hash. */
function tokenOfAll(tokens: readonly string[]): string {
  const [first = '', ...others] = tokens;
  if (others.length === 0) return first;
  const hash = createHash('sha256').update(tokens.join()).digest('hex');
  return `${tables.completeness.name}:joined:${hash}`;
}

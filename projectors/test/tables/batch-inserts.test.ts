import { setTimeout as wait } from 'node:timers/promises';
import { Fault } from '@pm/kit/fault';
import { tables } from '@pm/schemas/tables/tables';
import { BatchInserts, type BatchInsertsOptions } from '../../src/tables/batch-inserts.io.ts';
import { JoinedTables } from '../../src/tables/joined-tables.io.ts';
import type { ProjectionTables } from '../../src/tables/projection-tables.io.ts';
import type { TableRows } from '../../src/tables/row-writer.ts';

/** One row of every table, and none of one. */
const batch: readonly TableRows[] = Object.values(tables).map((table) => {
  const isEmpty = table === tables.resolutions;
  return { table, count: isEmpty ? 0 : 1, pieces: [] };
});

interface Written {
  /** Names of commits and inserts as they begin and end. */
  readonly steps: string[];
  /** The largest number of inserts at the same time. */
  most: number;
  running: number;
  /** Tables whose row memory may be reused. */
  readonly unused: string[];
}

/** Inserts of a partition into these tables. */
function insertsInto(
  target: Pick<ProjectionTables, 'guard' | 'insert'>,
  changes: Partial<BatchInsertsOptions>,
): BatchInserts {
  return new BatchInserts({
    tables: target,
    joined: new JoinedTables(target),
    identity: 'these',
    isClosed: () => false,
    topicPrefix: 't-',
    partition: 0,
    commit: async () => {},
    onInserted: () => {},
    onUnused: () => {},
    onRetry: () => {},
    onHeld: () => {},
    retryForMs: 0,
    ...changes,
  });
}

/** Writes the batch; `insert` may fail, and takes a moment that differs by table. */
async function write(insert: (table: string) => void, retryForMs = 0): Promise<Written> {
  const seen: Written = { steps: [], most: 0, running: 0, unused: [] };
  const alone = {
    guard: async () => ({ identity: 'these', isHeld: false, serverLife: '1' }),
    async insert({ table: { name } }: TableRows) {
      seen.running += 1;
      seen.most = Math.max(seen.most, seen.running);
      seen.steps.push(`begin ${name}`);
      await wait(1 + (name.length % 7));
      seen.running -= 1;
      insert(name);
      seen.steps.push(`end ${name}`);
    },
  };
  const inserts = insertsInto(alone, {
    commit: async (offset, metadata) => {
      seen.steps.push(`commit ${offset} ${metadata}`);
    },
    onUnused: ({ table }) => seen.unused.push(table.name),
    retryForMs,
  });
  await inserts.write({ from: 3, to: 9 }, batch).catch((error: unknown) => {
    seen.steps.push(error instanceof Fault ? error.code : 'unknown');
  });
  return seen;
}

const all = batch.filter(({ count }) => count > 0).map(({ table }) => table.name);

describe('a batch of tables', () => {
  test('is written between its commits, several tables at a time, empty ones left out', async () => {
    const { steps, most } = await write(() => {});
    expect([steps[0], steps.at(-1)]).toEqual(['commit 3 9', 'commit 9 ']);
    const ends = steps.filter((step) => step.startsWith('end '));
    expect(ends.map((step) => step.slice(4)).sort()).toEqual([...all].sort());
    expect(most).toBe(4);
  });

  test('begins a table that depends on others when those are inserted, and completeness last', async () => {
    const { steps } = await write(() => {});
    const last = ['positions', 'open_orders', 'completeness'];
    const firstOfLast = Math.min(...last.map((name) => steps.indexOf(`begin ${name}`)));
    for (const name of all.filter((one) => !last.includes(one)))
      expect(steps.indexOf(`end ${name}`)).toBeLessThan(firstOfLast);
    for (const name of ['positions', 'open_orders'])
      expect(steps.indexOf(`end ${name}`)).toBeLessThan(steps.indexOf('begin completeness'));
  });

  test('gives back the memory of rows inserted at the first try, and of no others', async () => {
    const failing = new Set(['fills', 'positions']);
    const { steps, unused } = await write((table) => {
      if (failing.delete(table)) throw new Fault('clickhouse_unavailable', 'retry');
    }, 60_000);
    expect(steps.at(-1)).toBe('commit 9 ');
    expect(unused.sort()).toEqual(
      all.filter((name) => name !== 'fills' && name !== 'positions').sort(),
    );
  });

  test.each(['fills', 'holders', 'positions', 'completeness'])(
    'ends with the fault of %s: no insert begins after it, none is running, no commit',
    async (broken) => {
      const { steps, running } = await write((table) => {
        if (table === broken) throw new Fault('clickhouse_busy', 'retry');
      });
      expect([steps.at(-1), running]).toEqual(['clickhouse_busy', 0]);
      expect(steps).not.toContain('commit 9 ');
      const failedAt = steps.indexOf(`begin ${broken}`);
      const begun = steps.slice(failedAt + 1).filter((step) => step.startsWith('begin '));
      expect(begun.length).toBeLessThanOrEqual(2 * 4);
      if (broken !== 'completeness') expect(steps).not.toContain('begin completeness');
    },
  );
});

describe('a server that is killed in an insert', () => {
  /** The token of each insert, and the life of the server in which it came. */
  async function tokensOf(
    killed: boolean,
    isBegun = false,
  ): Promise<readonly (readonly [number, string])[]> {
    let life = 1;
    const came: (readonly [number, string])[] = [];
    const one = {
      guard: async () => ({ identity: 'these', isHeld: false, serverLife: `life${life}` }),
      async insert({ table }: TableRows, token: string) {
        if (table !== tables.fills) return;
        came.push([life, token]);
        if (came.length > 1) return;
        if (killed) life += 1;
        throw new Fault('clickhouse_unavailable', 'retry');
      },
    };
    const inserts = insertsInto(one, { retryForMs: 60_000 });
    await inserts.write({ from: 3, to: 9 }, batch, { isBegun });
    return came;
  }

  test.each([false, true])(
    'gets the rows under another token (begun before: %s)',
    async (isBegun) => {
      expect(await tokensOf(true, isBegun)).toEqual([
        [1, 'fills:t-:0:3-9:life1'],
        [2, 'fills:t-:0:3-9:life2'],
      ]);
    },
  );

  test('and one that lives on gets them under the same', async () => {
    const [[, first], [, second]] = (await tokensOf(false)) as [[number, string], [number, string]];
    expect(second).toBe(first);
  });
});

import { setTimeout as wait } from 'node:timers/promises';
import { Fault } from '@pm/kit/fault';
import { tables } from '@pm/schemas/tables/tables';
import { BatchInserts } from '../../src/tables/batch-inserts.io.ts';
import { completenessRows } from '../../src/tables/completeness.ts';
import { JoinedTables } from '../../src/tables/joined-tables.io.ts';
import { RowWriter } from '../../src/tables/row-writer.ts';
import { FakeTables } from './fake-tables.ts';

/** Tables whose statements take a moment and are counted. */
class SlowTables extends FakeTables {
  readonly counts = { guards: 0, inserts: 0 };

  override async guard() {
    this.counts.guards += 1;
    const found = await super.guard();
    await wait(5);
    return found;
  }

  override async insert(...args: Parameters<FakeTables['insert']>) {
    this.counts.inserts += 1;
    // The form of an insert token that the kit accepts.
    expect(args[1]).toMatch(/^[\w:.,-]{1,200}$/);
    await wait(5);
    await super.insert(...args);
  }
}

const partitions = Array.from({ length: 8 }, (_, partition) => partition);

function insertsOf(slow: SlowTables) {
  const joined = new JoinedTables(slow);
  const commits = new Map<number, string>();
  const each = partitions.map(
    (partition) =>
      new BatchInserts({
        tables: slow,
        joined,
        identity: 'made first',
        isClosed: () => false,
        topicPrefix: 't-',
        partition,
        commit: async (offset, metadata) => {
          await wait(partition % 3);
          commits.set(partition, `${offset} ${metadata}`);
        },
        onInserted: () => {},
        onUnused: () => {},
        onRetry: () => {},
        onHeld: () => {},
        retryForMs: 0,
      }),
  );
  const rest = (partition: number, to: number) =>
    completenessRows(partition, to, { timeMs: 1_000, nextInOffset: to });
  const write = (from: number, to: number) =>
    Promise.allSettled(
      each.map((inserts, partition) => inserts.write({ from, to }, [rest(partition, to)])),
    );
  return { write, each, commits, rest };
}

describe('batches without rows', () => {
  test('of several partitions are written in a few statements, with the commits of each', async () => {
    const slow = new SlowTables();
    const { write, commits } = insertsOf(slow);
    for (const to of [10, 20, 30]) await write(to - 10, to);
    for (const partition of partitions) expect(await slow.completeTo(partition)).toBe(30);
    expect([...commits.values()]).toEqual(partitions.map(() => '30 '));
    expect(slow.raw('completeness')).toHaveLength(3 * partitions.length);
    const { guards, inserts } = slow.counts;
    expect([guards <= 3 * 4, inserts <= 3 * 4]).toEqual([true, true]);
  });

  test('do not delay a batch with rows, and its rows never go together with those of others', async () => {
    const slow = new SlowTables();
    const { write, each, rest } = insertsOf(slow);
    const writer = new RowWriter(tables.resolutions);
    writer.int(0).int(5).int(0).time(1_000).time(1_250).int(7).price(10_000).int(5).end();
    const full = each[0]?.write({ from: 10, to: 20 }, [writer.take(), rest(0, 20)]);
    await Promise.all([full, write(0, 10)]);
    expect(slow.raw('resolutions')).toHaveLength(1);
    expect(() => new JoinedTables(slow).insert(writer.take(), 't')).toThrow('broken_assumption');
  });

  test('are refused all together by tables that were exchanged, and none is committed', async () => {
    const slow = new SlowTables();
    const { write, commits } = insertsOf(slow);
    slow.identity = 'made later';
    const ends = await write(0, 10);
    const codes = ends.map((end) => end.status === 'rejected' && (end.reason as Fault).code);
    expect(codes).toEqual(partitions.map(() => 'tables_exchanged'));
    expect(slow.raw('completeness')).toEqual([]);
    expect([...commits.values()]).toEqual(partitions.map(() => '0 10'));
  });

  test('are not committed where their insert fails, and the next ones are written', async () => {
    const slow = new SlowTables();
    const { write, commits } = insertsOf(slow);
    slow.onStep = () => {
      throw new Fault('clickhouse_unavailable', 'retry');
    };
    await write(0, 10);
    expect([...commits.values()]).toEqual(partitions.map(() => '0 10'));
    slow.onStep = () => {};
    await write(0, 20);
    for (const partition of partitions) expect(await slow.completeTo(partition)).toBe(20);
    expect([...commits.values()]).toEqual(partitions.map(() => '20 '));
  });
});

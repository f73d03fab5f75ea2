import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Fault } from '@pm/kit/fault';
import type { IncomingRecord } from '@pm/kit/kafka';
import { openMetrics } from '@pm/kit/metrics';
import { tables as contracts } from '@pm/schemas/tables/tables';
import { fakeLog, sealed } from '../../../domain/test/executions/fake-log.ts';
import { runLength } from '../../../kit/test/long-runs.ts';
import { seeded } from '../../../kit/test/seeded.ts';
import type { PartitionProjection } from '../../src/log/view-definition.io.ts';
import { projectorMetrics } from '../../src/metrics.ts';
import type { ProjectionTables } from '../../src/tables/projection-tables.io.ts';
import type { TableLimits } from '../../src/tables/tables-projection.io.ts';
import { reusedEvents, tablesView } from '../../src/tables/tables-view.io.ts';
import { executionOf, fillOf, marketSet, TinyExchange } from '../log.ts';
import { named } from './cells.ts';
import { FakeTables } from './fake-tables.ts';

const metrics = projectorMetrics(openMetrics('test'));

/** The commits of a group, which outlive the process. */
class FakeCommits {
  last: { offset: number; metadata: string } | null = null;
  onStep: () => void = () => {};

  async commit(_partition: number, offset: number, metadata: string): Promise<void> {
    this.onStep();
    this.last = { offset, metadata };
    this.onStep();
  }
}

interface World {
  readonly records: readonly IncomingRecord[];
  readonly tables: ProjectionTables;
  readonly commits: FakeCommits;
  readonly next: (below: number) => number;
  readonly payouts: ReadonlyMap<number, number>;
}

function viewOf({
  records,
  tables,
  payouts,
  limits,
}: Pick<World, 'records' | 'tables' | 'payouts'> & { readonly limits: TableLimits }) {
  return tablesView({
    ...fakeLog(records, reusedEvents),
    openCodec: async () => fakeLog([], reusedEvents).codec,
    tables,
    limits,
    metrics,
    catalog: { payout0: async (market) => payouts.get(market) ?? 0 },
    groupId: 'g',
    topicPrefix: 't-',
  });
}

/** One run of the process: from its start to the end of the log, or to the first fault. */
async function live({ records, tables, commits, next, payouts }: World): Promise<void> {
  const limits = {
    batchRecords: 3 + next(20),
    batchRows: 20 + next(200),
    batchMs: 60_000,
    restMs: 60_000,
    pauseMaxMs: 0,
    retryForMs: 0,
  };
  const view = viewOf({ records, tables, payouts, limits });
  const faults: unknown[] = [];
  const fail = (error: unknown) => {
    faults.push(error);
  };
  const committed = async () => commits.last;
  const projection = await view.assign(0, {
    commit: (...args) => commits.commit(...args),
    committed,
    fail,
    // A position reported as stored is committed, not only gathered.
    stored: (position) => expect(commits.last).toEqual({ offset: position, metadata: '' }),
  });
  try {
    for (let at = projection.from; at < records.length; ) {
      const piece = records.slice(at, at + 1 + next(15));
      at += piece.length;
      const batch = { topic: 't', partition: 0, records: piece, highWatermark: records.length };
      const position = await projection.project(batch);
      expect(position).toBeLessThanOrEqual(Math.max(commits.last?.offset ?? 0, projection.from));
    }
    // Gathered rows are written by the timer; the last full batch is being written.
    await new Promise((resolve) => setTimeout(resolve, 5));
  } finally {
    await projection.close();
  }
  expect(faults.length).toBeLessThan(2);
  for (const fault of faults) throw fault;
}

/** A log, and the payouts in it. */
function logOf(seed: number) {
  const executions = new TinyExchange(seed).records(120);
  const payouts = new Map<number, number>();
  for (const event of executions.flatMap((one) => one.events))
    if (event.kind === 'MarketResolved') payouts.set(event.market, event.payout0);
  return { records: sealed(executions), payouts };
}

/**
 * Runs until everything is committed. Records that fill no batch are written by a last run with batches of one record.
 */
async function toTheEnd(world: World, crashes: boolean): Promise<number> {
  const { tables, commits, next } = world;
  let deaths = 0;
  let untilDeath = crashes ? next(60) : Number.POSITIVE_INFINITY;
  const onStep = () => {
    untilDeath -= 1;
    if (untilDeath < 0) throw new Fault('killed', 'stop');
  };
  (tables as FakeTables).onStep = onStep;
  commits.onStep = onStep;
  for (let lives = 0; lives < 2_000 && (commits.last?.offset ?? 0) < 100; lives += 1) {
    try {
      await live(world);
      break;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'killed') throw error;
      deaths += 1;
      untilDeath = next(60);
    }
  }
  (tables as FakeTables).onStep = () => {};
  commits.onStep = () => {};
  const oneByOne = { ...world, next: (below: number) => (below === 20 ? -2 : 0) };
  await live(oneByOne);
  expect(commits.last).toEqual({ offset: world.records.length, metadata: '' });
  return deaths;
}

/** The tables with inserts that wait for something first. */
function insertingAfter(tables: FakeTables, first: () => Promise<void>): ProjectionTables {
  return {
    guard: () => tables.guard(),
    insert: async (rows, token) => {
      await first();
      await tables.insert(rows, token);
    },
    completeTo: (partition) => tables.completeTo(partition),
    place: (partition) => tables.place(partition),
    positions: () => tables.positions(),
    candles: (from, to) => tables.candles(from, to),
  };
}

/** Rows of facts as text, whatever partition they name. */
function factsOf(tables: Pick<FakeTables, 'raw'>, table: string): readonly string[] {
  return tables
    .raw(table)
    .map((row) => String(row.slice(1)))
    .sort();
}

describe('the tables', () => {
  const logs = runLength({ test: 2, deep: 12 });

  test('have the rows of an undisturbed run, wherever the process crashes between commits and inserts', async () => {
    let deaths = 0;
    for (let seed = 1; seed <= logs; seed += 1) {
      const log = logOf(seed);
      const straight = new FakeTables();
      await toTheEnd(
        { ...log, tables: straight, commits: new FakeCommits(), next: seeded(seed) },
        false,
      );
      const killed = new FakeTables();
      deaths += await toTheEnd(
        { ...log, tables: killed, commits: new FakeCommits(), next: seeded(seed + 1_000) },
        true,
      );
      expect(killed.final()).toEqual(straight.final());
      expect(straight.raw('fills').length).toBeGreaterThan(10);
    }
    expect(deaths).toBeGreaterThan((5 * logs) / 3);
  });

  test('have when Kafka got the record of each event, which the clock of the partition does not say', async () => {
    const { records, payouts } = logOf(3);
    const tables = new FakeTables();
    const at = (offset: number) => 1_700_000_000_000 + offset * 17;
    const appended = records.map((record) => ({ ...record, timestampMs: at(record.offset) }));
    const world = { records: appended, payouts, tables, commits: new FakeCommits() };
    await toTheEnd({ ...world, next: seeded(3) }, false);
    for (const table of [contracts.fills, contracts.orderEvents, contracts.bookEvents]) {
      const rows = tables.raw(table.name).map((row) => named(table, row));
      expect(rows.length).toBeGreaterThan(10);
      for (const { in_offset, appended_at } of rows)
        expect(Date.parse(`${appended_at}Z`)).toBe(at(Number(in_offset)));
    }
  });

  test('are written again after a lost response, with the same tokens', async () => {
    const log = logOf(4);
    const tables = new FakeTables();
    const commits = new FakeCommits();
    const world = { ...log, tables, commits, next: seeded(4) };
    let steps = 0;
    tables.onStep = () => {
      steps += 1;
      if (steps === 4) throw new Fault('clickhouse_unavailable', 'retry');
    };
    await expect(live(world)).rejects.toThrow('clickhouse_unavailable');
    expect(commits.last?.metadata).not.toBe('');
    tables.onStep = () => {};
    await toTheEnd(world, false);
    const straight = new FakeTables();
    await toTheEnd(
      { ...log, tables: straight, commits: new FakeCommits(), next: seeded(5) },
      false,
    );
    expect(tables.final()).toEqual(straight.final());
  });

  test('are folded again from the log when they were lost after their commit', async () => {
    const log = logOf(6);
    const tables = new FakeTables();
    const commits = new FakeCommits();
    await toTheEnd({ ...log, tables, commits, next: seeded(6) }, false);
    const before = tables.final();
    tables.lose();
    expect(commits.last?.offset).toBe(log.records.length);
    await toTheEnd({ ...log, tables, commits, next: seeded(7) }, false);
    expect(tables.final()).toEqual(before);
  });

  test('get no batch while they are held, and no range is committed then', async () => {
    const tables = new FakeTables();
    const commits = new FakeCommits();
    const log = logOf(8);
    tables.isHeld = true;
    const living = toTheEnd({ ...log, tables, commits, next: seeded(8) }, false);
    await wait(500);
    expect(tables.raw('fills')).toEqual([]);
    expect(commits.last).toEqual({ offset: 0, metadata: '' });
    tables.isHeld = false;
    await living;
    expect(tables.raw('fills').length).toBeGreaterThan(10);
  });

  test('get the end of a batch that was begun, although they are held', async () => {
    const log = logOf(9);
    const tables = new FakeTables();
    const commits = new FakeCommits();
    const world = { ...log, tables, commits, next: seeded(9) };
    let steps = 0;
    tables.onStep = () => {
      steps += 1;
      if (steps === 4) throw new Fault('killed', 'stop');
    };
    await expect(live(world)).rejects.toThrow('killed');
    const begun = commits.last;
    expect(begun?.metadata).not.toBe('');
    tables.onStep = () => {};
    tables.isHeld = true;
    const living = toTheEnd(world, false);
    await wait(500);
    expect(commits.last).toEqual({ offset: Number(begun?.metadata), metadata: '' });
    tables.isHeld = false;
    await living;
  });

  test('are followed while the batch of an earlier owner is sent again, and get nothing newer before its end', async () => {
    const { records, payouts } = logOf(15);
    const commits = new FakeCommits();
    commits.last = { offset: 0, metadata: '10' };
    const tables = new FakeTables();
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const gated = insertingAfter(tables, () => gate);
    const limits = { batchRecords: 10, batchRows: 1_000_000, batchMs: 1, restMs: 1, retryForMs: 0 };
    const stored: number[] = [];
    const projection = await viewOf({
      records,
      payouts,
      tables: gated,
      limits: { ...limits, pauseMaxMs: 0 },
    }).assign(0, {
      commit: (...args) => commits.commit(...args),
      committed: async () => commits.last,
      fail: (error) => expect(error).toBeNull(),
      stored: (position) => stored.push(position),
    });
    expect([projection.from, projection.storedTo]).toEqual([10, 0]);
    const piece = { topic: 't', partition: 0, highWatermark: records.length };
    const projecting = projection.project({ ...piece, records: records.slice(10, 25) });
    await wait(50);
    expect([commits.last, stored]).toEqual([{ offset: 0, metadata: '10' }, []]);
    open();
    await projecting;
    await wait(50);
    await projection.close();
    expect([commits.last, stored]).toEqual([{ offset: 25, metadata: '' }, [10, 20, 25]]);
    const ends = tables.raw('completeness').map((row) => Number(row[2]));
    expect(ends).toEqual([10, 20, 25]);
  });

  test('get what was gathered at once when no record follows, without the age of a batch', async () => {
    const { records, payouts } = logOf(17);
    const commits = new FakeCommits();
    const tables = new FakeTables();
    const ages = { batchMs: 3_600_000, restMs: 3_600_000, pauseMaxMs: 0, retryForMs: 0 };
    const limits = { batchRecords: 1_000, batchRows: 1_000_000, ...ages };
    const view = viewOf({ records, payouts, tables, limits });
    const isWhole = new EventEmitter();
    const whole = once(isWhole, 'stored');
    const projection = await view.assign(0, {
      commit: (...args) => commits.commit(...args),
      committed: async () => commits.last,
      fail: (error) => isWhole.emit('error', error),
      stored: (position) => position === records.length && isWhole.emit('stored'),
    });
    await projection.project({ topic: 't', partition: 0, records, highWatermark: records.length });
    projection.writeNow();
    await whole;
    await projection.close();
    expect(commits.last).toEqual({ offset: records.length, metadata: '' });
    expect(tables.raw('fills').length).toBeGreaterThan(10);
  });

  test('whose batch cannot be sent again report that, and are not complete to its end', async () => {
    const { records, payouts } = logOf(16);
    const commits = new FakeCommits();
    commits.last = { offset: 0, metadata: '10' };
    const tables = new FakeTables();
    const failing = insertingAfter(tables, async () => {
      throw new Fault('clickhouse_unavailable', 'retry');
    });
    const limits = { batchRecords: 10, batchRows: 1_000, batchMs: 1, restMs: 1, retryForMs: 0 };
    const faults: unknown[] = [];
    const projection = await viewOf({
      records,
      payouts,
      tables: failing,
      limits: { ...limits, pauseMaxMs: 0 },
    }).assign(0, {
      commit: (...args) => commits.commit(...args),
      committed: async () => commits.last,
      fail: (error) => faults.push(error),
      stored: () => {},
    });
    await wait(50);
    expect(faults).toHaveLength(1);
    const piece = { topic: 't', partition: 0, highWatermark: records.length };
    const next = projection.project({ ...piece, records: records.slice(10, 12) });
    await expect(next).rejects.toThrow('clickhouse_unavailable');
    await projection.close();
    expect([projection.storedTo, commits.last]).toEqual([0, { offset: 0, metadata: '10' }]);
  });

  test('that replace others get no row of a batch that began with the others', async () => {
    const log = logOf(10);
    const tables = new FakeTables();
    const commits = new FakeCommits();
    const world = { ...log, tables, commits, next: seeded(10) };
    let steps = 0;
    tables.onStep = () => {
      steps += 1;
      // In the middle of a batch: its completeness must not be inserted into the others.
      if (steps === 3) tables.identity = 'made later';
    };
    await expect(live(world)).rejects.toThrow('tables_exchanged');
    expect(tables.raw('completeness')).toEqual([]);
    expect(commits.last?.metadata).not.toBe('');
    await toTheEnd(world, false);
    const straight = new FakeTables();
    await toTheEnd(
      { ...log, tables: straight, commits: new FakeCommits(), next: seeded(5) },
      false,
    );
    expect(tables.final()).toEqual(straight.final());
  });

  test('that are ahead of the commit decide where to continue', async () => {
    const log = logOf(11);
    const tables = new FakeTables();
    await toTheEnd({ ...log, tables, commits: new FakeCommits(), next: seeded(11) }, false);
    const rows = tables.raw('fills').length;
    const commits = new FakeCommits();
    commits.last = { offset: 20, metadata: '40' };
    await toTheEnd({ ...log, tables, commits, next: seeded(12) }, false);
    expect(tables.raw('fills')).toHaveLength(rows);
  });

  test('have the same rows when two partitions of one process are folded alternately', async () => {
    const logs = [logOf(13), logOf(14)];
    const alone = await Promise.all(
      logs.map(async (log) => {
        const tables = new FakeTables();
        await toTheEnd({ ...log, tables, commits: new FakeCommits(), next: seeded(1) }, false);
        return tables;
      }),
    );
    const together = logs.map(() => new FakeTables());
    const of = (partition: number) => together[partition] ?? new FakeTables();
    const view = viewOf({
      records: [],
      payouts: new Map(logs.flatMap(({ payouts }) => [...payouts])),
      tables: {
        guard: () => of(0).guard(),
        insert: (rows, token) => of(Number(token.split(':')[2])).insert(rows, token),
        completeTo: (partition) => of(partition).completeTo(partition),
        place: (partition) => of(partition).place(partition),
        positions: (partition) => of(partition).positions(),
        candles: async () => [],
      },
      limits: {
        batchRecords: 120,
        batchRows: 100_000,
        batchMs: 60_000,
        restMs: 60_000,
        pauseMaxMs: 0,
        retryForMs: 0,
      },
    });
    const group = { commit: async () => {}, committed: async () => null, fail: () => {} };
    const assigned = await Promise.all(
      logs.map((_, partition) => view.assign(partition, { ...group, stored: () => {} })),
    );
    // As in one response of the broker: a record of each partition at the same time.
    for (let at = 0; at < 120; at += 1)
      await Promise.all(
        assigned.map((projection, partition) => {
          const records = logs[partition]?.records.slice(at, at + 1) ?? [];
          return projection.project({ topic: 't', partition, records, highWatermark: 120 });
        }),
      );
    await wait(5);
    await Promise.all(assigned.map((projection) => projection.close()));
    for (const [partition, tables] of alone.entries())
      for (const table of ['fills', 'order_events', 'book_events'])
        expect(factsOf(of(partition), table)).toEqual(factsOf(tables, table));
    expect(of(0).raw('fills').length).toBeGreaterThan(10);
  });

  test('get nothing of a batch with a record that cannot be folded', async () => {
    const tables = new FakeTables();
    const commits = new FakeCommits();
    const unknown = fillOf({ taker: 1, maker: 2 });
    const records = sealed([executionOf(0, [marketSet(1)]), executionOf(1, [unknown])]);
    const limits = {
      batchRecords: 9,
      batchRows: 9_000,
      batchMs: 300,
      restMs: 300,
      pauseMaxMs: 0,
      retryForMs: 0,
    };
    const projection = await viewOf({ records, tables, payouts: new Map(), limits }).assign(0, {
      commit: (...args) => commits.commit(...args),
      committed: async () => null,
      fail: () => {},
      stored: () => {},
    });
    const batch = { topic: 't', partition: 0, highWatermark: 2 };
    await projection.project({ ...batch, records: records.slice(0, 1) });
    await expect(projection.project({ ...batch, records: records.slice(1) })).rejects.toThrow();
    await wait(600);
    await projection.close();
    expect([commits.last, tables.final()]).toEqual([null, new FakeTables().final()]);
  });

  test('get nothing once the partition belongs to another process', async () => {
    const tables = new FakeTables();
    const commits = new FakeCommits();
    commits.onStep = () => {
      throw new Fault('ownership_lost', 'release');
    };
    await expect(live({ ...logOf(1), tables, commits, next: seeded(1) })).rejects.toThrow(
      'ownership_lost',
    );
    expect(tables.raw('fills')).toEqual([]);
  });

  test('are gathered for one batch at most while another is written', async () => {
    const { records } = logOf(3);
    const commits = new FakeCommits();
    const tables = new FakeTables();
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const slow = insertingAfter(tables, () => gate);
    const limits = {
      batchRecords: 10,
      batchRows: 1_000_000,
      batchMs: 60_000,
      restMs: 60_000,
      pauseMaxMs: 0,
      retryForMs: 0,
    };
    const view = viewOf({ records, tables: slow, payouts: new Map(), limits });
    const projection = await view.assign(0, {
      commit: (...args) => commits.commit(...args),
      committed: async () => commits.last,
      fail: () => {},
      stored: () => {},
    });
    const give = (from: number, to: number) =>
      projection.project({
        topic: 't',
        partition: 0,
        highWatermark: records.length,
        records: records.slice(from, to),
      });
    expect(await give(0, 19)).toBe(0);
    expect(commits.last).toEqual({ offset: 0, metadata: '10' });
    let isDone = false;
    const second = give(19, 25).then((position) => {
      isDone = true;
      return position;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isDone).toBe(false);
    open();
    expect(await second).toBeGreaterThanOrEqual(10);
    await projection.close();
    expect(commits.last).toEqual({ offset: 20, metadata: '' });
  });

  test('get a batch without rows only after its longer wait, with one check; rows end the wait', async () => {
    const events = [[marketSet(1, 100)], [], [], [marketSet(2, 100)]];
    const records = sealed(events.map((some, inOffset) => executionOf(inOffset, some, 1_000)));
    const commits = new FakeCommits();
    const tables = new FakeTables();
    let looks = 0;
    const counted: ProjectionTables = {
      guard: () => {
        looks += 1;
        return tables.guard();
      },
      insert: (rows, token) => tables.insert(rows, token),
      completeTo: (partition) => tables.completeTo(partition),
      place: (partition) => tables.place(partition),
      positions: () => tables.positions(),
      candles: (from, to) => tables.candles(from, to),
    };
    const open = async (restMs: number) => {
      const limits = {
        batchRecords: 10,
        batchRows: 1_000,
        batchMs: 1,
        restMs,
        pauseMaxMs: 0,
        retryForMs: 0,
      };
      const view = viewOf({ records, tables: counted, payouts: new Map(), limits });
      return await view.assign(0, {
        commit: (...args) => commits.commit(...args),
        committed: async () => commits.last,
        fail: () => {},
        stored: () => {},
      });
    };
    const give = async (to: PartitionProjection, from: number, until: number) => {
      looks = 0;
      await to.project({
        topic: 't',
        partition: 0,
        highWatermark: records.length,
        records: records.slice(from, until),
      });
      await wait(100);
      return [commits.last?.offset, looks];
    };
    const resting = await open(1_000_000_000);
    expect(await give(resting, 0, 1)).toEqual([1, 2]);
    expect(await give(resting, 1, 2)).toEqual([1, 0]);
    expect(await give(resting, 2, 4)).toEqual([4, 2]);
    await resting.close();
    tables.lose();
    commits.last = null;
    const restless = await open(1);
    await give(restless, 0, 1);
    expect(await give(restless, 1, 3)).toEqual([3, 1]);
    await restless.close();
  });

  test('pause after a batch for 20 times as long as it took to write, unless the next one is full', async () => {
    const events = Array.from({ length: 12 }, (_, at) => [marketSet(at + 1, 100)]);
    const records = sealed(events.map((some, inOffset) => executionOf(inOffset, some, 1_000)));
    const tables = new FakeTables();
    const slow = insertingAfter(tables, () => wait(100));
    const commits = new FakeCommits();
    const limits = { batchRecords: 10, batchRows: 1_000, batchMs: 1, restMs: 1, retryForMs: 0 };
    const open = (pauseMaxMs: number) =>
      viewOf({
        records,
        tables: slow,
        payouts: new Map(),
        limits: { ...limits, pauseMaxMs },
      }).assign(0, {
        commit: (...args) => commits.commit(...args),
        committed: async () => commits.last,
        fail: () => {},
        stored: () => {},
      });
    const give = async (to: PartitionProjection, from: number, until: number) => {
      const given = records.slice(from, until);
      await to.project({ topic: 't', partition: 0, highWatermark: 12, records: given });
    };
    const untilWritten = async (offset: number) => {
      while (commits.last?.offset !== offset) await wait(5);
    };
    const pausing = await open(60_000);
    await give(pausing, 0, 1);
    await untilWritten(1);
    await give(pausing, 1, 2);
    await wait(700);
    expect(commits.last?.offset).toBe(1);
    await give(pausing, 2, 12);
    await untilWritten(11);
    await pausing.close();
    const hurried = await open(1);
    await give(hurried, 11, 12);
    await untilWritten(12);
    await hurried.close();
  });

  test('of partitions without rows get their batches at the same moments', async () => {
    const restMs = 500;
    const records = sealed([executionOf(0, [], 1_000)]);
    const limits = { batchRecords: 10, batchRows: 1_000, batchMs: 1, restMs };
    const tables = new FakeTables();
    const view = viewOf({
      records,
      tables,
      payouts: new Map(),
      limits: { ...limits, pauseMaxMs: 0, retryForMs: 0 },
    });
    // Soon after such a moment, so that the next one is that of all three.
    await wait(restMs - (performance.now() % restMs) + 50);
    const begun: number[] = [];
    const projections = [];
    for (const partition of [0, 1, 2]) {
      const projection = await view.assign(partition, {
        commit: async (_, __, metadata) => {
          if (metadata !== '') begun.push(performance.now());
        },
        committed: async () => null,
        fail: () => {},
        stored: () => {},
      });
      projections.push(projection);
      await projection.project({ topic: 't', partition, highWatermark: 1, records });
      await wait(80);
    }
    await wait(restMs);
    for (const projection of projections) await projection.close();
    expect(begun).toHaveLength(3);
    expect(Math.max(...begun) - Math.min(...begun)).toBeLessThan(60);
  });
});

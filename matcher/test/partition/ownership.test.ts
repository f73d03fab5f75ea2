import { Fault } from '@pm/kit/fault';
import type { PartitionGroup } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { PartitionOwnership } from '../../src/partition/ownership.io.ts';
import { MatcherProcess, topicNames } from './matcher-process.ts';
import { MemoryLog } from './memory-log.ts';
import { readOutputs } from './reading.ts';
import { openingRecords, randomRecords } from './sealed-records.ts';

const waits = { firstMs: 100, maxMs: 400, awayMaxMs: 200, calmMs: 60_000 };

/** An ownership of partitions on logs in memory, one log per partition number, with a group that the test controls. */
function openOwnership() {
  const logs = new Map<number, MemoryLog>();
  const stops: unknown[] = [];
  const calls: string[] = [];
  const commits: [number, number][] = [];
  const unopened = new Set<number>();
  let nowMs = 1_000_000;
  const logOf = (partition: number): MemoryLog => {
    const log = logs.get(partition) ?? new MemoryLog();
    if (!logs.has(partition)) {
      for (const value of [...openingRecords(), ...randomRecords(partition, 20)]) {
        log.append(topicNames.orders, value);
      }
    }
    logs.set(partition, log);
    return log;
  };
  const ownership = new PartitionOwnership({
    log: silentLog,
    waits,
    monotonicMs: () => nowMs,
    instance: 'm',
    openPartition: (partition) => new MatcherProcess(logOf(partition)).owned,
    isOpened: (partition) => !unopened.has(partition),
    onStop: (error) => stops.push(error),
  });
  const group: PartitionGroup = {
    memberId: 'm',
    owned: () => [1],
    isPreferred: () => true,
    readThroughMs: () => Number.NEGATIVE_INFINITY,
    answeredMs: () => Number.NEGATIVE_INFINITY,
    commit: async (partition, offset) => void commits.push([partition, offset]),
    committed: async () => null,
    release: (partition) => void calls.push(`release ${partition}`),
    restore: async (partition) => {
      calls.push(`restore ${partition}`);
      await ownership.onAssigned(partition).catch((error) => ownership.onFault(error, partition));
    },
    close: async () => void calls.push('close'),
  };
  const batchOf = (partition: number) => {
    const records = logOf(partition).records(topicNames.orders);
    return {
      topic: 'orders',
      partition,
      highWatermark: records.length,
      records: records.map((one) => ({ ...one, key: null, timestampMs: 0 })),
    };
  };
  const pass = (ms: number) => {
    nowMs += ms;
    return jest.advanceTimersByTimeAsync(ms);
  };
  return { ownership, group, logOf, stops, calls, commits, batchOf, pass, unopened };
}

const newer = new Fault('newer_record', 'release');

describe('ownership', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  test('is ready in the group when all partitions are live; a spare without any is ready', async () => {
    const { ownership, group } = openOwnership();
    expect(ownership.readiness()).toEqual({ ready: false, reasons: ['group'] });
    expect(ownership.serving()).toEqual({ serving: false, reasons: ['group'] });
    await ownership.start(async () => group);
    expect(ownership.readiness().ready).toBe(true);
    expect(ownership.serving()).toEqual({ serving: true, reasons: [] });
    await ownership.onAssigned(1);
    expect(ownership.readiness().ready).toBe(true);
    const silent = ['reader:executions:2'];
    expect(ownership.readiness(silent)).toEqual({ ready: false, reasons: silent });
    expect(ownership.serving(silent)).toEqual({ serving: true, reasons: silent });
    ownership.onFault(newer, 1);
    expect(ownership.readiness()).toEqual({ ready: false, reasons: ['failed:1'] });
    expect(ownership.serving()).toEqual({ serving: false, reasons: ['failed:1'] });
    await ownership.close();
  });

  test('nothing is read or written in a partition before it is opened, which others do not wait for', async () => {
    const { ownership, group, logOf, calls, pass, unopened } = openOwnership();
    unopened.add(1);
    await ownership.start(async () => group);
    await group.restore(1);
    expect(ownership.readiness()).toEqual({ ready: true, reasons: ['unopened:1'] });
    expect([ownership.unopened, ownership.status(), ownership.isWanted(1)]).toEqual([
      [1],
      [],
      true,
    ]);
    await pass(60_000);
    expect(readOutputs(logOf(1)).executions).toEqual([]);
    expect(calls).toEqual(['restore 1']);
    unopened.delete(1);
    await pass(50);
    expect(calls).toEqual(['restore 1', 'restore 1']);
    expect(ownership.status()).toMatchObject([{ state: 'live' }]);
    expect(ownership.readiness()).toEqual({ ready: true, reasons: [] });
    await ownership.close();
  });

  test('a restore is wanted as long as the group assigns the partition to this process', async () => {
    const { ownership, group } = openOwnership();
    expect(ownership.isWanted(2)).toBe(true);
    await ownership.start(async () => group);
    expect([ownership.isWanted(1), ownership.isWanted(2)]).toEqual([true, false]);
    await ownership.close();
    expect(ownership.isWanted(1)).toBe(false);
  });

  test('a fault of one partition leaves the others running, and it is restored', async () => {
    const { ownership, group, calls, batchOf, logOf, pass } = openOwnership();
    await ownership.start(async () => group);
    for (const partition of [1, 2]) await ownership.onAssigned(partition);
    ownership.onFault(newer, 1);
    await ownership.onBatch(batchOf(2));
    expect(ownership.status()).toMatchObject([{ state: 'failed' }, { state: 'live' }]);
    expect(readOutputs(logOf(2)).executions).toHaveLength(22);
    await pass(100);
    expect(calls).toEqual(['release 1', 'restore 1']);
    expect(ownership.status()).toMatchObject([{ state: 'live' }, { state: 'live' }]);
    await ownership.close();
  });

  test('waits longer each time, up to a limit, and starts again after a time without faults', async () => {
    const { ownership, group, calls, pass } = openOwnership();
    await ownership.start(async () => group);
    await ownership.onAssigned(1);
    const restoredAfter = async () => {
      calls.length = 0;
      ownership.onFault(newer, 1);
      for (let ms = 50; ; ms += 50) {
        await pass(50);
        if (calls.includes('restore 1')) return ms;
      }
    };
    expect([await restoredAfter(), await restoredAfter(), await restoredAfter()]).toEqual([
      100, 200, 400,
    ]);
    expect(await restoredAfter()).toBe(400);
    await pass(120_000);
    expect(await restoredAfter()).toBe(100);
    await ownership.close();
  });

  test.each([
    ['a leader is unknown', new Fault('leader_unknown', 'retry')],
    ['a partition cannot be assigned', new Fault('assign_failed', 'release')],
    ['a send was given up', new Fault('send_given_up', 'release')],
  ])('while %s, the log may be back any moment: the waits stay short', async (_, fault) => {
    const { ownership, group, calls, pass } = openOwnership();
    await ownership.start(async () => group);
    await ownership.onAssigned(1);
    for (let outage = 0; outage < 10; outage += 1) {
      calls.length = 0;
      ownership.onFault(fault, 1);
      await pass(waits.awayMaxMs);
      expect(calls).toContain('restore 1');
    }
    await ownership.close();
  });

  test.each(['offset_gap', 'offset_out_of_range', 'partition_unknown'])(
    '%s of the log client stops the partition, not the process',
    async (code) => {
      const { ownership, group, stops } = openOwnership();
      await ownership.start(async () => group);
      await ownership.onAssigned(1);
      ownership.onFault(new Fault(code, 'stop'), 1);
      expect(stops).toEqual([]);
      expect(ownership.status()).toMatchObject([{ state: 'failed' }]);
      await ownership.close();
    },
  );

  test.each([new Fault('group_crashed', 'stop'), new Error('not foreseen')])(
    'a fault of reaction stop, or an unforeseen one, stops the process: %s',
    async (error) => {
      const { ownership, group, stops } = openOwnership();
      await ownership.start(async () => group);
      ownership.onFault(error, null);
      expect(stops).toEqual([error]);
      await ownership.close();
    },
  );

  test('a stalled reader stops neither partition nor process', async () => {
    const { ownership, group, stops } = openOwnership();
    await ownership.start(async () => group);
    await ownership.onAssigned(1);
    ownership.onFault(new Fault('reader_stalled', 'retry'), null);
    expect(stops).toEqual([]);
    expect(ownership.readiness().ready).toBe(true);
    await ownership.close();
  });

  test('a revoked partition is released, and is not restored after it', async () => {
    const { ownership, group, calls, pass, batchOf } = openOwnership();
    await ownership.start(async () => group);
    await ownership.onAssigned(1);
    ownership.onFault(newer, 1);
    await ownership.onRevoked(1);
    await pass(5_000);
    expect(calls).toEqual(['release 1']);
    expect(ownership.status()).toMatchObject([{ state: 'released' }]);
    await expect(ownership.onBatch(batchOf(1))).rejects.toMatchObject({ code: 'not_owned' });
    await ownership.onAssigned(1);
    expect(ownership.status()).toMatchObject([{ state: 'live' }]);
    await ownership.close();
  });

  test('commits positions for displays at most every 5 seconds', async () => {
    const { ownership, group, commits, pass } = openOwnership();
    await ownership.start(async () => group);
    await ownership.onAssigned(1);
    for (let offset = 1; offset < 30; offset += 1) {
      ownership.onStored(1, offset);
      await pass(500);
    }
    expect(commits).toEqual([
      [1, 1],
      [1, 11],
      [1, 21],
    ]);
    await ownership.close();
  });
});

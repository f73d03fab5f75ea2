import { Fault } from '../../src/fault/index.ts';
import {
  type GroupOptions,
  type LogClient,
  type LogReader,
  type PartitionGroup,
  type ReaderOptions,
  WatchedLog,
} from '../../src/kafka/index.ts';
import { silentLog } from '../../src/log/index.ts';
import { openMetrics } from '../../src/metrics/index.ts';

const topic = 'executions';

/** A reader of the fake client: what it was opened with, and what is known of it. */
class FakeReader implements LogReader {
  readonly options: ReaderOptions;
  readonly answered = new Map<number, number>();
  readonly positions: Map<number, number>;
  isClosed = false;
  isShared = false;

  constructor(options: ReaderOptions) {
    this.options = options;
    this.positions = new Map(options.positions);
  }

  position = (partition: number) => this.positions.get(partition) ?? -1;
  lagRecords = () => 0;
  answeredMs = (partition: number) => this.answered.get(partition) ?? Number.NEGATIVE_INFINITY;
  atEndMs = this.answeredMs;
  share = async () => {
    this.isShared = true;
  };
  hurry() {}
  close = async () => {
    this.isClosed = true;
  };
}

function openWorld() {
  const now = { ms: 0 };
  const readers: FakeReader[] = [];
  const restored: number[] = [];
  const world = {
    now,
    readers,
    restored,
    refused: null as Fault | null,
    groupAnswered: new Map<number, number>(),
    group: null as GroupOptions | null,
  };
  const client = {
    reader: async (options: ReaderOptions) => {
      if (world.refused !== null) throw world.refused;
      const reader = new FakeReader(options);
      readers.push(reader);
      return reader;
    },
    group: async (options: GroupOptions) => {
      world.group = options;
      return {
        answeredMs: (partition: number) => world.groupAnswered.get(partition) ?? -1,
        release: () => {},
        restore: async (partition: number) => {
          restored.push(partition);
          await options.onAssigned(partition);
        },
        close: async () => {},
      } as unknown as PartitionGroup;
    },
    close: async () => {},
  } as unknown as LogClient;
  const metrics = openMetrics('test');
  const watched = new WatchedLog({ client, log: silentLog, metrics, monotonicMs: () => now.ms });
  /** Seconds pass, with `each` in every one of them. */
  const pass = async (seconds: number, each: () => void = () => {}) => {
    for (let second = 0; second < seconds; second += 1) {
      now.ms += 1_000;
      each();
      await jest.advanceTimersByTimeAsync(1_000);
    }
  };
  return { ...world, world, watched, pass };
}

const readerOptions = (faults: string[] = []): ReaderOptions => ({
  topic,
  positions: new Map([
    [0, 10],
    [1, 20],
  ]),
  dense: true,
  onBatch: async () => {},
  onFault: ({ code }) => void faults.push(code),
});

const groupOptions = {
  groupId: 'g',
  topic,
  dense: true,
  onRevoked: async () => {},
  onBatch: async () => {},
  onFault: () => {},
};

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('one partition without answers makes the process not ready, whatever its neighbours get', async () => {
  const { watched, readers, pass, now } = openWorld();
  await watched.reader(readerOptions());
  await pass(5, () => readers[0]?.answered.set(0, now.ms));
  expect(watched.notReady()).toEqual([]);
  await pass(1, () => readers[0]?.answered.set(0, now.ms));
  expect(watched.notReady()).toEqual(['reader:executions:1']);
  expect(watched.silences()).toContainEqual({ topic, partition: 1, silentMs: 6_000 });
  readers[0]?.answered.set(1, now.ms);
  expect(watched.notReady()).toEqual([]);
  await watched.close();
});

test('a reader whose silence lasts is opened again where it is, and shares again', async () => {
  const { watched, readers, pass, now } = openWorld();
  const reader = await watched.reader(readerOptions());
  await reader.share();
  readers[0]?.positions.set(1, 33);
  await pass(16, () => readers[0]?.answered.set(0, now.ms));
  expect(readers.map(({ isClosed, isShared }) => [isClosed, isShared])).toEqual([
    [true, true],
    [false, true],
  ]);
  expect([...(readers[1]?.options.positions ?? [])]).toEqual([
    [0, 10],
    [1, 33],
  ]);
  readers[1]?.positions.set(1, 34);
  expect(reader.position(1)).toBe(34);
  await pass(15);
  expect(readers).toHaveLength(2);
  await reader.close();
  expect(readers[1]?.isClosed).toBe(true);
  await watched.close();
});

test('a silence lasts until a fetch is answered, however often its reader is opened again', async () => {
  const { watched, readers, pass, now } = openWorld();
  await watched.reader(readerOptions());
  const silent: (number | undefined)[] = [];
  await pass(60, () => {
    for (const reader of readers) reader.answered.set(0, now.ms);
    silent.push(watched.silences().find(({ partition }) => partition === 1)?.silentMs);
  });
  expect(silent).toEqual(Array.from({ length: 60 }, (_, second) => 1_000 * (second + 1)));
  expect(readers.length).toBeGreaterThan(2);
  expect(watched.notReady()).toEqual(['reader:executions:1']);
  readers.at(-1)?.answered.set(1, now.ms);
  expect(watched.notReady()).toEqual([]);
  await watched.close();
});

test('a broker that is away is waited for, and what ends a reader ends it for its follower', async () => {
  const { watched, readers, pass, world } = openWorld();
  const faults: string[] = [];
  await watched.reader(readerOptions(faults));
  world.refused = new Fault('log_unavailable', 'retry');
  await pass(20);
  expect([readers.length, faults]).toEqual([1, []]);
  world.refused = new Fault('offset_out_of_range', 'stop');
  await pass(2);
  expect([readers.length, faults, watched.notReady()]).toEqual([1, ['offset_out_of_range'], []]);
  await watched.close();
});

test('a closed reader is not opened again', async () => {
  const { watched, readers, pass, world } = openWorld();
  const reader = await watched.reader(readerOptions());
  world.refused = new Fault('log_unavailable', 'retry');
  await pass(17);
  world.refused = null;
  await reader.close();
  await pass(20);
  expect(readers).toHaveLength(1);
  await watched.close();
});

test('a process that was suspended has time to hear its partitions', async () => {
  const { watched, readers, pass, now } = openWorld();
  await watched.reader(readerOptions());
  now.ms += 60_000;
  await pass(1);
  expect([readers.length, watched.notReady()]).toEqual([1, []]);
  await watched.close();
});

test('a partition of a group is restored when it is read no more, not while it is restored or has a fault', async () => {
  const { watched, restored, pass, now, world } = openWorld();
  let restoring: (from: number) => void = () => {};
  const group = await watched.group({
    ...groupOptions,
    onAssigned: (partition) =>
      partition === 2
        ? new Promise((resolve) => {
            restoring = resolve;
          })
        : Promise.resolve(0),
  });
  void world.group?.onAssigned(2);
  await Promise.all([0, 1].map((partition) => world.group?.onAssigned(partition)));
  world.group?.onFault(new Fault('handler_failed', 'release'), 1);
  await pass(16, () => world.groupAnswered.set(0, now.ms - 1_000));
  expect([restored, watched.silences()]).toEqual([[], [{ topic, partition: 0, silentMs: 1_000 }]]);
  await pass(16);
  expect(restored).toEqual([0]);
  restoring(5);
  await group.close();
  await watched.close();
});

test('a silence of a partition lasts until a fetch is answered, however often it is restored', async () => {
  const { watched, restored, pass, now, world } = openWorld();
  const group = await watched.group({ ...groupOptions, onAssigned: async () => 0 });
  await world.group?.onAssigned(0);
  await pass(3, () => world.groupAnswered.set(0, now.ms));
  const stalled = () => world.group?.onFault(new Fault('reader_stalled', 'retry'), 0);
  await pass(60, stalled);
  expect(restored.length).toBeGreaterThan(2);
  expect(watched.silences()).toEqual([{ topic, partition: 0, silentMs: 60_000 }]);
  expect(watched.notReady()).toEqual(['reader:executions:0']);
  world.group?.onFault(new Fault('handler_failed', 'release'), 0);
  await pass(10);
  expect(watched.silences()).toEqual([]);
  await world.group?.onAssigned(0);
  expect(watched.silences()).toEqual([{ topic, partition: 0, silentMs: 60_000 }]);
  world.groupAnswered.set(0, now.ms);
  expect(watched.notReady()).toEqual([]);
  await world.group?.onRevoked(0);
  expect(watched.silences()).toEqual([]);
  await group.close();
  await watched.close();
});

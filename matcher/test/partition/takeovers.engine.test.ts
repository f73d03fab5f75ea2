import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { LogReader, RecordBatch } from '@pm/kit/kafka';
import { Random } from '@pm/kit/random';
import { engineUrl } from '../../../kit/test/engines.ts';
import { firstSeed, runLength } from '../../../kit/test/long-runs.ts';
import {
  flow,
  openPartitions,
  openWorld,
  partitions,
  replayed,
  storedHistories,
  topicNames,
  until,
  type World,
} from './log-world.ts';
import { areReady, hasRead, matcherEnvironment, SpawnedMatcher } from './spawned-matcher.ts';

const broker = engineUrl('KAFKA');
const topicPrefix = `t-takeovers-${process.pid}-${Date.now().toString(36)}-`;
const names = topicNames(topicPrefix);

const rounds = runLength({ test: 2, deep: 30 });
const seed = firstSeed(1);
/** Longest pause of an owner, milliseconds: longer than its session in the group. */
const pauseMaxMs = 5_000;

/** When each new output was seen, by partition; copies do not count. */
class Watch {
  readonly #newest = new Map<number, number>();
  readonly #seenAtMs = new Map<number, number[]>();

  take(world: World, { partition, records }: RecordBatch): void {
    const nowMs = performance.now();
    const times = this.#seenAtMs.get(partition) ?? [];
    this.#seenAtMs.set(partition, times);
    for (const { value } of records) {
      const { inOffset } = world.codecs.executions.decode(value ?? Buffer.alloc(0));
      if (inOffset <= (this.#newest.get(partition) ?? -1)) continue;
      this.#newest.set(partition, inOffset);
      times.push(nowMs);
    }
  }

  /** The longest time without a new output of one of these partitions since `fromMs`. */
  longestGapMs(of: readonly number[], fromMs: number): number {
    const gaps = of.flatMap((partition) => {
      const times = (this.#seenAtMs.get(partition) ?? []).filter((ms) => ms >= fromMs);
      return times.map((ms, at) => ms - (times[at - 1] ?? fromMs));
    });
    return Math.max(0, ...gaps);
  }
}

describe('two matchers whose owners are killed and stopped', () => {
  let world: World;
  let directory: string;
  let reader: LogReader;
  const watch = new Watch();
  const matchers: SpawnedMatcher[] = [];

  const spawn = (instance: string): SpawnedMatcher => {
    const matcher = new SpawnedMatcher({
      ...matcherEnvironment({ broker, topicPrefix, instance }),
      PM_SNAPSHOT_DIR: join(directory, 'snapshots'),
      PM_SNAPSHOT_EVERY_RECORDS: '2000',
    });
    matchers.push(matcher);
    return matcher;
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pm-takeovers-'));
    world = await openWorld({ brokers: [broker], topicPrefix, copies: 1 });
    await openPartitions(world);
    reader = await world.client.reader({
      topic: names.executions,
      positions: new Map(partitions.map((partition) => [partition, 0])),
      dense: true,
      onBatch: async (batch) => watch.take(world, batch),
      onFault: (fault) => {
        throw fault;
      },
    });
  }, 60_000);

  afterAll(async () => {
    for (const matcher of matchers) await matcher.kill('SIGKILL');
    await reader.close();
    await world.client.close();
    await rm(directory, { recursive: true, force: true });
  }, 30_000);

  async function expectWhole(): Promise<number> {
    let copies = 0;
    for await (const { partition, inputs, outputs, executions } of storedHistories(world)) {
      copies += outputs.length - executions.length;
      const { chain } = replayed(world, partition, inputs.slice(0, executions.length));
      expect(chain).toEqual(executions.at(-1)?.chain);
    }
    return copies;
  }

  type Pair = readonly [SpawnedMatcher, SpawnedMatcher];

  /** Kills or stops the matcher that owns more, and gives the longest time without an output of its partitions. */
  async function fault(pair: Pair, pauseMs: number | null): Promise<readonly [Pair, number]> {
    const owned = await Promise.all(pair.map((one) => one.owned()));
    const at = (owned[0]?.length ?? 0) >= (owned[1]?.length ?? 0) ? 0 : 1;
    const fromMs = performance.now();
    if (pauseMs === null) await pair[at].kill('SIGKILL');
    else pair[at].freeze();
    await pause(pauseMs ?? 1_500);
    const gapMs = watch.longestGapMs(owned[at] ?? [], fromMs);
    if (pauseMs !== null) {
      pair[at].thaw();
      return [pair, gapMs];
    }
    const next = spawn(at === 0 ? 'a' : 'b');
    return [at === 0 ? [next, pair[1]] : [pair[0], next], gapMs];
  }

  test(
    'write no other byte and leave no gap, and the other one owns the partitions at once',
    async () => {
      const random = new Random(seed);
      let pair: Pair = [spawn('a'), spawn('b')];
      await until('both ready', () => areReady(...pair), 60_000);
      const end = new AbortController();
      const flowing = flow(world, end.signal, { perRound: 1, pauseMs: 20 });
      const gapsMs: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        await pause(500);
        const pauseMs = round % 2 === 0 ? null : random.integer(400, pauseMaxMs);
        const [next, gapMs] = await fault(pair, pauseMs);
        pair = next;
        gapsMs.push(gapMs);
        await until(`ready after round ${round}`, () => areReady(...pair), 60_000);
      }
      end.abort();
      const orders = await flowing;
      const high = await world.admin.bounds(names.orders);
      await until('all outputs', () => hasRead(pair[0], high));
      for (const matcher of pair) await matcher.kill('SIGTERM');
      const copies = await expectWhole();
      const sorted = gapsMs.map(Math.round).sort((a, b) => a - b);
      process.stdout.write(
        `${rounds} takeovers in ${orders} orders: longest time without an output ${sorted.join(' ')} ms, ${copies} copies\n`,
      );
      expect(Math.max(...sorted)).toBeLessThan(10_000);
    },
    120_000 + rounds * 20_000,
  );
});

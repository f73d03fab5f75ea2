import type { LogAdmin } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRecordCodec, type RecordCodec } from '@pm/kit/registry';
import type { Envelope } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { additionsOf, followAdded } from '../../src/commands/opened-partitions.io.ts';
import { PartitionLiveness } from '../../src/commands/partition-liveness.ts';
import { RecentResults, resultBytes } from '../../src/commands/recent-results-cache.ts';
import { openSignOffKey } from '../../src/signoff/keys.ts';
import { sealEnvelope } from '../../src/signoff/records.ts';

function openProcess() {
  const now = { ms: 0 };
  const clock = { monotonicMs: () => now.ms, nowMs: () => now.ms };
  const partitions = new PartitionLiveness([0], clock);
  const recentResults = new RecentResults({ bytesMax: 3 * resultBytes, seed: 1 });
  const bounds = new Map([[0, { low: 5, high: 9 }]]);
  const followed: [number, number][] = [];
  const opened = [0];
  const admin = { bounds: async () => bounds, close: async () => {} } as unknown as LogAdmin;
  const look = () =>
    followAdded({
      client: { admin: async () => admin, openedPartitions: opened },
      topic: 'executions',
      partitions,
      recentResults,
      log: silentLog,
      follow: async (positions) => followed.push(...positions),
    });
  return { now, partitions, recentResults, bounds, followed, opened, look };
}

test('a partition that set-up opens is followed from its first record, once the broker shows it', async () => {
  const { partitions, recentResults, bounds, followed, opened, look } = openProcess();
  await look();
  opened.push(9);
  await look();
  expect([followed, partitions.numbers]).toEqual([[], [0]]);
  bounds.set(9, { low: 0, high: 1 });
  await look();
  await look();
  expect([followed, partitions.numbers]).toEqual([[[9, 0]], [0, 9]]);
  expect(recentResults.mayHaveForgotten(9, 300_001)).toBe(false);
});

test('markets are placed there once it is heard and every process follows it', () => {
  const { now, partitions } = openProcess();
  partitions.add(9);
  partitions.observe(9, 0, 0);
  expect(partitions.placeable).toEqual([0]);
  now.ms = 30_000;
  expect(partitions.placeable).toEqual([0]);
  partitions.observe(9, 1, 30_000);
  expect(partitions.placeable).toEqual([0, 9]);
});

test('a partition that was added just before a start waits as long as without the start', async () => {
  const codec = openRecordCodec(topics.orders.value, 1, async () => null);
  const openedAtMs = new Map([
    [0, 1_000],
    [1, 1_000],
    [9, 90_000],
  ]);
  const opened = [...openedAtMs.keys()];
  const openingOf = (partition: number) => openingAt(codec, partition, openedAtMs.get(partition));
  const additions = await additionsOf({ openedPartitions: opened, openingOf }, codec);
  expect([...additions]).toEqual([[9, 90_000]]);
  const now = { ms: 100_000 };
  const clock = { monotonicMs: () => now.ms - 99_000, nowMs: () => now.ms };
  const partitions = new PartitionLiveness(opened, clock, additions);
  now.ms = 119_999;
  partitions.observe(9, 0, now.ms);
  expect(partitions.placeable).toEqual([0, 1]);
  now.ms = 120_000;
  expect(partitions.placeable).toEqual([0, 1, 9]);
});

function openingAt(codec: RecordCodec<Envelope>, partition: number, timeMs = 0): Buffer {
  const key = openSignOffKey(Buffer.alloc(32, 1));
  const opening = {
    kind: 'OpenPartition',
    partition,
    operatorKey: key.publicKey,
    feeWallet: Buffer.alloc(20, 1),
    bookAgeLimitMs: 1,
    orderAgeLimitMs: 1,
    timeMs,
  } as const;
  return sealEnvelope(codec, key, { partition, sequence: 1, commands: [opening] });
}

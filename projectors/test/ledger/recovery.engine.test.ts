import type { LedgerTopic } from '@pm/domain/ledger/ledger';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { LedgerRestore } from '@pm/domain/ledger/restore-ledger.io';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { redisKeys } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import { ledgerView } from '../../src/ledger/executions-view.io.ts';
import { LedgerRecovery } from '../../src/ledger/recovery.io.ts';
import { transfersView } from '../../src/ledger/transfers-view.io.ts';
import type { ViewGroup } from '../../src/log/view-definition.io.ts';
import {
  partitions,
  records,
  transferCodec,
  transferRecords,
  World,
} from '../checkpoints/checkpoint-world.ts';

let redis: RedisClient;
const [lost, whole] = ['recovery-lost', 'recovery-whole'];

beforeAll(() => {
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
});
beforeEach(async () => {
  await Promise.all([lose(lost), lose(whole)]);
});
afterAll(async () => {
  await Promise.all([lose(lost), lose(whole)]);
  await redis?.quit();
});

async function lose(prefix: string): Promise<void> {
  const left = await redis.keys(`${prefix}:*`);
  if (left.length > 0) await redis.del(...left);
}

const group: ViewGroup = {
  commit: async () => {},
  committed: async () => null,
  fail: () => {},
  stored: () => {},
};

/** A projector of the ledger in Redis. */
function projector(world: World, prefix: string, isStored = true) {
  const keys = redisKeys(prefix);
  const ledger = openLedger(redis, keys);
  const { checkpoints, executions } = world.parts;
  const recovery = new LedgerRecovery({
    ledger,
    restore: new LedgerRestore(redis, keys),
    checkpoints: isStored ? checkpoints : null,
    client: world.log.client,
    topics: { executions: 'executions', transfers: 'transfers' },
    log: silentLog,
  });
  const options = { ledger, recovery, groupId: 'group' };
  const views = {
    executions: ledgerView({ ...executions, ...options, bookAgeLimitMs: 10_000 }),
    transfers: transfersView({
      ...options,
      codec: transferCodec,
      topic: 'transfers',
      log: silentLog,
      onUnpaid() {},
      onVoid() {},
    }),
  };
  /** Applies all that the log has; returns where each partition began. */
  const run = async (ends: number) => {
    const places: readonly (readonly [LedgerTopic, number])[] = [
      ...partitions.map((partition) => ['executions', partition] as const),
      ['transfers', 0],
    ];
    return await Promise.all(
      places.map(async ([topic, partition]) => {
        const all = topic === 'transfers' ? transferRecords : (records[partition] ?? []);
        const projection = await views[topic].assign(partition, group);
        const rest = all.slice(projection.from, ends * (all.length / 4));
        const batch = { topic, partition, records: rest, highWatermark: all.length };
        if (rest.length > 0) await projection.project(batch);
        return projection.from;
      }),
    );
  };
  return { run, recovery };
}

async function contentOf(prefix: string): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const key of (await redis.keys(`${prefix}:ledger3:*`)).sort()) {
    if (key.endsWith(':state') || key.endsWith(':closed')) continue;
    const content = Object.entries(await redis.hgetall(key))
      .filter(([, value]) => value !== '0')
      // Suspects of a gap follow from the pieces in which the log was read.
      .map(([name, value]) => [
        name,
        key.endsWith(':breaches') ? value.replace(/ \S*$/, '') : value,
      ]);
    found.set(key.slice(prefix.length), content.sort());
  }
  return found;
}

/** Three parts of the log with checkpoints, and a fourth without. */
async function worldWithCheckpoints(): Promise<World> {
  const world = new World();
  for (let part = 0; part < 3; part += 1) {
    world.grow();
    await world.checkpointer().take();
  }
  world.grow();
  return world;
}

describe('a lost ledger', () => {
  test('begins with the newest checkpoint, and gives what the whole log gives', async () => {
    const world = await worldWithCheckpoints();
    expect(await projector(world, whole, false).run(4)).toEqual([0, 0, 0]);
    expect(await projector(world, lost).run(4)).toEqual([90, 90, 30]);
    expect(await contentOf(lost)).toEqual(await contentOf(whole));
  });

  test('is restored once when several processes find it lost', async () => {
    const world = await worldWithCheckpoints();
    await projector(world, whole, false).run(4);
    const found = await Promise.all(
      [1, 2, 3].map(() => projector(world, lost).recovery.start('executions', 1)),
    );
    expect(found).toEqual([90, 90, 90]);
    expect(await projector(world, lost).run(4)).toEqual([90, 90, 30]);
    expect(await contentOf(lost)).toEqual(await contentOf(whole));
  });

  test('of which the log has not the next records is replaced by a checkpoint', async () => {
    const world = await worldWithCheckpoints();
    await projector(world, whole, false).run(4);
    await projector(world, lost, false).run(1);
    for (const partition of partitions) world.log.removeBefore('executions', partition, 50);
    expect(await projector(world, lost).recovery.start('executions', 1)).toBe(90);
    expect(await projector(world, lost).run(4)).toEqual([90, 90, 30]);
    expect(await contentOf(lost)).toEqual(await contentOf(whole));
  });

  test('is folded from the start of the log when no checkpoint can be used', async () => {
    const world = await worldWithCheckpoints();
    await projector(world, whole, false).run(4);
    for (const name of world.names('checkpoints/ledger/'))
      world.spoil(name, (bytes) => bytes.fill(0, 9, 10));
    expect(await projector(world, lost).run(4)).toEqual([0, 0, 0]);
    expect(await contentOf(lost)).toEqual(await contentOf(whole));
  });

  test('says what is missing when neither the log nor a checkpoint has it', async () => {
    const world = await worldWithCheckpoints();
    world.store.contents.clear();
    world.log.removeBefore('executions', 1, 50);
    await expect(projector(world, lost).recovery.start('executions', 1)).rejects.toMatchObject({
      code: 'ledger_history_removed',
      reaction: 'retry',
      facts: { topic: 'executions', partition: 1, mark: 0, low: 50 },
    });
  });

  test('left by a process that died while it restored is taken over', async () => {
    const world = await worldWithCheckpoints();
    await projector(world, whole, false).run(4);
    const state = redisKeys(lost).ledgerState;
    await redis.hset(state, 'restore', 'dead', 'restoreMs', '0');
    await redis.hset(`${lost}:ledger3:wallet:0xdead`, 'free', '77');
    expect(await projector(world, lost).run(4)).toEqual([90, 90, 30]);
    expect(await contentOf(lost)).toEqual(await contentOf(whole));
    await lose(lost);
    await redis.hset(state, 'restore', 'dead', 'restoreMs', '0');
    expect(await projector(world, lost, false).run(4)).toEqual([0, 0, 0]);
    expect(await contentOf(lost)).toEqual(await contentOf(whole));
  });

  test('that was never there begins at the start of the log', async () => {
    const world = new World();
    world.grow();
    expect(await projector(world, lost).run(1)).toEqual([0, 0, 0]);
  });
});

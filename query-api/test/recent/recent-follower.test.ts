import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { ReaderOptions } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { fakeLog, sealed } from '../../../domain/test/executions/fake-log.ts';
import { RecentFollower } from '../../src/recent/recent-follower.io.ts';
import { RecentLog } from '../../src/recent/recent-log.ts';

const plain = {
  chain: Buffer.alloc(32),
  timeMs: 5,
  keyId: Buffer.alloc(8),
  sequence: -1,
  events: [],
};

let follower: RecentFollower | null = null;
afterEach(async () => await follower?.close());

test('memory begins behind the newest input, also when late copies of a former owner come first', async () => {
  const copies = Array.from({ length: 10 }, (_, index) => 140 + index);
  const order = [...Array(151).keys(), ...copies, 151];
  const recent = new RecentLog();
  follower = new RecentFollower({
    ...fakeLog(sealed(order.map((inOffset) => ({ ...plain, inOffset })))),
    recent,
    log: silentLog,
    clock: { monotonicMs: () => 1 },
    storedPositions: async () => new Map([[0, 151]]),
  });
  await follower.start();
  expect(recent.newestCutover()[0]).toBe(151);
  await nextTurn();
  expect([follower.status().fault, recent.newestCutover()[0]]).toEqual([null, 151]);
});

test('records that were there when it was opened are distinguished from those that come', async () => {
  const log = fakeLog(sealed([0, 1, 2].map((inOffset) => ({ ...plain, inOffset }))));
  const admin = await log.client.admin();
  const opened = new Map([[0, { low: 0, high: 2 }]]);
  const client = { ...log.client, admin: async () => ({ ...admin, bounds: async () => opened }) };
  const heard: [number, boolean][] = [];
  follower = new RecentFollower({
    ...log,
    client,
    recent: new RecentLog(),
    log: silentLog,
    clock: { monotonicMs: () => 1 },
    onExecution: (_partition, { inOffset }, isNew) => heard.push([inOffset, isNew]),
    storedPositions: async () => new Map(),
  });
  await follower.start();
  await nextTurn();
  expect(heard).toEqual([
    [0, false],
    [1, false],
    [2, true],
  ]);
});

test('a partition that was added holds no read up before it has records, and is followed then', async () => {
  const log = fakeLog(sealed([0, 1, 2].map((inOffset) => ({ ...plain, inOffset }))));
  const admin = await log.client.admin();
  const bounds = new Map([[0, { low: 0, high: 3 }]]);
  const reader = async (options: ReaderOptions) => {
    const opened = await log.client.reader(options);
    return { ...opened, position: () => 3 };
  };
  const client = {
    ...log.client,
    reader,
    admin: async () => ({ ...admin, bounds: async () => bounds }),
  };
  follower = new RecentFollower({
    ...log,
    client,
    recent: new RecentLog(),
    log: silentLog,
    clock: { monotonicMs: () => 1 },
    storedPositions: async () => new Map(),
  });
  await follower.start();
  await nextTurn();
  bounds.set(1, { low: 0, high: 0 });
  expect(await follower.settle()).toBe(true);
  bounds.set(1, { low: 0, high: 3 });
  expect(await follower.settle()).toBe(false);
  await wait(1_500);
  expect(follower.status().partitions).toHaveLength(2);
});

import { KafkaJSConnectionError, KafkaJSNonRetriableError, KafkaJSProtocolError } from 'kafkajs';
import type { Fault } from '../../src/fault/index.ts';
import { OwnedPartition } from '../../src/kafka/owned-partition.io.ts';
import { PartitionLane } from '../../src/kafka/partition-lane.io.ts';
import { createDeferred } from './deferred.ts';

function hooksWith(assigned: Promise<number> = Promise.resolve(0)) {
  const events: string[] = [];
  const faults: Fault[] = [];
  const hooks = {
    onAssigned: () => {
      events.push('assigned');
      return assigned;
    },
    onRevoked: async () => {
      events.push('revoked');
    },
    open: async (from: number) => {
      events.push(`open ${from}`);
      return new PartitionLane({
        topic: 't',
        partition: 0,
        from,
        dense: true,
        maxBufferedBytes: 1,
        maxBufferedRecords: 1,
        mayDeliver: () => true,
        onBatch: async () => {},
        onFault: () => {},
        onRoom: () => {},
      });
    },
    remove: (lane: PartitionLane) => {
      events.push('removed');
      return lane.close();
    },
    onFault: (fault: Fault) => {
      faults.push(fault);
    },
  };
  return { hooks, events, faults };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('starts after the revocations before it, and ends with its own', async () => {
  const before = createDeferred();
  const { hooks, events } = hooksWith(Promise.resolve(7));
  const owned = new OwnedPartition(0, hooks, before.promise);
  await turn();
  expect(events).toEqual([]);
  before.resolve();
  await turn();
  await owned.revoke();
  await owned.revoke();
  expect(events).toEqual(['assigned', 'open 7', 'removed', 'revoked']);
});

test('a partition lost before it started is never assigned nor revoked', async () => {
  const before = createDeferred();
  const { hooks, events } = hooksWith();
  const owned = new OwnedPartition(0, hooks, before.promise);
  const revoking = owned.revoke();
  before.resolve();
  await revoking;
  expect(events).toEqual([]);
});

test('a partition lost while it restores reads nothing, and is revoked after the restore', async () => {
  const restore = createDeferred();
  const { hooks, events } = hooksWith(restore.promise.then(() => 3));
  const owned = new OwnedPartition(0, hooks, Promise.resolve());
  await turn();
  const revoking = owned.revoke();
  expect(owned.owned).toBe(false);
  restore.resolve();
  await revoking;
  expect(events).toEqual(['assigned', 'revoked']);
});

test('a failed restore is a fault of the partition; the next one can succeed', async () => {
  const { hooks, events, faults } = hooksWith();
  let tries = 0;
  const flaky = {
    ...hooks,
    onAssigned: async () => {
      tries += 1;
      if (tries === 1) throw new Error('no snapshot');
      return 4;
    },
  };
  const owned = new OwnedPartition(0, flaky, Promise.resolve());
  await turn();
  expect(faults).toMatchObject([{ code: 'assign_failed', reaction: 'stop' }]);
  await owned.restore();
  expect(events).toEqual(['open 4']);
});

/** Hooks whose lanes a test can count, and whose first handler and first start end when it says so. */
function countedHooks() {
  const [handler, start] = [createDeferred(), createDeferred()];
  const reading = new Set<object>();
  let [assigned, most, opened] = [0, 0, 0];
  const events: string[] = [];
  const hooks = {
    onAssigned: async () => {
      assigned += 1;
      events.push(`assigned ${assigned}`);
      if (assigned === 1) await start.promise;
      return 0;
    },
    onRevoked: async () => void events.push('revoked'),
    open: async () => {
      opened += 1;
      const isFirst = opened === 1;
      const lane = {
        readThroughMs: 0,
        close: async () => {
          reading.delete(lane);
          if (isFirst) await handler.promise;
        },
      };
      reading.add(lane);
      most = Math.max(most, reading.size);
      return lane as unknown as PartitionLane;
    },
    remove: (lane: PartitionLane) => lane.close(),
    onFault: () => {},
  };
  const counts = () => ({ assigned, reading: reading.size, most });
  return { hooks, handler, start, events, counts };
}

test('restores that wait for the first start are one, and the revocation ends what they opened', async () => {
  const { hooks, start, handler, counts } = countedHooks();
  handler.resolve();
  const owned = new OwnedPartition(0, hooks, Promise.resolve());
  await turn();
  const restores = [owned.restore(), owned.restore()];
  start.resolve();
  await Promise.all(restores);
  expect(counts()).toEqual({ assigned: 2, reading: 1, most: 1 });
  await owned.revoke();
  expect(counts().reading).toBe(0);
});

test('a second restore waits for the handler of the old lane, as the first one does', async () => {
  const { hooks, start, handler, counts } = countedHooks();
  start.resolve();
  const owned = new OwnedPartition(0, hooks, Promise.resolve());
  await turn();
  const restores = [owned.restore()];
  await turn();
  restores.push(owned.restore());
  await turn();
  expect(counts()).toEqual({ assigned: 1, reading: 0, most: 1 });
  handler.resolve();
  await Promise.all(restores);
  expect(counts()).toEqual({ assigned: 2, reading: 1, most: 1 });
});

test('a restore during the start of another one reads in one lane, which ends with the revocation', async () => {
  const { hooks, start, handler, events, counts } = countedHooks();
  handler.resolve();
  const owned = new OwnedPartition(0, hooks, Promise.resolve());
  await turn();
  const first = owned.restore();
  await turn();
  start.resolve();
  await turn();
  const second = owned.restore();
  const revoking = owned.revoke();
  await Promise.all([first, second, revoking]);
  expect(counts()).toMatchObject({ reading: 0, most: 1 });
  expect(events.at(-1)).toBe('revoked');
});

test('a partition that is released while it is restored reads nothing until the next restore', async () => {
  const { hooks, start, handler, counts } = countedHooks();
  start.resolve();
  const owned = new OwnedPartition(0, hooks, Promise.resolve());
  await turn();
  const restoring = owned.restore();
  await turn();
  owned.pause();
  handler.resolve();
  await restoring;
  expect(counts().reading).toBe(0);
  await owned.restore();
  expect(counts().reading).toBe(1);
});

test('a lane that waits for its owner to be heard is woken with it', async () => {
  const { hooks } = hooksWith();
  let woken = 0;
  const lane = { close: async () => {}, wake: () => (woken += 1) } as unknown as PartitionLane;
  const owned = new OwnedPartition(0, { ...hooks, open: async () => lane }, Promise.resolve());
  owned.wake();
  await turn();
  owned.wake();
  expect(woken).toBe(1);
  await owned.revoke();
});

/** As kafkajs makes it of the answer of a broker. */
function answered(type: string, retriable: boolean): Error {
  return new KafkaJSProtocolError(Object.assign(new Error(type), { type, retriable }));
}

/** As kafkajs makes it where it has chosen a broker whose connection is closed before it is used. */
function closedMeanwhile(): Error {
  const cause = new Error('Broker not connected');
  return Object.assign(new KafkaJSNonRetriableError(cause), { cause });
}

test.each([
  ['a leader is being elected', answered('LEADER_NOT_AVAILABLE', true), 'release'],
  ['no broker answers', new KafkaJSConnectionError('closed'), 'release'],
  ['the connection of a broker was just closed', closedMeanwhile(), 'release'],
  ['access is refused', answered('TOPIC_AUTHORIZATION_FAILED', false), 'stop'],
])('a restore while %s ends as its reason says', async (_, error, reaction) => {
  const { hooks, faults } = hooksWith(Promise.reject(error));
  new OwnedPartition(0, hooks, Promise.resolve());
  await turn();
  expect(faults).toMatchObject([{ code: 'assign_failed', reaction }]);
});

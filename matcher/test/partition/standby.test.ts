import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@pm/kit/fault';
import { newestRules } from '@pm/schemas/log/log-rules';
import { noOwner } from '@pm/schemas/log/orders';
import { unstoredMaxMs } from '../../src/partition/claim-policy.ts';
import { cancelAll, marketRules, orderOf, signerOf, startMs } from '../core/commands.ts';
import { snapshotFolder, topicNames } from './matcher-process.ts';
import { MemoryLog } from './memory-log.ts';
import { readOutputs } from './reading.ts';
import { Pair } from './replica-pair.ts';
import { ReplicaProcess, settle } from './replica-process.ts';
import { keys, openingRecords, randomRecords, sealed } from './sealed-records.ts';

describe('two replicas of a partition', () => {
  test('the preferred one owns it at once, the other one sees every copy and writes nothing', async () => {
    const pair = new Pair(1);
    await pair.start();
    expect(pair.roles()).toEqual(['owner 1', 'standby 1']);
    await pair.pass(2_000, pair.one, pair.two);
    expect(pair.roles()).toEqual(['owner 1', 'standby 1']);
    await pair.expectWhole();
    expect(pair.two.status.unseenOutputs).toBe(0);
    expect(pair.two.status.chain).toBe(pair.one.status.chain);
    expect(readOutputs(pair.log).copies).toBe(0);
  });

  test('a standby claims after the silence of an owner that is gone, and writes from what it keeps', async () => {
    const pair = new Pair(2);
    await pair.start();
    for (let count = 0; count < 20; count += 1) pair.append();
    await pair.pass(250, pair.two);
    expect(pair.two.status.role).toBe('standby');
    expect(pair.two.status.unseenOutputs).toBeGreaterThanOrEqual(20);
    await pair.pass(150, pair.two);
    expect(pair.two.status).toMatchObject({ role: 'owner', term: 2, unseenOutputs: 0 });
    expect(pair.two.restores).toBe(1);
    await pair.expectWhole();
  });

  test('a fetch that began before the end of the silence shows nothing', async () => {
    const pair = new Pair(3);
    await pair.start();
    // The standby stood still: its clock is far ahead, its newest fetch is from before.
    pair.two.process.nowMs += 5_000;
    await pair.two.timer();
    await settle();
    expect(pair.commands().filter(({ kind }) => kind === 'ClaimPartition')).toHaveLength(1);
  });

  test('a former owner that wakes writes copies only, becomes the standby and restores nothing', async () => {
    const pair = new Pair(4);
    await pair.start();
    const before = [pair.append(), pair.append()];
    // Sent, but not stored when it is stopped.
    let goOn = () => {};
    pair.log.before = async () => {
      pair.log.before = async () => {};
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    };
    await pair.one.fetch();
    await pair.pass(500, pair.two);
    expect(pair.two.status.role).toBe('owner');
    pair.append();
    goOn();
    await settle();
    await pair.pass(500, pair.one, pair.two);
    expect(pair.roles()).toEqual(['standby 2', 'owner 2']);
    expect([pair.one.restores, pair.one.status.unseenOutputs]).toEqual([1, 0]);
    expect(readOutputs(pair.log).copies).toBeGreaterThanOrEqual(before.length);
    await pair.expectWhole();
  });

  test('ticks of a former owner neither move the clock nor count as a sign of life', async () => {
    const pair = new Pair(5);
    await pair.start();
    await pair.pass(500, pair.two);
    const { timeMs } = pair.two.status;
    pair.two.process.nowMs = pair.nowMs;
    const late = sealed(keys.owner, [{ kind: 'Tick', term: 1, timeMs: timeMs + 5_000 }]);
    const offset = pair.log.append(topicNames.orders, late);
    await pair.two.fetch();
    await settle();
    expect(pair.two.status.timeMs).toBeLessThan(timeMs + 5_000);
    const refused = { kind: 'CommandRefused', command: 0, code: 'fenced', requestId: null };
    expect(readOutputs(pair.log).executions[offset]?.events[0]).toEqual(refused);
  });

  test('a tick is a sign of its owner though an order that it releases is refused', async () => {
    const pair = new Pair(12, { earlier: 0 });
    const delaying = marketRules(1, { takerDelayMs: 1 });
    pair.log.append(topicNames.orders, sealed(keys.operator, [delaying]));
    await pair.start();
    for (let id = 0; id < 60; id += 1) {
      const at = { acceptedAtMs: pair.nowMs, signedAtMs: pair.nowMs };
      pair.append(
        orderOf(2 * id, 2, { outcome: 1, postOnly: true, ...at }),
        orderOf(2 * id + 1, 1, { timeInForce: 'FAK', ...at }),
        cancelAll({ signer: signerOf(2) }),
      );
      await pair.pass(25, pair.one, pair.two);
    }
    const refused = readOutputs(pair.log).executions.flatMap(({ events }) =>
      events.filter(({ kind }) => kind === 'OrderRefused'),
    );
    expect(refused.length).toBeGreaterThan(50);
    expect(pair.roles()).toEqual(['owner 1', 'standby 1']);
  });

  test('a standby takes over from an owner that ticks and stores nothing', async () => {
    const pair = new Pair(14);
    await pair.start();
    pair.append();
    const beganMs = pair.nowMs;
    const takenOver = async () => {
      for (; pair.two.status.role !== 'owner'; await pair.pass(25, pair.two)) {
        pair.one.process.nowMs = pair.nowMs;
        await pair.one.timer();
        if (pair.nowMs - beganMs > 60_000) throw new Error('it never claims');
      }
      return pair.nowMs - beganMs;
    };
    const tookMs = await takenOver();
    expect(tookMs).toBeGreaterThanOrEqual(unstoredMaxMs);
    expect(tookMs).toBeLessThan(unstoredMaxMs + 500);
    await pair.pass(1_000, pair.one, pair.two);
    expect(pair.roles()).toEqual(['standby 2', 'owner 2']);
    await pair.expectWhole();
  });

  test('a standby that reads no outputs asks the log, claims nothing and reads on with another reader', async () => {
    const pair = new Pair(15);
    await pair.start();
    for (let round = 0; round < 200; round += 1) {
      pair.nowMs += 25;
      for (const { process } of [pair.one, pair.two]) process.nowMs = pair.nowMs;
      await pair.one.round();
      await pair.two.fetch();
      await pair.two.timer();
      await settle(3);
    }
    expect(pair.roles()).toEqual(['owner 1', 'standby 1']);
    expect(pair.two.process.copies.opened).toBeGreaterThan(1);
    await pair.pass(100, pair.one, pair.two);
    expect(pair.two.status.unseenOutputs).toBeLessThan(5);
  });

  test('a standby whose reading of outputs fails is released, whatever the fault', async () => {
    const pair = new Pair(13);
    await pair.start();
    pair.two.process.copies.fail(new Fault('leader_unknown', 'retry'));
    expect(pair.two.process.faults).toMatchObject([{ code: 'leader_unknown' }]);
  });

  test('of two claims of one term the first counts', async () => {
    const pair = new Pair(6);
    await pair.start();
    for (const owner of [pair.two.process.ownerId, Buffer.alloc(16, 99)])
      pair.log.append(
        topicNames.orders,
        sealed(keys.owner, [{ kind: 'ClaimPartition', term: 2, owner }]),
      );
    await pair.pass(100, pair.one, pair.two);
    expect(pair.roles()).toEqual(['standby 2', 'owner 2']);
  });

  test('the preferred one claims from a living owner after a while, once', async () => {
    const pair = new Pair(7);
    await pair.start();
    await pair.pass(500, pair.two);
    await pair.pass(9_000, pair.one, pair.two);
    expect(pair.roles()).toEqual(['standby 2', 'owner 2']);
    await pair.pass(2_000, pair.one, pair.two);
    expect(pair.roles()).toEqual(['owner 3', 'standby 3']);
    await pair.pass(12_000, pair.one, pair.two);
    expect(pair.roles()).toEqual(['owner 3', 'standby 3']);
    await pair.expectWhole();
  }, 60_000);

  test('an owner that ends resigns, and the other one owns the partition without a silence', async () => {
    const pair = new Pair(8);
    await pair.start();
    await pair.one.process.owned.stop();
    const last = pair.commands().at(-1);
    expect(last).toMatchObject({ kind: 'ClaimPartition', term: 2, owner: noOwner });
    await pair.pass(50, pair.two);
    expect(pair.two.status).toMatchObject({ role: 'owner', term: 3 });
    await pair.expectWhole();
  });

  test('a standby whose outputs differ from the stored ones is released, and restored', async () => {
    const pair = new Pair(9);
    await pair.start();
    const at = pair.append();
    await pair.two.fetch();
    const other = readOutputs(pair.log).values.at(-1) ?? Buffer.alloc(0);
    const forged = Buffer.from(other);
    // A copy of the content for the next input, with another chain.
    forged.writeUInt8(at * 2, 5 + 32);
    pair.log.append(topicNames.executions, forged);
    await pair.two.copies();
    for (let turn = 0; turn < 200 && pair.two.process.faults.length === 0; turn += 1)
      await pause(5);
    expect(pair.two.process.faults).toMatchObject([{ reaction: 'release' }]);
    expect(pair.two.status.state).toBe('failed');
  });

  test('a standby that may keep nothing more claims, and writes before it has read its claim', async () => {
    const pair = new Pair(10, { unseen: { outputsMax: 10, bytesMax: 1 << 20 } });
    await pair.start();
    for (let count = 0; count < 60; count += 1) pair.append();
    await pair.pass(900, pair.two);
    expect(pair.two.status).toMatchObject({ role: 'standby', term: 1 });
    await pair.pass(1_500, pair.two);
    expect(pair.two.status).toMatchObject({ role: 'owner', term: 2, unseenOutputs: 0 });
    await pair.expectWhole();
  });

  test('the standby takes the snapshots, and the owner sees that it need not', async () => {
    const pair = new Pair(11);
    await pair.start();
    for (let count = 0; count < 400; count += 1) {
      pair.append({ kind: 'CancelOrder', orderId: Buffer.alloc(32), signer: Buffer.alloc(20) });
      await pair.pass(25, pair.one, pair.two);
    }
    const [one, two] = [pair.one.status, pair.two.status];
    expect(two.snapshotOffset).toBeGreaterThan(380);
    expect(one.snapshotOffset).toBeLessThan(two.snapshotOffset - 200);
    expect(pair.files.names(snapshotFolder).length).toBeGreaterThan(0);
  }, 60_000);
});

test('a partition that was owned by a process which is gone is claimed at once after a restart', async () => {
  const log = new MemoryLog();
  for (const record of openingRecords(newestRules)) log.append(topicNames.orders, record);
  const [former, next] = [new ReplicaProcess(log), new ReplicaProcess(log)];
  next.process.nowMs = startMs + 1_000;
  for (const replica of [former, former, former]) await replica.round();
  await former.read();
  for (const replica of [next, next, next, next]) await replica.round();
  expect(next.status).toMatchObject({ role: 'owner', term: 2 });
});

test('before the rules of claims the replica that is placed first writes', async () => {
  const log = new MemoryLog();
  for (const record of [...openingRecords(), ...randomRecords(13, 20)])
    log.append(topicNames.orders, record);
  const [first, second] = [new ReplicaProcess(log), new ReplicaProcess(log)];
  second.process.isPreferred = false;
  for (const replica of [first, second]) await replica.restore();
  for (const replica of [first, second, first, second]) await replica.round();
  expect([first.status.role, second.status.role]).toEqual(['owner', 'standby']);
  const inputs = () => log.records(topicNames.orders).length;
  expect([readOutputs(log).copies, readOutputs(log).executions.length]).toEqual([0, inputs()]);
  await second.copies();
  expect(second.status.unseenOutputs).toBe(0);
  second.process.isPreferred = true;
  first.process.isPreferred = false;
  log.append(topicNames.orders, sealed(keys.ingress, []));
  for (const replica of [first, second, first]) await replica.round();
  for (const replica of [first, second]) await replica.read();
  expect([first.status.role, second.status.role]).toEqual(['standby', 'owner']);
  expect(readOutputs(log).executions.length).toBe(inputs());
});

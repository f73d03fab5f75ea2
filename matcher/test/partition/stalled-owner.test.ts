import { newestRules } from '@pm/schemas/log/log-rules';
import { noOwner } from '@pm/schemas/log/orders';
import { tickAgeMaxMs } from '../../src/partition/lifecycle.ts';
import { stillMaxMs } from '../../src/partition/replica.io.ts';
import { topicNames } from './matcher-process.ts';
import { MemoryLog } from './memory-log.ts';
import { readOutputs } from './reading.ts';
import { Pair } from './replica-pair.ts';
import { ReplicaProcess, settle } from './replica-process.ts';
import { keys, openingRecords, sealed } from './sealed-records.ts';

/** An owner without a standby. */
async function lonelyOwner() {
  const log = new MemoryLog();
  for (const record of openingRecords(newestRules)) log.append(topicNames.orders, record);
  const owner = new ReplicaProcess(log);
  const pass = async (ms: number, step: () => Promise<void>) => {
    for (let left = ms; left > 0; left -= 25) {
      owner.process.nowMs += 25;
      await step();
    }
  };
  await pass(500, () => owner.round());
  expect(owner.status).toMatchObject({ state: 'live', role: 'owner' });
  return { log, owner, pass };
}

describe('an owner whose ticks do not come back', () => {
  test('is stalled, gives the partition up, and goes on when its reader does', async () => {
    const { log, owner, pass } = await lonelyOwner();
    await pass(tickAgeMaxMs - 500, () => owner.timer());
    expect(owner.status.state).toBe('live');
    expect(owner.status.tickAgeMs).toBeGreaterThan(tickAgeMaxMs - 1_000);
    await pass(stillMaxMs, async () => {
      if (owner.process.faults.length === 0) await owner.timer();
    });
    expect(owner.process.faults).toMatchObject([{ code: 'ticks_not_read', reaction: 'release' }]);
    expect(owner.status).toMatchObject({ state: 'failed', fault: 'ticks_not_read' });
    await settle();
    await pass(1_000, () => owner.round());
    expect(owner.status).toMatchObject({ state: 'live', role: 'owner', term: 3, fault: '' });
    expect(owner.status.tickAgeMs).toBeLessThan(500);
    expect(readOutputs(log).executions).toHaveLength(log.records(topicNames.orders).length - 1);
  });

  test('gives the partition to its standby', async () => {
    const pair = new Pair(1);
    await pair.start();
    // The standby sees outputs of another process, so that the owner itself has to find out.
    pair.two.process.copies.deliver = async () => {};
    for (let round = 0; round < 260; round += 1) {
      pair.nowMs += 25;
      pair.one.process.nowMs = pair.nowMs;
      if (pair.one.process.faults.length === 0) await pair.one.timer();
    }
    expect(pair.commands().filter(({ kind }) => kind === 'ClaimPartition')).toMatchObject([
      { term: 1 },
      { term: 2, owner: noOwner },
    ]);
    await pair.pass(100, pair.two);
    expect(pair.two.status).toMatchObject({ role: 'owner', term: 3 });
  });

  test('ends the wait of the batch that stands still', async () => {
    const { log, owner, pass } = await lonelyOwner();
    const never = new Promise<null>(() => {});
    const restored = owner.restores;
    owner.process.check = () => never;
    for (let count = 0; count < 5; count += 1)
      log.append(topicNames.orders, sealed(keys.ingress, []));
    const records = log.records(topicNames.orders).slice(owner.status.inOffset + 1);
    const processing = owner.process.owned.process({ records, highWatermark: records.length });
    const failed = expect(processing).rejects.toMatchObject({ code: 'ticks_not_read' });
    await pass(stillMaxMs + 1_000, async () => {
      if (owner.process.faults.length === 0) await owner.timer();
    });
    await failed;
    owner.process.check = null;
    await pass(500, () => owner.round());
    expect(owner.restores).toBe(restored + 1);
    expect(owner.status).toMatchObject({ state: 'live', role: 'owner' });
  });

  test('stays live while it lags and applies records', async () => {
    const { log, owner, pass } = await lonelyOwner();
    for (let count = 0; count < 400; count += 1)
      log.append(topicNames.orders, sealed(keys.ingress, []));
    await pass(stillMaxMs + 3_000, async () => {
      await owner.fetch(1);
      await owner.timer();
      await settle(2);
    });
    expect(owner.process.faults).toEqual([]);
    expect(owner.status).toMatchObject({ state: 'stalled', role: 'owner' });
    await pass(200, () => owner.round());
    expect(owner.status.state).toBe('live');
  }, 60_000);

  test('is stalled, and keeps the partition, while its outputs cannot be stored', async () => {
    const { log, owner, pass } = await lonelyOwner();
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    log.before = ([first]) => (first?.topic === topicNames.executions ? held : Promise.resolve());
    for (let count = 0; count < 60; count += 1)
      log.append(topicNames.orders, sealed(keys.ingress, []));
    void owner.fetch().catch(() => {});
    await pass(stillMaxMs + 3_000, async () => {
      owner.process.owned.publishDueTick();
      await settle(2);
    });
    expect(owner.process.faults).toEqual([]);
    expect(owner.status.state).toBe('stalled');
    log.before = async () => {};
    goOn();
    await pass(500, () => owner.round());
    expect(owner.status).toMatchObject({ state: 'live', role: 'owner', slicesQueued: 0 });
  });
});

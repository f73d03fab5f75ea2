import { type LogClient, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { Command } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { engineUrl } from '../../../kit/test/engines.ts';
import { ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import { openSessions, type SessionLimits, type Sessions } from '../../src/sessions/sessions.io.ts';
import { RoomFake } from '../room-fixture.ts';
import { holderOf } from '../sessions-fixture.ts';

const topicPrefix = `t-sessions-${process.pid}-${Date.now().toString(36)}-`;
const topic = `${topicPrefix}${topics.sessions.name}`;
const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
const start = { kind: 'start' } as const;

/** A quarter of the real ones. */
const limits: SessionLimits = {
  outageMs: 1_500,
  silenceMs: 4_000,
  checkEveryMs: 100,
  pulseEveryMs: 250,
  claimAfterMs: 1_500,
};

interface Watcher {
  readonly sessions: Sessions;
  /** API keys whose orders it canceled, with the time. */
  readonly canceled: { readonly key: string; readonly atMs: number }[];
  /** While set, its cancels are never answered. */
  isStuck: boolean;
  readonly endedAfterMs: number[];
  /** As a kill does: nothing is said any more. */
  kill(): Promise<void>;
}

const clients = new Set<LogClient>();
afterAll(async () => {
  await Promise.all([...clients].map((client) => client.close()));
}, 30_000);

function openClient(): LogClient {
  const brokers = [engineUrl('KAFKA')];
  const client = openLogClient({ brokers, clientId: 'sessions', log: silentLog });
  clients.add(client);
  return client;
}

async function openWatcher(): Promise<Watcher> {
  const client = openClient();
  const schemas = ownSchemas();
  const codecs = { sessions: await schemas.codecFor(topics.sessions) };
  const topicLog = { client, names: { sessions: topic }, codecs };
  const canceled: Watcher['canceled'] = [];
  const endedAfterMs: number[] = [];
  const run = async (partition: number, command: Command) => {
    if (watcher.isStuck) return await new Promise<never>(() => {});
    const key = command.kind === 'CancelOrders' ? command.apiKey?.toString('hex') : undefined;
    canceled.push({ key: key ?? '', atMs: performance.now() });
    return { kind: 'executed', place: { partition, inOffset: 1 }, events: [] } as const;
  };
  const sessions = await openSessions(topicLog, {
    log: silentLog,
    clock,
    entryQuota: new RoomFake(),
    run,
    limits,
    partitions: { numbers: [0], isReady: () => true, at: () => ({ clockMs: Date.now() }) },
    counts: {
      onBeat() {},
      onMissed() {},
      onRevived() {},
      onEnded: (afterMs) => endedAfterMs.push(afterMs),
    },
    onFault(fault) {
      throw fault;
    },
  });
  const kill = async () => {
    clients.delete(client);
    await sessions.close();
    await client.close();
  };
  const watcher: Watcher = { sessions, canceled, isStuck: false, endedAfterMs, kill };
  return watcher;
}

const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(isSo: () => boolean, withinMs: number): Promise<number> {
  const sinceMs = performance.now();
  while (!isSo()) {
    if (performance.now() - sinceMs > withinMs) throw new Error(`not within ${withinMs} ms`);
    await pass(20);
  }
  return performance.now() - sinceMs;
}

const keyOf = (number: number) => holderOf(number).apiKey.replaceAll('-', '');

async function beat({ sessions }: Watcher, number: number): Promise<number> {
  const { kind } = await sessions.heartbeats.beat(holderOf(number), { kind: 'bare' });
  expect(kind).toBe('accepted');
  return performance.now();
}

beforeAll(async () => {
  const admin = await openClient().admin();
  const { compacted, maxMessageBytes, compactAfterMs = 0 } = topics.sessions;
  const kept = { replicationFactor: 1, minInSyncReplicas: 1, retentionMs: -1, compactAfterMs };
  await admin.ensureTopics([{ ...kept, name: topic, partitions: 3, compacted, maxMessageBytes }]);
  await admin.close();
}, 60_000);

test('a killed watcher is replaced: who is silent is canceled in time, who beats anywhere is not', async () => {
  const [dying, staying] = [await openWatcher(), await openWatcher()];
  let beats = true;
  const beating = (async () => {
    while (beats) {
      await beat(staying, 1);
      await pass(500);
    }
  })();
  const sentMs = performance.now();
  const lastMs = await beat(dying, 2);
  await dying.kill();
  await until(() => staying.canceled.some(({ key }) => key === keyOf(2)), 10_000);
  const [cancel] = staying.canceled;
  const canceledMs = cancel?.atMs ?? 0;
  expect(canceledMs - sentMs).toBeGreaterThan(limits.silenceMs);
  // The bound of a takeover before the miss is that of no takeover at all.
  expect(canceledMs - lastMs).toBeLessThan(limits.silenceMs + 3_000);
  beats = false;
  await beating;
  expect(staying.canceled.map(({ key }) => key)).toEqual([keyOf(2)]);
  await staying.kill();
}, 60_000);

test('a watcher that is killed while it cancels is replaced within the claim time', async () => {
  const dying = await openWatcher();
  dying.isStuck = true;
  await beat(dying, 3);
  const isMissed = () => dying.sessions.table.find(holderOf(3).apiKey)?.phase === 'MISSED';
  await until(isMissed, 10_000);
  const staying = await openWatcher();
  await dying.kill();
  const phase = () => staying.sessions.table.find(holderOf(3).apiKey)?.phase;
  const tookMs = await until(() => phase() === 'ENDED', 10_000);
  expect(staying.canceled.map(({ key }) => key)).toContain(keyOf(3));
  expect(tookMs).toBeLessThan(limits.claimAfterMs + 5_000);
  await staying.kill();
}, 60_000);

test('of two beats with one id at two processes one is accepted, and both agree on the chain', async () => {
  const [left, right] = [await openWatcher(), await openWatcher()];
  let id = await idOf(left, start);
  for (let round = 0; round < 20; round += 1) {
    const claim = { kind: 'next', id } as const;
    const both = await Promise.all(
      [left, right].map(({ sessions }) => sessions.heartbeats.beat(holderOf(4), claim)),
    );
    const accepted = both.flatMap((one) => (one.kind === 'accepted' ? [one.id] : []));
    const expected = both.flatMap((one) => (one.kind === 'wrong' ? [one.expected] : []));
    expect([accepted.length, expected]).toEqual([1, accepted]);
    id = accepted[0] ?? id;
  }
  await Promise.all([left.kill(), right.kill()]);
}, 60_000);

async function idOf({ sessions }: Watcher, claim: typeof start) {
  const outcome = await sessions.heartbeats.beat(holderOf(4), claim);
  if (outcome.kind !== 'accepted') throw new Error('the chain starts');
  return outcome.id;
}

test('after an outage of all processes, a key that beats at once keeps its orders', async () => {
  const before = await openWatcher();
  await beat(before, 5);
  await beat(before, 6);
  await before.kill();
  await pass(limits.silenceMs + 1_000);
  const after = await openWatcher();
  await pass(limits.silenceMs - 1_500);
  await beat(after, 5);
  await until(() => after.canceled.some(({ key }) => key === keyOf(6)), 10_000);
  expect(after.canceled.map(({ key }) => key)).not.toContain(keyOf(5));
  await after.kill();
}, 60_000);

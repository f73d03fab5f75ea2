import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Clock, systemClock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import type { ReaderOptions } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { WalletAddress } from '@pm/schemas/ids';
import { until } from '../../../kit/test/kafka/deferred.ts';
import type { FeedChange } from '../../src/feed/changes.ts';
import { countedPartitions } from '../../src/feed/counted-partitions.ts';
import { Feed, type FeedRecord } from '../../src/feed/feed.io.ts';
import { PartitionFeed } from '../../src/feed/partition-feed.ts';
import { RecentChanges, recentChangesMax } from '../../src/feed/recent-changes.ts';
import { Replays, replayLimits } from '../../src/feed/replay.io.ts';
import { planReplay, type ReplayRequest, type ReplayStart } from '../../src/feed/replay-plan.ts';
import { type MarketChannel, marketChannels } from '../../src/feed/snapshots.ts';
import { changeText } from './change-text.ts';
import { engineLog, logPartition } from './engine-log.ts';
import { executionCodec, MemoryClient } from './memory-client.ts';

let directory = '';
let feeds: Feed[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pm-feed-'));
  feeds = [];
});

afterEach(async () => {
  await Promise.all(feeds.map((feed) => feed.close()));
  await rm(directory, { recursive: true, force: true });
});

/** A feed and everything that its listener received. */
class Followed {
  readonly feed: Feed;
  readonly records: FeedRecord[] = [];
  resets = 0;
  /** Added partitions: the number of each, and how many of its records came before it was added. */
  readonly added: (readonly [number, number])[] = [];

  constructor(log: MemoryClient, clock: Clock = systemClock) {
    this.feed = new Feed({
      executions: { client: log.client, codec: executionCodec, topic: 'executions' },
      directory,
      saves: { everyRecords: 400, everyMs: 60_000 },
      clock,
      log: silentLog,
    });
    this.feed.listen({
      record: (record) => this.records.push(record),
      reset: () => {
        this.resets += 1;
      },
      added: (partition) => {
        const before = this.records.filter((record) => record.partition === partition);
        this.added.push([partition, before.length]);
      },
    });
    feeds.push(this.feed);
    this.feed.start();
  }

  get changes(): readonly FeedChange[] {
    return this.records.flatMap(({ changes }) => changes);
  }

  /** Waits until the feed has taken an input. */
  async reaches(inOffset: number): Promise<void> {
    for (let tries = 0; tries < 4_000; tries += 1) {
      const [status] = this.feed.partitions();
      if (status?.isCaughtUp && status.offset >= inOffset) return;
      await wait(5);
    }
    throw new Error(
      `the feed did not reach ${inOffset}: ${JSON.stringify(this.feed.partitions())}`,
    );
  }

  async replayed(channel: FeedChange['channel'], key: string, from: ReplayStart) {
    const replay =
      channel === 'own'
        ? this.feed.replay({ channel, wallet: key as WalletAddress, partition: logPartition, from })
        : this.feed.replay({ channel, market: Number(key), from });
    if (replay === null) return null;
    const found: FeedChange[] = [];
    for await (const page of replay.pages) found.push(...page);
    return found;
  }
}

function keyOf(change: FeedChange): string {
  return `${change.channel} ${change.channel === 'own' ? change.wallet : change.market}`;
}

function textsOf(changes: readonly FeedChange[]): readonly string[] {
  return changes.map((change) => changeText(change).text);
}

function fill(
  log: MemoryClient,
  seed: number,
  { from = 0, to }: { from?: number; to: number },
): void {
  for (const execution of engineLog(seed, to))
    if (execution.inOffset >= from) log.append(execution, execution.inOffset % 7 === 6 ? 1 : 0);
}

/** Appends a first record, waits for it, and appends the rest: all changes but those of the first are seen live. */
async function followedLive(log: MemoryClient, seed: number, to: number): Promise<Followed> {
  fill(log, seed, { to: 1 });
  const followed = new Followed(log);
  await followed.reaches(0);
  fill(log, seed, { from: 1, to });
  await followed.reaches(to - 1);
  return followed;
}

function groupsOf(changes: readonly FeedChange[]): ReadonlyMap<string, readonly FeedChange[]> {
  const groups = new Map<string, FeedChange[]>();
  for (const change of changes) {
    const group = groups.get(keyOf(change)) ?? [];
    groups.set(keyOf(change), group);
    group.push(change);
  }
  return groups;
}

/** Reads the changes after one again, by its number and by the offset of the next one. */
async function compareReplay(
  followed: Followed,
  key: string,
  { changes, after }: { changes: readonly FeedChange[]; after: number },
): Promise<void> {
  const [channel = '', id = ''] = key.split(' ');
  const kind = channel as FeedChange['channel'];
  const bySeq = await followed.replayed(kind, id, { seq: after });
  expect(await followed.replayed(kind, id, { seq: changes.length + 1 })).toBeNull();
  if (kind === 'best' || kind === 'markets') {
    expect(textsOf(bySeq ?? [])).toEqual(textsOf(changes.slice(after).slice(-1)));
    return;
  }
  expect(textsOf(bySeq ?? [])).toEqual(textsOf(changes.slice(after)));
  const { offset } = changes[Math.min(after, changes.length - 1)]?.at ?? { offset: 0 };
  const later = changes.filter(({ at }) => at.offset >= offset);
  expect(textsOf((await followed.replayed(kind, id, { offset })) ?? [])).toEqual(textsOf(later));
}

/** Folds a log without a follower; copies are dropped. */
function foldedFrom(log: MemoryClient, feed: PartitionFeed): readonly FeedChange[] {
  const seen: FeedChange[] = [];
  for (const { offset, value } of log.records) {
    const execution = executionCodec.decode(value ?? Buffer.alloc(0));
    if (execution.inOffset > feed.progress.inOffset) seen.push(...feed.take(execution, offset));
  }
  return seen;
}

function recordsOf(changes: readonly FeedChange[]): ReadonlyMap<number, readonly FeedChange[]> {
  const records = new Map<number, FeedChange[]>();
  for (const change of changes) {
    const record = records.get(change.at.offset) ?? [];
    records.set(change.at.offset, record);
    record.push(change);
  }
  return records;
}

function isAfter({ seq, at }: FeedChange, from: ReplayStart): boolean {
  return 'seq' in from ? seq > from.seq : at.offset >= from.offset;
}

function requestOf(key: string, from: ReplayStart): ReplayRequest {
  const [channel = '', id = ''] = key.split(' ');
  if (channel === 'own')
    return { channel, wallet: id as WalletAddress, partition: logPartition, from };
  return { channel: channel as MarketChannel, market: Number(id), from };
}

/** Numbers from the first to the last but one, and offsets of changes. */
function startsOf(changes: readonly FeedChange[]): readonly ReplayStart[] {
  const last = changes.length - 1;
  return [0, last >> 1, Math.max(0, last - 3), last].flatMap((seq) => [
    { seq },
    { offset: changes[seq]?.at.offset ?? 0 },
  ]);
}

describe('Feed', () => {
  /** A log of `count` records and a feed that has read them, by a clock that the test moves. */
  async function followedByClock(count: number) {
    const log = new MemoryClient(logPartition);
    const executions = [...engineLog(5, 200)];
    const append = (to: number) => {
      for (const execution of executions.slice(log.records.length, to)) log.append(execution);
    };
    append(count);
    const now = { ms: systemClock.monotonicMs() };
    log.monotonicMs = () => now.ms;
    const followed = new Followed(log, { nowMs: systemClock.nowMs, monotonicMs: () => now.ms });
    await followed.reaches(count - 1);
    const state = () => followed.feed.partitions().map(({ isLive, fault }) => [isLive, fault])[0];
    return { log, append, now, followed, state };
  }

  it('is live while its owner is heard, and has a fault when no fetch is answered', async () => {
    const { append, now, followed, state } = await followedByClock(20);
    // Records that were in the log before the start may be old.
    expect(state()).toEqual([false, null]);
    append(21);
    await followed.reaches(20);
    expect(state()).toEqual([true, null]);
    now.ms += 1_001;
    expect(state()).toEqual([false, null]);
    now.ms += 60_000;
    expect(state()).toEqual([false, 'reader_silent']);
  });

  it('is not live while it reads a backlog, and is again with a record behind that', async () => {
    const { log, append, now, followed, state } = await followedByClock(20);
    append(21);
    await followed.reaches(20);
    expect(state()).toEqual([true, null]);
    log.served = 40;
    now.ms += 1_400;
    append(100);
    await followed.reaches(39);
    expect(state()).toEqual([true, null]);
    now.ms += 101;
    expect(state()).toEqual([false, null]);
    now.ms += 1_000;
    for (const served of [60, 80, 100]) {
      log.served = served;
      log.wake();
      await followed.reaches(served - 1);
      expect(state()).toEqual([false, null]);
    }
    log.served = Number.POSITIVE_INFINITY;
    append(101);
    await followed.reaches(100);
    expect(state()).toEqual([true, null]);
  });

  it('reads the changes of every channel again from any number or offset as they were seen live', async () => {
    const log = new MemoryClient(logPartition);
    const followed = await followedLive(log, 31, 400);
    const seen = groupsOf(followed.changes);
    await followed.feed.close();
    // Restored, it has nothing in memory: all is read out of the log.
    const restored = new Followed(log);
    await restored.reaches(399);
    expect([...seen.keys()].filter((key) => key.startsWith('own ')).length).toBeGreaterThan(5);
    for (const [key, changes] of seen) {
      const half = Math.floor(changes.length / 2);
      expect(changes.map(({ seq }) => seq)).toEqual(changes.map((_, index) => index + 1));
      for (const after of [0, half, changes.length - 1])
        await compareReplay(restored, key, { changes, after });
    }
  }, 300_000);

  it('answers from memory what it can, and never less than the log has', () => {
    const log = new MemoryClient(logPartition);
    const feed = new PartitionFeed(logPartition);
    fill(log, 42, { to: 400 });
    const seen = foldedFrom(log, feed);
    const [whole, newer] = [new RecentChanges(0, 1), new RecentChanges(250, 1)];
    for (const [offset, changes] of recordsOf(seen)) {
      whole.add(offset, changes);
      if (offset >= 250) newer.add(offset, changes);
    }
    expect(whole.count).toBe(seen.length);
    const answered = [...groupsOf(seen)].flatMap(([key, changes]) =>
      startsOf(changes).filter((from) => {
        const plan = planReplay(feed, requestOf(key, from));
        if (plan?.kind !== 'own' && plan?.kind !== 'market') return false;
        const expected = textsOf(changes.filter((change) => isAfter(change, from)));
        expect(textsOf(whole.find(plan) ?? [])).toEqual(expected);
        const found = newer.find(plan);
        expect(found === null ? expected : textsOf(found)).toEqual(expected);
        return found !== null;
      }),
    );
    expect(answered.length).toBeGreaterThan(20);
  });

  it('forgets the oldest changes beyond the share of its partition', () => {
    const share = recentChangesMax / 8;
    const recent = new RecentChanges(0, 8);
    const change = (seq: number): FeedChange => ({
      channel: 'book',
      market: 1,
      seq,
      at: { partition: logPartition, offset: seq, index: 0, timeMs: 0 },
      levels: [],
    });
    for (let seq = 1; seq <= share + 100; seq += 1) recent.add(seq, [change(seq)]);
    expect(recent.count).toBe(share);
    const start = { inOffset: 1, offset: 1, seqBefore: 0 };
    const wanted = { partition: logPartition, fromInOffset: 0, toSeq: share + 100 };
    const plan = { kind: 'market', channel: 'book', market: 1, start, ...wanted } as const;
    expect(recent.find({ ...plan, afterSeq: 99 })).toBeNull();
    expect(recent.find({ ...plan, afterSeq: 100 })?.length).toBe(share);
    expect(recent.find({ ...plan, afterSeq: share })?.map(({ seq }) => seq)[0]).toBe(share + 1);
  });

  it('ends a replay at the number asked for, and splits nothing from the live changes after it', async () => {
    const log = new MemoryClient(logPartition);
    fill(log, 32, { to: 500 });
    const followed = new Followed(log);
    await followed.reaches(499);
    const [market = 0] = followed.feed.markets();
    const replay = followed.feed.replay({ channel: 'orders', market, from: { seq: 0 } });
    const before = followed.records.length;
    fill(log, 32, { from: 500, to: 900 });
    await followed.reaches(899);
    const pages = [];
    for await (const page of replay?.pages ?? []) pages.push(...page);
    const live = followed.records
      .slice(before)
      .flatMap(({ changes }) => changes)
      .filter((change) => change.channel === 'orders' && change.market === market);
    const seqs = [...pages, ...live].map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(pages.at(-1)?.seq).toBe(replay?.toSeq);
    const some = followed.feed.replay({ channel: 'orders', market, from: { seq: 3 }, toSeq: 7 });
    const found = [];
    for await (const page of some?.pages ?? []) found.push(...page);
    expect(found.map(({ seq }) => seq)).toEqual([4, 5, 6, 7]);
  });

  it('reads changes of a wallet again with their totals when they are too many to keep', async () => {
    const log = new MemoryClient(logPartition);
    const feed = new PartitionFeed(logPartition);
    fill(log, 41, { to: 500 });
    const seen = foldedFrom(log, feed);
    const limits = { ...replayLimits, ownKept: 50, pageMessages: 7, readRecords: 60 };
    const replays = new Replays({ client: log.client, codec: executionCodec, topic: 'x' }, limits);
    for (const [key, changes] of groupsOf(seen)) {
      const [channel, wallet] = key.split(' ');
      if (channel !== 'own') continue;
      const from = { seq: changes.length >> 2 };
      const owner = { wallet: wallet as WalletAddress, partition: logPartition };
      const plan = planReplay(feed, { channel: 'own', ...owner, from });
      expect(plan?.kind).toBe('own');
      if (plan?.kind !== 'own') continue;
      const found: FeedChange[] = [];
      for await (const page of replays.pages(plan, feed.progress.nextOffset)) {
        expect(page.length).toBeLessThanOrEqual(7);
        found.push(...page);
      }
      expect(textsOf(found)).toEqual(textsOf(changes.slice(from.seq)));
    }
  });

  it('goes on from its state after a restart, with the numbers it would have had', async () => {
    const log = new MemoryClient(logPartition);
    const whole = await followedLive(log, 33, 900);
    await whole.feed.close();
    const kept = await readdir(join(directory, `p${logPartition}`));
    expect(kept).toContain('900.feed');
    const { opened } = log;
    const restarted = new Followed(log);
    await restarted.reaches(899);
    // One reader looks back, one follows: nothing was folded again.
    expect(log.opened - opened).toBe(2);
    expect(restarted.records).toEqual([]);
    for (const market of whole.feed.markets()) {
      for (const channel of marketChannels)
        expect(restarted.feed.snapshot(channel, market)).toEqual(
          whole.feed.snapshot(channel, market),
        );
    }
    fill(log, 33, { from: 900, to: 1_000 });
    await restarted.reaches(999);
    expect(restarted.records[0]?.offset).toBeGreaterThanOrEqual(900);
    expect(restarted.resets).toBe(0);
  });

  it('writes a state that is due as soon as it is caught up, however short it has run', async () => {
    const log = new MemoryClient(logPartition);
    fill(log, 33, { to: 100 });
    const feed = new Followed(log);
    await feed.reaches(99);
    const kept = async () =>
      await readdir(join(directory, `p${logPartition}`)).catch((): string[] => []);
    for (let tries = 0; tries < 400 && !(await kept()).includes('100.feed'); tries += 1)
      await wait(5);
    expect(await kept()).toContain('100.feed');
  });

  it('folds from the first record when the log is another one than its state', async () => {
    const log = new MemoryClient(logPartition);
    const first = await followedLive(log, 34, 500);
    const [{ epoch } = { epoch: null }] = first.feed.partitions();
    await first.feed.close();
    log.clear();
    fill(log, 35, { to: 700 });
    const second = new Followed(log);
    await second.reaches(699);
    const fresh = await freshTexts(35, 700);
    expect(second.feed.partitions()[0]?.epoch).not.toBe(epoch);
    for (const market of second.feed.markets())
      expect(JSON.stringify(second.feed.snapshot('book', market))).toBe(fresh.get(market));
  });

  it('says that its log was replaced while it ran, and folds the new one', async () => {
    const log = new MemoryClient(logPartition);
    const followed = await followedLive(log, 36, 300);
    log.clear();
    fill(log, 37, { to: 400 });
    log.fail(new Fault('offset_out_of_range', 'stop'));
    await until(() => followed.resets > 0, 'it has noticed');
    await followed.reaches(399);
    expect(followed.resets).toBe(1);
    const fresh = await freshTexts(37, 400);
    for (const market of followed.feed.markets())
      expect(JSON.stringify(followed.feed.snapshot('book', market))).toBe(fresh.get(market));
  });

  it('reports a fault while the log is away, and goes on where it was', async () => {
    const log = new MemoryClient(logPartition);
    const followed = await followedLive(log, 38, 300);
    log.isAway = true;
    log.fail(new Fault('handler_failed', 'stop'));
    await wait(50);
    expect(followed.feed.partitions()).toMatchObject([
      { fault: 'handler_failed', isCaughtUp: true },
    ]);
    const state = () => followed.feed.partitions()[0];
    await until(() => state()?.fault === 'log_unavailable', 'it has tried again');
    await until(() => (state()?.faultMs ?? 0) > 500, 'the fault has lasted');
    fill(log, 38, { from: 300, to: 400 });
    log.isAway = false;
    await followed.reaches(399);
    expect(followed.feed.partitions()).toMatchObject([{ fault: null, faultMs: 0, lagRecords: 0 }]);
    expect(followed.resets).toBe(0);
    for (const changes of groupsOf(followed.changes).values())
      expect(changes.map(({ seq }) => seq)).toEqual(changes.map((_, index) => index + 1));
  });

  it('stops at a record that is not chained to the one before, and says so', async () => {
    const log = new MemoryClient(logPartition);
    const followed = await followedLive(log, 39, 200);
    const forged = new MemoryClient(logPartition);
    fill(forged, 40, { to: 201 });
    const [last] = forged.records.slice(-1);
    log.records.push({ ...last, offset: log.records.length } as (typeof log.records)[number]);
    for (const execution of engineLog(39, 202))
      if (execution.inOffset === 201) log.append(execution);
    await until(() => followed.feed.partitions()[0]?.fault != null, 'it has stopped');
    expect(followed.feed.partitions()).toMatchObject([{ fault: 'chain_broken', offset: 199 }]);
  });
});

/** The books of a log by a feed that sees nothing else. */
async function freshTexts(seed: number, count: number): Promise<ReadonlyMap<number, string>> {
  const log = new MemoryClient(logPartition);
  fill(log, seed, { to: count });
  const own = directory;
  directory = await mkdtemp(join(tmpdir(), 'pm-feed-'));
  const fresh = new Followed(log);
  await fresh.reaches(count - 1);
  await fresh.feed.close();
  await rm(directory, { recursive: true, force: true });
  directory = own;
  const { feed } = fresh;
  return new Map(
    [...feed.markets()].map((market) => [market, JSON.stringify(feed.snapshot('book', market))]),
  );
}

/** A log that gets a second partition. */
class GrowingLog extends MemoryClient {
  second: MemoryClient | null = null;

  override async admin() {
    const admin = await super.admin();
    const bounds = async () =>
      new Map([
        ...(await admin.bounds()),
        ...((await (await this.second?.admin())?.bounds()) ?? []),
      ]);
    return { ...admin, bounds };
  }

  override async reader(options: ReaderOptions) {
    const isOfSecond = options.positions.has(secondPartition);
    return isOfSecond && this.second !== null
      ? await this.second.reader(options)
      : await super.reader(options);
  }
}

const secondPartition = logPartition + 1;

test('a partition that is added counts once it is caught up, which listeners learn before its records', async () => {
  const log = new GrowingLog(logPartition);
  const followed = await followedLive(log, 41, 20);
  const second = new MemoryClient(secondPartition);
  const executions = [...engineLog(42, 60)];
  for (const execution of executions.slice(0, 20)) second.append(execution);
  second.served = 10;
  log.second = second;
  const statuses = () => followed.feed.partitions();
  await until(() => statuses().length === 2, 'it is followed');
  expect(countedPartitions(statuses())).toEqual([logPartition]);
  expect([statuses()[1]?.isLive, followed.added]).toEqual([false, []]);
  second.served = Number.POSITIVE_INFINITY;
  second.wake();
  await until(() => statuses()[1]?.isCaughtUp === true, 'it is caught up');
  for (const execution of executions.slice(20)) second.append(execution);
  await until(() => statuses()[1]?.offset === 59, 'its records are taken');
  expect(followed.added).toEqual([[secondPartition, 0]]);
  expect(countedPartitions(statuses())).toEqual([logPartition, secondPartition]);
}, 60_000);

import { registryHeaderBytes } from '@pm/schemas/log/topics';
import { runLength } from '../../../kit/test/long-runs.ts';
import { Applied } from '../../src/core/index.ts';
import { engines, MatcherProcess, snapshotFolder, topicNames } from './matcher-process.ts';
import { MemoryFiles } from './memory-files.ts';
import { MemoryLog } from './memory-log.ts';
import { readOutputs } from './reading.ts';
import { openingRecords, randomRecords } from './sealed-records.ts';

const records = [...openingRecords(), ...randomRecords(5, 78)];
const count = records.length;

async function livedThrough(snapshotEveryRecords = 20) {
  const log = new MemoryLog();
  for (const value of records) log.append(topicNames.orders, value);
  const files = new MemoryFiles();
  const process = new MatcherProcess(log, { files, snapshotEveryRecords });
  await process.run();
  return { log, files, chain: process.owned.status().chain };
}

function flipAt(log: MemoryLog, offset: number, at: number): void {
  const value = Buffer.from(log.records(topicNames.executions)[offset]?.value ?? Buffer.alloc(0));
  value[at] = (value[at] ?? 0) ^ 1;
  log.tamper(topicNames.executions, offset, value);
}

function paths(files: MemoryFiles): readonly string[] {
  const names = [...files.names(snapshotFolder)].sort(
    (a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10),
  );
  return names.map((name) => `${snapshotFolder}/${name}`);
}

describe('restore', () => {
  test('starts from the newest snapshot and replays the rest', async () => {
    const { log, files, chain } = await livedThrough();
    const successor = new MatcherProcess(log, { files });
    await successor.run();
    const newest = Number.parseInt(files.names(snapshotFolder).sort().at(-1) ?? '', 10);
    expect(successor.owned.status()).toMatchObject({ chain, snapshotOffset: newest });
    expect(readOutputs(log).copies).toBe(0);
  });

  test('of processes that end early one after the other, none replays all that was replayed before it', async () => {
    const log = new MemoryLog();
    const files = new MemoryFiles();
    const replayed: number[] = [];
    for (let from = 0; from < count; from += 20) {
      for (const value of records.slice(from, from + 20)) log.append(topicNames.orders, value);
      const process = new MatcherProcess(log, { files, snapshotEveryRecords: 50 });
      await process.run();
      replayed.push(from - process.owned.status().snapshotOffset);
    }
    expect(Math.max(...replayed)).toBeLessThan(50);
    expect(replayed.at(-1)).toBeLessThan(count - 50);
  });

  test('asked for twice is done once, and goes on where a partition is that is live', async () => {
    const { log, chain } = await livedThrough();
    const { owned } = new MatcherProcess(log);
    expect(await Promise.all([owned.restore(), owned.restore()])).toEqual([count, count]);
    expect(await owned.restore()).toBe(count);
    expect(owned.status()).toMatchObject({ state: 'live', chain });
  });

  test('reaches the same status from a snapshot as by a full replay', async () => {
    const { log, files } = await livedThrough();
    const successor = new MatcherProcess(log, {
      files: new MemoryFiles(),
      snapshotEveryRecords: 1e6,
    });
    await successor.run();
    const first = new MatcherProcess(log, { files });
    await first.run();
    const [a, b] = [successor.owned.status(), first.owned.status()];
    expect({ ...a, snapshotOffset: 0 }).toEqual({
      ...b,
      snapshotOffset: 0,
      commandsApplied: a.commandsApplied,
    });
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['truncated', (bytes) => bytes.subarray(0, bytes.length - 1)],
    ['empty', () => Buffer.alloc(0)],
    ['of another partition', (bytes) => Buffer.from(bytes).fill(9, 15, 16)],
    ['of another version', (bytes) => Buffer.from(bytes).fill(9, 11, 12)],
    ['grown', (bytes) => Buffer.concat([bytes, Buffer.alloc(1)])],
  ])(
    'a snapshot that is %s is counted and renamed, and the older one is used',
    async (_, spoil) => {
      const { log, files, chain } = await livedThrough();
      const [newest = '', older = ''] = paths(files);
      files.contents.set(newest, spoil(files.contents.get(newest) ?? Buffer.alloc(0)));
      const successor = new MatcherProcess(log, { files, snapshotEveryRecords: 1e6 });
      await successor.run();
      expect(successor.badSnapshots).toHaveLength(1);
      expect(files.names(snapshotFolder).some((name) => name.endsWith('.bad'))).toBe(true);
      expect(successor.owned.status()).toMatchObject({
        chain,
        snapshotOffset: Number.parseInt(older.split('/').at(-1) ?? '', 10),
      });
    },
  );

  const rounds = runLength({ test: 10, deep: 60 });

  test('any flipped bit in any snapshot is found; all bad means a full replay', async () => {
    const { log, files, chain } = await livedThrough();
    const whole = new Map(files.contents);
    const [newest = ''] = paths(files);
    const bytes = whole.get(newest) ?? Buffer.alloc(0);
    for (let round = 0; round < rounds; round += 1) {
      const at = Math.floor((round / rounds) * bytes.length);
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (round % 8));
      files.contents.clear();
      files.contents.set(newest, flipped);
      const successor = new MatcherProcess(log, { files, snapshotEveryRecords: 1e6 });
      await successor.restore();
      expect(successor.badSnapshots).toHaveLength(1);
      expect(successor.owned.status()).toMatchObject({ chain, snapshotOffset: 0 });
    }
  }, 240_000);

  test('a snapshot ahead of the stored outputs is not used, and lost outputs are written again', async () => {
    const { log, files, chain } = await livedThrough();
    const lost = 25;
    log.truncateFrom(topicNames.executions, lost);
    const successor = new MatcherProcess(log, { files, snapshotEveryRecords: 1e6 });
    await successor.run();
    expect(successor.badSnapshots.length).toBeGreaterThan(0);
    expect(successor.owned.status().snapshotOffset).toBeLessThanOrEqual(lost);
    expect(successor.owned.status().chain).toBe(chain);
    expect(readOutputs(log)).toMatchObject({ copies: 0, executions: { length: count } });
  });

  test('a snapshot of another log is not used and stays, and new ones are kept beside it', async () => {
    const { files } = await livedThrough();
    const before = files.names(snapshotFolder);
    const other = new MemoryLog();
    for (const value of [...openingRecords(), ...randomRecords(6, 78)]) {
      other.append(topicNames.orders, value);
    }
    await new MatcherProcess(other).run();
    const successor = new MatcherProcess(other, { files, snapshotEveryRecords: 20 });
    await successor.restore();
    expect(successor.owned.status().snapshotOffset).toBe(0);
    expect(successor.badSnapshots).toHaveLength(before.length);
    for (const value of randomRecords(7, 30)) other.append(topicNames.orders, value);
    await successor.catchUp();
    const after = files.names(snapshotFolder);
    expect(after).toEqual(expect.arrayContaining([...before]));
    expect(after.length).toBeGreaterThan(before.length);
  });

  test('a snapshot that another process takes during a restore is not renamed', async () => {
    const { log, files } = await livedThrough();
    const other = new MatcherProcess(log, { files });
    await other.run();
    const bounds = log.bounds.bind(log);
    let isFirst = true;
    log.bounds = async (topic) => {
      const found = await bounds(topic);
      if (!isFirst) return found;
      isFirst = false;
      for (const value of randomRecords(7, 40)) log.append(topicNames.orders, value);
      await other.catchUp();
      return found;
    };
    const names = files.names(snapshotFolder);
    const successor = new MatcherProcess(log, { files });
    await successor.restore();
    expect(files.names(snapshotFolder)).not.toEqual(names);
    expect(successor.badSnapshots).toEqual([]);
    expect(successor.owned.state).toBe('live');
  });

  test('a state of another version of the rules is not used, and the restore goes on without it', async () => {
    const { log, files, chain } = await livedThrough();
    const restore = () => {
      throw new Error('of another version');
    };
    const successor = new MatcherProcess(log, { files, engines: { ...engines, restore } });
    await successor.run();
    expect(successor.owned.status().chain).toBe(chain);
  });
});

describe('a damaged or incomplete log', () => {
  test('a tampered tail hash stops the partition with both hashes', async () => {
    const { log, chain } = await livedThrough();
    flipAt(log, count - 1, registryHeaderBytes);
    const successor = new MatcherProcess(log);
    await expect(successor.run()).rejects.toMatchObject({
      code: 'chain_mismatch',
      reaction: 'release',
      facts: { inOffset: count - 1, computed: chain },
    });
    expect(successor.owned.status()).toMatchObject({ state: 'failed', fault: 'chain_mismatch' });
    expect(log.records(topicNames.executions)).toHaveLength(count);
  });

  test('when only the snapshot is wrong, a later attempt succeeds without it', async () => {
    const { log, files, chain } = await livedThrough();
    const spoilt = {
      ...engines,
      restore: (state: Buffer) => {
        const engine = engines.restore(state);
        const apply = engine.apply.bind(engine);
        engine.apply = (envelope, inOffset) => new Applied(1, apply(envelope, inOffset).written);
        return engine;
      },
    };
    const successor = new MatcherProcess(log, { files, engines: spoilt });
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(successor.run()).rejects.toMatchObject({ code: 'chain_mismatch' });
    }
    await successor.run();
    expect(successor.owned.status()).toMatchObject({ state: 'live', chain, snapshotOffset: 0 });
  });

  test('a process whose replays differ renames no snapshot, and the one that replaces it starts from the newest', async () => {
    const { log, files, chain } = await livedThrough();
    const [newest = ''] = paths(files);
    const before = files.names(snapshotFolder).sort();
    const wrong = {
      ...engines,
      restore: (state: Buffer) => {
        const engine = engines.restore(state);
        engine.apply = () => engine.reject('UNKNOWN');
        return engine;
      },
    };
    const process = new MatcherProcess(log, { files, engines: wrong });
    for (let tries = 0; tries < 2; tries += 1)
      await expect(process.restore()).rejects.toMatchObject({ code: 'chain_mismatch' });
    expect(process.badSnapshots).toHaveLength(2);
    expect(files.names(snapshotFolder).sort()).toEqual(before);
    const next = new MatcherProcess(log, { files });
    await next.restore();
    const snapshotOffset = Number.parseInt(newest.split('/').at(-1) ?? '', 10);
    expect(next.owned.status()).toMatchObject({ state: 'live', chain, snapshotOffset });
  });

  test('a replay that is verified names the first record that differs', async () => {
    const { log } = await livedThrough();
    flipAt(log, 33, 48);
    const successor = new MatcherProcess(log, { verifyReplay: true });
    await expect(successor.run()).rejects.toMatchObject({
      code: 'replay_differs',
      facts: { inOffset: 33, how: 'other bytes' },
    });
  });

  test('a verified replay skips copies and also starts from a snapshot', async () => {
    const { log, files, chain } = await livedThrough();
    for (const { value } of log.records(topicNames.executions).slice(50, 60)) {
      log.append(topicNames.executions, value);
    }
    log.append(topicNames.executions, log.records(topicNames.executions)[count - 1]?.value ?? null);
    const successor = new MatcherProcess(log, { files, verifyReplay: true });
    await successor.run();
    expect(successor.owned.status().chain).toBe(chain);
  });

  /** The log without the output of input 40, and with copies of the two before it. */
  async function withoutOutput(copies: number): Promise<MemoryLog> {
    const { log } = await livedThrough();
    const values = log.records(topicNames.executions).map(({ value }) => value);
    log.truncateFrom(topicNames.executions, 0);
    const before = [...values.slice(0, 40), ...values.slice(40 - copies, 40)];
    for (const value of [...before, ...values.slice(41)]) log.append(topicNames.executions, value);
    return log;
  }

  test('a missing output stops the partition by the offset of the last one', async () => {
    const log = await withoutOutput(0);
    await expect(new MatcherProcess(log).run()).rejects.toMatchObject({
      code: 'execution_gap',
      reaction: 'release',
      facts: { missing: 1, inOffset: count - 1 },
    });
  });

  test('a missing output that copies make up for is found by a verified replay', async () => {
    const log = await withoutOutput(2);
    const successor = new MatcherProcess(log, { verifyReplay: true });
    await expect(successor.run()).rejects.toMatchObject({
      code: 'replay_differs',
      facts: { inOffset: 40, how: 'not stored' },
    });
  });

  test('without the start of the log, a restore needs a snapshot, or names the missing offset', async () => {
    const { log, files, chain } = await livedThrough();
    log.truncateBefore(topicNames.orders, 30);
    const bare = new MatcherProcess(log);
    await expect(bare.run()).rejects.toMatchObject({
      code: 'replay_out_of_range',
      reaction: 'release',
      facts: { missing: 0, low: 30 },
    });
    const successor = new MatcherProcess(log, { files });
    await successor.run();
    expect(successor.owned.status().chain).toBe(chain);
  });

  test('outputs ahead of the input stop the partition', async () => {
    const { log } = await livedThrough();
    log.truncateFrom(topicNames.orders, 70);
    await expect(new MatcherProcess(log).run()).rejects.toMatchObject({
      code: 'replay_out_of_range',
      facts: { missing: 70 },
    });
  });

  test('outputs that retention removed completely stop the partition', async () => {
    const { log } = await livedThrough();
    log.truncateBefore(topicNames.executions, count);
    await expect(new MatcherProcess(log).run()).rejects.toMatchObject({ code: 'tail_missing' });
  });

  test('outputs that cannot be read stop the partition', async () => {
    const { log } = await livedThrough();
    log.append(topicNames.executions, Buffer.from('garbage'));
    await expect(new MatcherProcess(log).run()).rejects.toMatchObject({
      code: 'execution_unreadable',
      facts: { offset: count },
    });
  });
});

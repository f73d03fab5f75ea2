import { registryHeaderBytes } from '@pm/schemas';
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
  return { log, files, chain: process.runner.status().chain };
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
    const heir = new MatcherProcess(log, { files });
    await heir.run();
    const newest = Number.parseInt(files.names(snapshotFolder).sort().at(-1) ?? '', 10);
    expect(heir.runner.status()).toMatchObject({ chain, snapshotOffset: newest });
    expect(readOutputs(log).copies).toBe(0);
  });

  test('an equal state: a snapshot of the heir has the same bytes', async () => {
    const { log, files } = await livedThrough();
    const heir = new MatcherProcess(log, { files: new MemoryFiles(), snapshotEveryRecords: 1e6 });
    await heir.run();
    const first = new MatcherProcess(log, { files });
    await first.run();
    const [a, b] = [heir.runner.status(), first.runner.status()];
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
  ])('a snapshot that is %s falls back to the older one, loudly', async (_, spoil) => {
    const { log, files, chain } = await livedThrough();
    const [newest = '', older = ''] = paths(files);
    files.contents.set(newest, spoil(files.contents.get(newest) ?? Buffer.alloc(0)));
    const heir = new MatcherProcess(log, { files, snapshotEveryRecords: 1e6 });
    await heir.run();
    expect(heir.badSnapshots).toHaveLength(1);
    expect(files.names(snapshotFolder).some((name) => name.endsWith('.bad'))).toBe(true);
    expect(heir.runner.status()).toMatchObject({
      chain,
      snapshotOffset: Number.parseInt(older.split('/').at(-1) ?? '', 10),
    });
  });

  test('any flipped bit in any snapshot is found; all bad means a full replay', async () => {
    const { log, files, chain } = await livedThrough();
    const whole = new Map(files.contents);
    const [newest = ''] = paths(files);
    const bytes = whole.get(newest) ?? Buffer.alloc(0);
    for (let round = 0; round < 60; round += 1) {
      const at = Math.floor((round / 60) * bytes.length);
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (round % 8));
      files.contents.clear();
      files.contents.set(newest, flipped);
      const heir = new MatcherProcess(log, { files, snapshotEveryRecords: 1e6 });
      await heir.restore();
      expect(heir.badSnapshots).toHaveLength(1);
      expect(heir.runner.status()).toMatchObject({ chain, snapshotOffset: 0 });
    }
  }, 30_000);

  test('a snapshot ahead of the stored outputs does not count, and what was lost is written again', async () => {
    const { log, files, chain } = await livedThrough();
    const lost = 25;
    log.truncateFrom(topicNames.executions, lost);
    const heir = new MatcherProcess(log, { files, snapshotEveryRecords: 1e6 });
    await heir.run();
    expect(heir.badSnapshots.length).toBeGreaterThan(0);
    expect(heir.runner.status().snapshotOffset).toBeLessThanOrEqual(lost);
    expect(heir.runner.status().chain).toBe(chain);
    expect(readOutputs(log)).toMatchObject({ copies: 0, executions: { length: count } });
  });

  test('a snapshot of another log is not used', async () => {
    const { files } = await livedThrough();
    const other = new MemoryLog();
    for (const value of [...openingRecords(), ...randomRecords(6, 78)]) {
      other.append(topicNames.orders, value);
    }
    await new MatcherProcess(other).run();
    const heir = new MatcherProcess(other, { files, snapshotEveryRecords: 1e6 });
    await heir.run();
    expect(heir.runner.status().snapshotOffset).toBe(0);
    expect(heir.badSnapshots.length).toBeGreaterThan(0);
  });

  test('a state of another version of the rules means an older start, not a stop', async () => {
    const { log, files, chain } = await livedThrough();
    const restore = () => {
      throw new Error('of another version');
    };
    const heir = new MatcherProcess(log, { files, engines: { ...engines, restore } });
    await heir.run();
    expect(heir.runner.status().chain).toBe(chain);
  });
});

describe('a log that does not fit', () => {
  test('a tampered tail hash stops the partition with both hashes', async () => {
    const { log, chain } = await livedThrough();
    flipAt(log, count - 1, registryHeaderBytes);
    const heir = new MatcherProcess(log);
    await expect(heir.run()).rejects.toMatchObject({
      code: 'chain_mismatch',
      reaction: 'release',
      facts: { inOffset: count - 1, computed: chain },
    });
    expect(heir.runner.status()).toMatchObject({ state: 'failed', fault: 'chain_mismatch' });
    expect(log.records(topicNames.executions)).toHaveLength(count);
  });

  test('when only the snapshot is wrong, the next try does without it', async () => {
    const { log, files, chain } = await livedThrough();
    const spoilt = {
      ...engines,
      restore: (state: Buffer) => {
        const engine = engines.restore(state);
        const apply = engine.apply.bind(engine);
        engine.apply = (envelope, inOffset) => ({ ...apply(envelope, inOffset), timeMs: 1 });
        return engine;
      },
    };
    const heir = new MatcherProcess(log, { files, engines: spoilt });
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(heir.run()).rejects.toMatchObject({ code: 'chain_mismatch' });
    }
    await heir.run();
    expect(heir.runner.status()).toMatchObject({ state: 'live', chain, snapshotOffset: 0 });
  });

  test('a replay that is verified names the first record that differs', async () => {
    const { log } = await livedThrough();
    flipAt(log, 33, 60);
    const heir = new MatcherProcess(log, { verifyReplay: true });
    await expect(heir.run()).rejects.toMatchObject({
      code: 'replay_differs',
      facts: { inOffset: 33, how: 'other bytes' },
    });
  });

  test('a verified replay passes copies by and runs from a snapshot too', async () => {
    const { log, files, chain } = await livedThrough();
    for (const { value } of log.records(topicNames.executions).slice(50, 60)) {
      log.append(topicNames.executions, value);
    }
    log.append(topicNames.executions, log.records(topicNames.executions)[count - 1]?.value ?? null);
    const heir = new MatcherProcess(log, { files, verifyReplay: true });
    await heir.run();
    expect(heir.runner.status().chain).toBe(chain);
  });

  test('a missing output is found by a verified replay', async () => {
    const { log } = await livedThrough();
    const values = log.records(topicNames.executions).map(({ value }) => value);
    log.truncateFrom(topicNames.executions, 0);
    for (const value of [...values.slice(0, 40), ...values.slice(41)]) {
      log.append(topicNames.executions, value);
    }
    const heir = new MatcherProcess(log, { verifyReplay: true });
    await expect(heir.run()).rejects.toMatchObject({
      code: 'replay_differs',
      facts: { inOffset: 40, how: 'not stored' },
    });
  });

  test('retention took the start: no snapshot, no restore, and the missing offset is named', async () => {
    const { log, files, chain } = await livedThrough();
    log.truncateBefore(topicNames.orders, 30);
    const bare = new MatcherProcess(log);
    await expect(bare.run()).rejects.toMatchObject({
      code: 'replay_out_of_range',
      reaction: 'release',
      facts: { missing: 0, low: 30 },
    });
    const heir = new MatcherProcess(log, { files });
    await heir.run();
    expect(heir.runner.status().chain).toBe(chain);
  });

  test('outputs ahead of the input stop the partition', async () => {
    const { log } = await livedThrough();
    log.truncateFrom(topicNames.orders, 70);
    await expect(new MatcherProcess(log).run()).rejects.toMatchObject({
      code: 'replay_out_of_range',
      facts: { missing: 70 },
    });
  });

  test('outputs that retention took whole stop the partition', async () => {
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

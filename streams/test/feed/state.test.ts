import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@pm/kit/log';
import { runLength } from '../../../kit/test/long-runs.ts';
import { tightLimits } from '../../../matcher/test/core/random-log.ts';
import { PartitionFeed } from '../../src/feed/partition-feed.ts';
import { StateFiles, statesKept } from '../../src/feed/state-files.io.ts';
import { changeText, ordersOf } from './change-text.ts';
import { engineLog, logPartition, storedOffset } from './engine-log.ts';

const records = runLength({ test: 250, deep: 1_500 });
/** The longest test has ten restarts. */
const recordsPerLife = Math.max(1, Math.floor(records / 10));

let directory = '';
let lines: string[] = [];
const log = {
  ...silentLog,
  error: (facts: object) => {
    lines.push('reason' in facts ? String(facts.reason) : 'error');
  },
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pm-feed-'));
  lines = [];
});

afterEach(() => rm(directory, { recursive: true, force: true }));

function folded(seed: number, count: number): PartitionFeed {
  const feed = new PartitionFeed(logPartition);
  for (const execution of engineLog(seed, count))
    feed.take(execution, storedOffset(execution.inOffset));
  return feed;
}

async function newest(files: StateFiles): Promise<PartitionFeed | null> {
  for await (const feed of files.newestFirst(logPartition)) return feed;
  return null;
}

/** The only file, or the newest of several. */
async function newestPath(): Promise<string> {
  const folder = join(directory, `p${logPartition}`);
  const names = await readdir(folder);
  const [name = ''] = names.sort(
    (one, other) => Number.parseInt(other, 10) - Number.parseInt(one, 10),
  );
  return join(folder, name);
}

describe('the state of a feed', () => {
  /** Two states of one log, the older first. */
  const folds = [100, 200].map((count) => folded(15, count));

  it.each([
    [11, undefined],
    [12, tightLimits],
  ])(
    'goes on after a restart as if it had never stopped, seed %d, limits %j',
    async (seed, limits) => {
      const files = new StateFiles(directory, log);
      const whole = new PartitionFeed(logPartition);
      let stopped = new PartitionFeed(logPartition);
      for (const execution of engineLog(seed, records, limits)) {
        const offset = storedOffset(execution.inOffset);
        const expected = JSON.stringify(whole.take(execution, offset).map(changeText));
        expect(JSON.stringify(stopped.take(execution, offset).map(changeText))).toBe(expected);
        if (execution.inOffset % recordsPerLife !== recordsPerLife - 1) continue;
        expect(await files.save(stopped)).toBe(true);
        const restored = await newest(files);
        expect(restored?.progress).toEqual(stopped.progress);
        expect(restored?.counts).toEqual(whole.counts);
        stopped = restored ?? stopped;
      }
      for (const market of whole.markets()) {
        expect(stopped.snapshot('book', market)).toEqual(whole.snapshot('book', market));
        expect(ordersOf(stopped.snapshot('orders', market))).toEqual(
          ordersOf(whole.snapshot('orders', market)),
        );
        expect(stopped.market(market)?.index.cells()).toEqual(whole.market(market)?.index.cells());
      }
      expect(lines).toEqual([]);
    },
  );

  it('is the one of the moment of saving, however far the fold goes meanwhile', async () => {
    const files = new StateFiles(directory, log);
    const feed = new PartitionFeed(logPartition);
    let saving: Promise<boolean> | null = null;
    const half = Math.floor(records / 2);
    for (const execution of engineLog(13, records)) {
      feed.take(execution, execution.inOffset);
      if (execution.inOffset === half - 1) saving = files.save(feed);
      if (execution.inOffset === Math.floor(half * 1.5)) await saving;
    }
    expect(await saving).toBe(true);
    const saved = await newest(files);
    const expected = folded(13, half);
    expect(saved?.counts).toEqual(expected.counts);
    for (const market of expected.markets()) {
      const [shown, orders] = [saved?.snapshot('book', market), saved?.snapshot('orders', market)];
      expect(shown).toEqual(expected.snapshot('book', market));
      expect(ordersOf(orders)).toEqual(ordersOf(expected.snapshot('orders', market)));
    }
  });

  it('keeps the two newest files and removes what a killed process left', async () => {
    const files = new StateFiles(directory, log);
    for (const count of [100, 200, 300]) await files.save(folded(14, count));
    const folder = join(directory, `p${logPartition}`);
    await writeFile(join(folder, '400.feed.1-1.tmp'), 'unfinished');
    expect((await newest(files))?.progress.inOffset).toBe(299);
    expect((await readdir(folder)).sort()).toEqual(['200.feed', '300.feed']);
    expect(statesKept).toBe(2);
  });

  it.each([
    [
      'a changed byte in the memory',
      (bytes: Buffer) => flipped(bytes, bytes.length - 1_000),
      'damaged',
    ],
    ['a changed byte in the head', (bytes: Buffer) => flipped(bytes, 40), 'damaged'],
    ['a changed hash', (bytes: Buffer) => flipped(bytes, bytes.length - 1), 'damaged'],
    ['a lost end', (bytes: Buffer) => bytes.subarray(0, -5), 'of another length'],
    [
      'an appended byte',
      (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(1)]),
      'of another length',
    ],
    ['no bytes', () => Buffer.alloc(0), 'shorter than its head'],
    ['another version', (bytes: Buffer) => flipped(bytes, 11), 'of another version'],
    ['another kind of file', (bytes: Buffer) => flipped(bytes, 0), 'not a state'],
  ])('is not used with %s: the one before it is', async (_, damage, reason) => {
    const files = new StateFiles(directory, log);
    for (const feed of folds) await files.save(feed);
    const path = await newestPath();
    await writeFile(path, damage(await readFile(path)));
    expect((await newest(files))?.progress.inOffset).toBe(99);
    expect(lines).toEqual([reason]);
  });

  it('is not used under the name of another offset or partition', async () => {
    const files = new StateFiles(directory, log);
    await files.save(folded(16, 100));
    const bytes = await readFile(await newestPath());
    await writeFile(join(directory, `p${logPartition}`, '101.feed'), bytes);
    expect((await newest(files))?.progress.inOffset).toBe(99);
    expect(lines).toEqual(['of another offset than its name']);
  });

  it('reports a folder that cannot be written and goes on', async () => {
    await writeFile(join(directory, 'file'), '');
    const files = new StateFiles(join(directory, 'file'), log);
    const feed = folded(17, 50);
    expect(await files.save(feed)).toBe(false);
    expect(await files.save(feed)).toBe(false);
    expect(lines).toEqual(['error', 'error']);
  });
});

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
}

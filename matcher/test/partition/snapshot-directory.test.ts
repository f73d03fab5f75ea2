import * as disk from 'node:fs/promises';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '@pm/kit/fault';
import { silentLog } from '@pm/kit/log';
import type { FolderFiles } from '@pm/kit/objects';
import { SnapshotDirectory } from '../../src/partition/snapshot-directory.io.ts';
import { decodeImage, encodeImage, type Snapshot } from '../../src/partition/snapshot-image.ts';
import { snapshotsKept } from '../../src/partition/snapshot-names.ts';
import { hashOf } from '../../src/partition/state-hash.ts';
import { fileSteps, MemoryFiles } from './memory-files.ts';

const partition = 5;

function snapshotOf(nextOffset: number, stateBytes = 200): Snapshot {
  const state = Buffer.alloc(stateBytes, nextOffset % 251);
  const chain = Buffer.alloc(32, nextOffset % 7);
  const checkpoint = nextOffset % 2 === 0 ? null : Buffer.alloc(32, 3);
  return { partition, nextOffset, chain, state, stateHash: hashOf(state), checkpoint };
}

function openStore(files: FolderFiles, directory = '/snapshots') {
  const bad: number[] = [];
  const failures: number[] = [];
  const store = new SnapshotDirectory({
    directory,
    files,
    log: silentLog,
    onBad: (one) => bad.push(one),
    onWriteFailure: (one) => failures.push(one),
  });
  return { store, bad, failures };
}

async function offsetsIn(store: SnapshotDirectory): Promise<readonly number[]> {
  const offsets: number[] = [];
  for await (const { nextOffset } of await store.newestFirst(partition)) offsets.push(nextOffset);
  return offsets;
}

describe('snapshot directory', () => {
  test('returns saved snapshots, the newest first, and keeps three', async () => {
    const { store } = openStore(new MemoryFiles());
    for (const nextOffset of [9, 100, 20, 1_000_000_000_000])
      await store.save(snapshotOf(nextOffset));
    expect(await offsetsIn(store)).toEqual([1_000_000_000_000, 100, 20]);
    for await (const snapshot of await store.newestFirst(partition)) {
      expect(snapshot).toEqual(snapshotOf(snapshot.nextOffset));
    }
    expect(snapshotsKept).toBe(3);
  });

  test('on a disk that hangs are counted and not used, and their files stay as they are', async () => {
    const disk = new MemoryFiles();
    const late = new Fault('file_late', 'retry');
    await openStore(disk).store.save(snapshotOf(7));
    const { readFile } = disk;
    disk.readFile = async () => {
      throw late;
    };
    const unread = openStore(disk);
    expect([await offsetsIn(unread.store), unread.bad]).toEqual([[], [partition]]);
    disk.readFile = readFile;
    const { readdir } = disk;
    disk.readdir = async () => {
      throw late;
    };
    const unlisted = openStore(disk);
    expect([await offsetsIn(unlisted.store), unlisted.bad]).toEqual([[], [partition]]);
    disk.readdir = readdir;
    expect(await offsetsIn(openStore(disk).store)).toEqual([7]);
  });

  test('works on a real disk and leaves nothing unfinished', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'pm-snapshots-'));
    try {
      const { store, failures } = openStore(disk, directory);
      for (const nextOffset of [1, 2, 3, 4]) await store.save(snapshotOf(nextOffset, 3_000_000));
      expect(failures).toEqual([]);
      expect((await readdir(join(directory, `p${partition}`))).sort()).toEqual(
        [2, 3, 4].map((nextOffset) => `${nextOffset}.snapshot`),
      );
      expect(await offsetsIn(store)).toEqual([4, 3, 2]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test('a missing folder has no snapshots', async () => {
    expect(await offsetsIn(openStore(disk, '/nowhere/at/all').store)).toEqual([]);
  });

  test.each(fileSteps)(
    'a disk that fails at %s is counted, and the older ones stay',
    async (step) => {
      const files = new MemoryFiles();
      const { store, failures } = openStore(files);
      await store.save(snapshotOf(7));
      files.before = (now) => {
        if (now === step) throw new Error('ENOSPC');
      };
      expect(await store.save(snapshotOf(8))).toBe(false);
      expect(failures).toEqual([partition]);
      files.before = () => {};
      expect(files.names(`/snapshots/p${partition}`).some((name) => name.endsWith('.tmp'))).toBe(
        false,
      );
      expect(await offsetsIn(store)).toContain(7);
    },
  );

  test('never gives a file its name before all of it is on the disk', async () => {
    const files = new MemoryFiles();
    const steps: string[] = [];
    files.before = (step) => steps.push(step);
    await openStore(files).store.save(snapshotOf(7));
    const kinds = steps.filter((step, at) => step !== steps[at - 1]);
    expect(kinds).toEqual(['mkdir', 'open', 'write', 'sync', 'rename', 'sync_folder']);
  });

  test('unfinished files of a killed process are removed when the partition is restored', async () => {
    const files = new MemoryFiles();
    const path = `/snapshots/p${partition}/9.snapshot.77-1.tmp`;
    files.contents.set(path, Buffer.from('half'));
    expect(await offsetsIn(openStore(files).store)).toEqual([]);
    expect(files.contents.has(path)).toBe(false);
  });

  test('a file whose name has another offset than its content is renamed', async () => {
    const files = new MemoryFiles();
    const { store, bad } = openStore(files);
    await store.save(snapshotOf(7));
    const folder = `/snapshots/p${partition}`;
    const bytes = files.contents.get(`${folder}/7.snapshot`) ?? Buffer.alloc(0);
    files.contents.set(`${folder}/8.snapshot`, bytes);
    expect(await offsetsIn(store)).toEqual([7]);
    expect(bad).toEqual([partition]);
    expect(files.names(folder)).toContain('8.snapshot.bad');
  });
});

describe('snapshot image', () => {
  test('2,000 random flips and cuts: each is refused', () => {
    const snapshot = snapshotOf(123_457);
    const whole = Buffer.concat([...encodeImage(snapshot)]);
    expect(decodeImage(whole, snapshot)).toEqual(snapshot);
    let seed = 99;
    const roll = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    for (let round = 0; round < 2_000; round += 1) {
      const copy = Buffer.from(whole);
      const at = roll(copy.length);
      copy[at] = (copy[at] ?? 0) ^ (1 << roll(8));
      const spoilt = round % 4 === 0 ? whole.subarray(0, at) : copy;
      expect(typeof decodeImage(spoilt, snapshot)).toBe('string');
    }
  });

  test('one of the first version is read, and refused when a bit of it is flipped', () => {
    const { stateHash, ...snapshot } = snapshotOf(77);
    const { chain, state } = snapshot;
    const head = Buffer.alloc(64);
    head.write('PMSNAPSH', 'latin1');
    head.writeUInt32BE(1, 8);
    head.writeUInt32BE(partition, 12);
    head.writeBigUInt64BE(77n, 16);
    chain.copy(head, 24);
    head.writeBigUInt64BE(BigInt(state.length), 56);
    const whole = Buffer.concat([head, hashOf(Buffer.concat([head, state])), state]);
    expect(decodeImage(whole, snapshot)).toEqual({ ...snapshot, stateHash, checkpoint: null });
    for (let at = 0; at < whole.length; at += 1) {
      const copy = Buffer.from(whole);
      copy[at] = (copy[at] as number) ^ 1;
      expect(typeof decodeImage(copy, snapshot)).toBe('string');
    }
  });
});

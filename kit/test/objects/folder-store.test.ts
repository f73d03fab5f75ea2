import * as files from 'node:fs/promises';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FolderFiles, FolderStore, openObjectStore } from '../../src/objects/index.ts';
import { describeStore } from './store-suite.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pm-store-'));
});
afterAll(() => rm(folder, { recursive: true }));

describeStore('folder', {
  open: () => openObjectStore({ kind: 'folder', folder: join(folder, 'objects') }),
});

describe('folder', () => {
  test('never shows a file that is still being written, and removes what a killed writer left', async () => {
    const store = new FolderStore(join(folder, 'unfinished'), files);
    await store.put('p1/7.snapshot', [Buffer.from('whole')]);
    await writeFile(join(folder, 'unfinished/p1/8.snapshot.99-1.tmp'), 'half');
    expect(await store.list('p1/')).toEqual(['p1/7.snapshot']);
    await store.dropUnfinished('p1/');
    expect(await readdir(join(folder, 'unfinished/p1'))).toEqual(['7.snapshot']);
  });

  test('says what failed, and keeps the object that was there', async () => {
    const store = new FolderStore(join(folder, 'failing'), files);
    await store.put('p1/7.snapshot', [Buffer.from('before')]);
    const full: FolderFiles = {
      ...files,
      open: async () => {
        throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      },
    };
    const failing = new FolderStore(join(folder, 'failing'), full);
    await expect(failing.put('p1/7.snapshot', [Buffer.from('after')])).rejects.toMatchObject({
      code: 'store_failed',
      reaction: 'retry',
      facts: { call: 'put', reason: 'ENOSPC' },
    });
    expect((await store.get('p1/7.snapshot'))?.toString()).toBe('before');
  });
});

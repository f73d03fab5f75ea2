import { BoundedFiles, isLateFile } from '../../src/partition/bounded-files.io.ts';
import { MemoryFiles } from './memory-files.ts';

const limits = { callsMax: 2, callMs: 1_000, readMs: 3_000 };

/** A disk on which some paths hang until the test lets go. */
class HangingFiles extends MemoryFiles {
  readonly hung: (() => void)[] = [];
  calls = 0;

  override async readFile(path: string): Promise<Buffer> {
    this.calls += 1;
    if (!path.startsWith('/hung')) return Buffer.from(path);
    await new Promise<void>((resolve) => this.hung.push(resolve));
    return Buffer.from('late');
  }
}

const isLate = (reading: Promise<unknown>): Promise<boolean> =>
  reading.then(() => false, isLateFile);

describe('files of a disk that hangs', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  test('are given up after their time', async () => {
    const disk = new HangingFiles();
    const late = isLate(new BoundedFiles(disk, limits).readFile('/hung/1'));
    await jest.advanceTimersByTimeAsync(3_000);
    expect(await late).toBe(true);
  });

  test('never have more calls under way than their limit, however many are asked for', async () => {
    const disk = new HangingFiles();
    const files = new BoundedFiles(disk, limits);
    for (let round = 0; round < 5; round += 1) {
      const reads = [1, 2, 3].map((one) => isLate(files.readFile(`/hung/${one}`)));
      await jest.advanceTimersByTimeAsync(3_000);
      expect(await Promise.all(reads)).toEqual([true, true, true]);
    }
    expect(disk.calls).toBe(2);
    for (const goOn of disk.hung) goOn();
    await jest.advanceTimersByTimeAsync(0);
    expect((await files.readFile('/sound')).toString()).toBe('/sound');
  });

  test('that are slow let the next call in when they end', async () => {
    const disk = new HangingFiles();
    const files = new BoundedFiles(disk, limits);
    const slow = [files.readFile('/hung/1'), files.readFile('/hung/2')];
    const next = files.readFile('/sound');
    await jest.advanceTimersByTimeAsync(900);
    for (const goOn of disk.hung) goOn();
    await Promise.all(slow);
    expect((await next).toString()).toBe('/sound');
  });
});

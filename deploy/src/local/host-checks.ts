import { mkdir, statfs } from 'node:fs/promises';
import { mebibyte } from './managed-process.ts';
import { StackError } from './stack-error.ts';

/** Kafka and ClickHouse fail in unclear ways on a full disk. */
export const defaultMinFreeBytes = 1024 * mebibyte;

/**
 * @throws StackError DISK_NEARLY_FULL when the folder's disk has less than `minFreeBytes` for this
 * user.
 */
export async function requireDiskSpace(folder: string, minFreeBytes: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const disk = await statfs(folder);
  const freeBytes = disk.bavail * disk.bsize;
  if (freeBytes >= minFreeBytes) return;
  const mebibytes = (bytes: number): string => `${Math.floor(bytes / mebibyte)} MiB`;
  throw new StackError(
    'DISK_NEARLY_FULL',
    `the disk of ${folder} has ${mebibytes(freeBytes)} left, ${mebibytes(minFreeBytes)} are needed. ` +
      'Make room, or choose a data folder on another disk',
  );
}

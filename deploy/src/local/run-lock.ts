import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startMarkOf } from './process-table.ts';
import { StackError, systemCodeOf } from './stack-error.ts';

/** Holder of a data folder. */
interface Holder {
  readonly pid: number;
  readonly startMark: string;
}

/** Proof that this process alone works on a data folder. */
export interface RunLock {
  release(): void;
}

/**
 * Locks a data folder for this process. A lock whose holder is gone is taken over.
 *
 * @throws StackError DATA_FOLDER_LOCKED with the holder's number.
 */
export function lockDataFolder(dataDir: string): Promise<RunLock> {
  return lockFolder({
    folder: dataDir,
    file: 'stack.lock',
    busy: (pid) => lockedBy(dataDir, pid),
  });
}

/** Locks any folder by a file in it; creates it when missing. Throws `busy` while another process holds the lock. */
export async function lockFolder({
  folder,
  file: name,
  busy,
}: {
  readonly folder: string;
  readonly file: string;
  busy(pid: number | undefined): Error;
}): Promise<RunLock> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, name);
  const own = JSON.stringify({ pid: process.pid, startMark: startMarkOf(process.pid) ?? '' });
  // Two attempts: the first may find a dead lock and remove it.
  for (let attempt = 0; attempt < 2; attempt += 1) {
    if (create(file, own)) return { release: () => releaseLock(file, own) };
    const holder = readHolder(file);
    if (holder !== undefined && startMarkOf(holder.pid) === holder.startMark) {
      throw busy(holder.pid);
    }
    rmSync(file, { force: true });
  }
  throw busy(readHolder(file)?.pid);
}

function create(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(file: string): Holder | undefined {
  try {
    const holder: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof holder !== 'object' || holder === null) return undefined;
    const { pid, startMark } = holder as Partial<Holder>;
    return typeof pid === 'number' && typeof startMark === 'string'
      ? { pid, startMark }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Only the own lock: after a take-over the file belongs to another process. */
function releaseLock(file: string, own: string): void {
  try {
    if (readFileSync(file, 'utf8') === own) rmSync(file, { force: true });
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

function lockedBy(dataDir: string, pid: number | undefined): StackError {
  return new StackError(
    'DATA_FOLDER_LOCKED',
    `another stack${pid === undefined ? '' : ` (process ${pid})`} works on ${dataDir}. ` +
      'Stop it first (`npm run stack -- down`), or choose another data folder',
  );
}

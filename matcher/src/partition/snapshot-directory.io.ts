import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@pm/kit/log';
import { decodeImage, encodeImage, type Snapshot } from './snapshot-image.ts';

/** The part of `node:fs/promises` that is used; tests have a disk that fails. */
export interface SnapshotFiles {
  mkdir(path: string, options: { recursive: true }): Promise<unknown>;
  open(path: string, flags: string): Promise<Pick<FileHandle, 'write' | 'sync' | 'close'>>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { force: true }): Promise<void>;
  readdir(path: string): Promise<string[]>;
  readFile(path: string): Promise<Buffer>;
}

interface SnapshotDirectoryOptions {
  readonly directory: string;
  readonly files: SnapshotFiles;
  readonly log: Log;
  /** A snapshot that cannot be trusted was skipped. */
  onBad(partition: number): void;
  /** A snapshot could not be written. */
  onWriteFailure(partition: number): void;
}

/** Files kept per partition. */
export const snapshotsKept = 3;

const finishedName = /^(\d{1,16})\.snapshot$/;
const suffix = '.snapshot';
const unfinishedSuffix = '.tmp';
const badSuffix = '.bad';

/**
 * Snapshots as files, `<directory>/p<partition>/<nextOffset>.snapshot`. A file has its name only once all its bytes are
 * on the disk: temporary name, fsync, rename, fsync of the folder. The log stays the only truth: failures here are
 * counted and logged, and never stop matching.
 */
export class SnapshotDirectory {
  readonly #options: SnapshotDirectoryOptions;
  #temporaries = 0;

  constructor(options: SnapshotDirectoryOptions) {
    this.#options = options;
  }

  /** Writes a snapshot and removes the oldest beyond `snapshotsKept`. False when it was not written. Never rejects. */
  async save(snapshot: Snapshot): Promise<boolean> {
    const { partition, nextOffset } = snapshot;
    try {
      await this.#write(snapshot);
      await this.#dropOld(partition);
      return true;
    } catch (error) {
      this.#options.onWriteFailure(partition);
      this.#options.log.error({ partition, nextOffset, err: error }, 'a snapshot was not written');
      return false;
    }
  }

  /** Sound snapshots, the newest first; a damaged one is renamed, counted and logged. */
  async *newestFirst(partition: number): AsyncGenerator<Snapshot> {
    await this.#dropUnfinished(partition);
    for (const nextOffset of await this.#offsets(partition)) {
      const found = await this.#read(partition, nextOffset);
      if (typeof found !== 'string') yield found;
      else await this.quarantine(partition, nextOffset, found);
    }
  }

  /** Renames a snapshot that is damaged or differs from the log, so that it is not used again. */
  async quarantine(partition: number, nextOffset: number, reason: string): Promise<void> {
    const path = this.#path(partition, nextOffset);
    this.#options.onBad(partition);
    this.#options.log.error({ partition, nextOffset, reason }, 'a snapshot is not used');
    await this.#options.files.rename(path, path + badSuffix).catch(() => {});
  }

  async #write(snapshot: Snapshot): Promise<void> {
    const { files } = this.#options;
    const folder = this.#folder(snapshot.partition);
    const path = this.#path(snapshot.partition, snapshot.nextOffset);
    this.#temporaries += 1;
    const temporary = `${path}.${process.pid}-${this.#temporaries}${unfinishedSuffix}`;
    await files.mkdir(folder, { recursive: true });
    try {
      await this.#writeThrough(temporary, encodeImage(snapshot));
      await files.rename(temporary, path);
      await this.#syncFolder(folder);
    } catch (error) {
      await files.rm(temporary, { force: true }).catch(() => {});
      throw error;
    }
  }

  async #writeThrough(path: string, parts: readonly Buffer[]): Promise<void> {
    const file = await this.#options.files.open(path, 'w');
    try {
      for (const part of parts) {
        for (let done = 0; done < part.length; ) {
          done += (await file.write(part, done)).bytesWritten;
        }
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #syncFolder(folder: string): Promise<void> {
    const handle = await this.#options.files.open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  async #read(partition: number, nextOffset: number): Promise<Snapshot | string> {
    try {
      const bytes = await this.#options.files.readFile(this.#path(partition, nextOffset));
      return decodeImage(bytes, { partition, nextOffset });
    } catch (error) {
      return `unreadable: ${error instanceof Error ? error.message : 'unknown'}`;
    }
  }

  async #dropOld(partition: number): Promise<void> {
    const tooOld = (await this.#offsets(partition)).slice(snapshotsKept);
    for (const nextOffset of tooOld) {
      await this.#options.files.rm(this.#path(partition, nextOffset), { force: true });
    }
  }

  /** Removes unfinished files of a killed process. If its writer still runs, its rename fails and is counted there. */
  async #dropUnfinished(partition: number): Promise<void> {
    const folder = this.#folder(partition);
    for (const name of await this.#names(partition)) {
      if (!name.endsWith(unfinishedSuffix)) continue;
      await this.#options.files.rm(join(folder, name), { force: true }).catch(() => {});
    }
  }

  /** Offsets of the finished files, the newest first. */
  async #offsets(partition: number): Promise<readonly number[]> {
    const names = await this.#names(partition);
    const offsets = names.flatMap((name) => {
      const [, digits] = finishedName.exec(name) ?? [];
      return digits === undefined ? [] : [Number(digits)];
    });
    return offsets.sort((a, b) => b - a);
  }

  async #names(partition: number): Promise<readonly string[]> {
    return this.#options.files.readdir(this.#folder(partition)).catch(() => []);
  }

  #folder(partition: number): string {
    return join(this.#options.directory, `p${partition}`);
  }

  #path(partition: number, nextOffset: number): string {
    return join(this.#folder(partition), nextOffset + suffix);
  }
}

import type { Log } from '@pm/kit/log';
import { type FolderFiles, FolderStore } from '@pm/kit/objects';
import { isLateFile } from './bounded-files.io.ts';
import type { SnapshotCopies } from './snapshot-copies.io.ts';
import { decodeImage, encodeImage, type Snapshot } from './snapshot-image.ts';
import { offsetsOf, snapshotName, snapshotsKept } from './snapshot-names.ts';

interface SnapshotDirectoryOptions {
  readonly directory: string;
  readonly files: FolderFiles;
  /** Copies in a store, for machines that do not have this folder; without one a lost disk is replayed from the log. */
  readonly copies?: SnapshotCopies;
  readonly log: Log;
  /** A snapshot that cannot be trusted was skipped. */
  onBad(partition: number): void;
  /** A snapshot could not be written. */
  onWriteFailure(partition: number): void;
}

const badSuffix = '.bad';

/** A snapshot that may exist, in the folder of this machine or in the store. */
interface Place {
  readonly nextOffset: number;
  readonly isCopy: boolean;
}

/**
 * Snapshots as files, `<directory>/p<partition>/<nextOffset>.snapshot`, each whole or absent. The log stays the only
 * truth: failures here are counted and logged, and never stop matching.
 */
export class SnapshotDirectory {
  readonly #options: SnapshotDirectoryOptions;
  readonly #store: FolderStore;
  /** Names of snapshots that this process does not use again. */
  readonly #passed = new Set<string>();

  constructor(options: SnapshotDirectoryOptions) {
    this.#options = options;
    this.#store = new FolderStore(options.directory, options.files);
  }

  /**
   * Writes a snapshot and removes the oldest beyond `snapshotsKept`; a copy that is due begins and is not waited for.
   * False when the snapshot was not written. Never rejects.
   */
  async save(snapshot: Snapshot): Promise<boolean> {
    const { partition, nextOffset } = snapshot;
    this.#options.copies?.copyIfDue(snapshot);
    this.#passed.delete(snapshotName(partition, nextOffset));
    try {
      await this.#store.put(snapshotName(partition, nextOffset), encodeImage(snapshot));
      await this.#dropOld(partition);
      return true;
    } catch (error) {
      this.#options.onWriteFailure(partition);
      this.#options.log.error({ partition, nextOffset, err: error }, 'a snapshot was not written');
      return false;
    }
  }

  /**
   * Sound snapshots among those that are there now, the newest first, those of the store included; a damaged file is
   * renamed, counted and logged, and so is a damaged copy, which stays as it is.
   */
  async newestFirst(partition: number): Promise<AsyncGenerator<Snapshot>> {
    await this.#store.dropUnfinished(folderOf(partition));
    return this.#readEach(partition, await this.#places(partition));
  }

  async *#readEach(partition: number, places: readonly Place[]): AsyncGenerator<Snapshot> {
    for (const place of places) {
      const found = await this.#read(partition, place);
      if (found === null) continue;
      if (typeof found !== 'string') yield found;
      else if (place.isCopy) this.#refuseCopy(partition, place.nextOffset, found);
      else await this.#setAside(partition, place.nextOffset, found);
    }
  }

  /**
   * The offset after the newest snapshot in the folder, whoever wrote it; 0 without one. Copies do not count, nor do
   * those that were passed over.
   */
  async newestOffset(partition: number): Promise<number> {
    return (await this.#usable(partition))[0] ?? 0;
  }

  /**
   * This process does not use the snapshot again, nor its copy. The file stays: when a sound one does not fit the log,
   * the process may be the wrong one, and the one that replaces it needs the file.
   */
  passOver(partition: number, nextOffset: number, reason: string): void {
    this.#options.copies?.refuse(partition, nextOffset);
    this.#passed.add(snapshotName(partition, nextOffset));
    this.#report(partition, nextOffset, reason);
  }

  /** Renames a damaged file, so that no process reads it again. */
  async #setAside(partition: number, nextOffset: number, reason: string): Promise<void> {
    const path = this.#store.pathOf(snapshotName(partition, nextOffset));
    this.#report(partition, nextOffset, reason);
    await this.#options.files.rename(path, path + badSuffix).catch(() => {});
  }

  #refuseCopy(partition: number, nextOffset: number, reason: string): void {
    this.#options.copies?.refuse(partition, nextOffset);
    this.#report(partition, nextOffset, `its copy is ${reason}`);
  }

  #report(partition: number, nextOffset: number, reason: string): void {
    this.#options.onBad(partition);
    this.#options.log.error({ partition, nextOffset, reason }, 'a snapshot is not used');
  }

  /** A snapshot, or why it cannot be used; null when another process has removed it meanwhile. */
  async #read(partition: number, { nextOffset, isCopy }: Place): Promise<Snapshot | string | null> {
    const { copies } = this.#options;
    if (isCopy) return (await copies?.read(partition, nextOffset)) ?? null;
    try {
      const bytes = await this.#store.get(snapshotName(partition, nextOffset));
      return bytes === null ? null : decodeImage(bytes, { partition, nextOffset });
    } catch (error) {
      const reason = `unreadable: ${error instanceof Error ? error.message : 'unknown'}`;
      // The disk hangs, and the file may be sound.
      if (!isLateFile(error)) return reason;
      this.#report(partition, nextOffset, reason);
      return null;
    }
  }

  async #dropOld(partition: number): Promise<void> {
    const oldest = (await this.#usable(partition))[snapshotsKept - 1];
    if (oldest === undefined) return;
    for (const nextOffset of await this.#offsets(partition))
      if (nextOffset < oldest) await this.#store.delete(snapshotName(partition, nextOffset));
  }

  /**
   * Snapshots on this machine and copies of them, the newest first; for one offset the file of this machine before the
   * copy.
   */
  async #places(partition: number): Promise<readonly Place[]> {
    const copied = (await this.#options.copies?.offsets(partition)) ?? [];
    const places = [
      ...(await this.#usable(partition)).map((nextOffset) => ({ nextOffset, isCopy: false })),
      ...copied.map((nextOffset) => ({ nextOffset, isCopy: true })),
    ];
    return places.sort(
      (a, b) => b.nextOffset - a.nextOffset || Number(a.isCopy) - Number(b.isCopy),
    );
  }

  /** Offsets of the files that were not passed over, the newest first. */
  async #usable(partition: number): Promise<readonly number[]> {
    const offsets = await this.#offsets(partition);
    return offsets.filter((one) => !this.#passed.has(snapshotName(partition, one)));
  }

  /** Offsets of the files, the newest first. */
  async #offsets(partition: number): Promise<readonly number[]> {
    const names = await this.#store.list(folderOf(partition)).catch((error: unknown) => {
      this.#options.onBad(partition);
      this.#options.log.error({ partition, err: error }, 'snapshots could not be listed');
      return [];
    });
    return offsetsOf(names);
  }
}

const folderOf = (partition: number): string => `p${partition}/`;

import type { SealedObjects } from '@pm/domain/objects/sealed-objects.io';
import { Fault, within } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import { decodeImage, encodeImage, type Snapshot } from './snapshot-image.ts';
import { offsetsOf, snapshotName, snapshotsKept } from './snapshot-names.ts';

export interface SnapshotCopiesOptions {
  readonly objects: SealedObjects;
  /** Least time between two copies of a partition, milliseconds. */
  readonly everyMs: number;
  readonly log: Log;
  monotonicMs(): number;
  /** A copy could not be written, or the store could not be read. */
  onFailure(partition: number): void;
}

/** Folder of the store. */
const folder = 'snapshots';
/** A restore waits so long for the list of copies and then goes on without them, milliseconds. */
const listMs = 3_000;
/** And so long for a copy, milliseconds. */
const readMs = 60_000;

/**
 * Copies of snapshots in a store, `snapshots/p<partition>/<nextOffset>.snapshot`, for machines that have no snapshots
 * of a partition or only old ones. They carry the seal of the owners' key, so whoever may write to the store cannot
 * bring in a state. A copy is never renamed or removed because a matcher refuses it: the log of that matcher may be the
 * wrong one.
 */
export class SnapshotCopies {
  readonly #options: SnapshotCopiesOptions;
  readonly #copiedMs = new Map<number, number>();
  readonly #copying = new Set<number>();
  readonly #refused = new Set<string>();

  constructor(options: SnapshotCopiesOptions) {
    this.#options = options;
  }

  /** Begins a copy unless the last one is too new or still under way. */
  copyIfDue(snapshot: Snapshot): void {
    const { partition } = snapshot;
    const { everyMs, monotonicMs } = this.#options;
    const lastMs = this.#copiedMs.get(partition) ?? Number.NEGATIVE_INFINITY;
    if (this.#copying.has(partition) || monotonicMs() - lastMs < everyMs) return;
    this.#copying.add(partition);
    this.#copiedMs.set(partition, monotonicMs());
    void this.#copy(snapshot).finally(() => this.#copying.delete(partition));
  }

  /** Offsets of copies that were not refused, the newest first; none while the store cannot be read. Never rejects. */
  async offsets(partition: number): Promise<readonly number[]> {
    const late = () => new Fault('store_failed', 'retry', { facts: { call: 'list', listMs } });
    try {
      const names = await within(this.#list(partition), listMs, late);
      return offsetsOf(names).filter((offset) => !this.#refused.has(keyOf(partition, offset)));
    } catch (error) {
      this.#failed(partition, error, 'copies of snapshots could not be listed');
      return [];
    }
  }

  /** A copy, or why it cannot be used; null when the store has none or did not give it this time. Never rejects. */
  async read(partition: number, nextOffset: number): Promise<Snapshot | string | null> {
    try {
      const reading = this.#options.objects.get(nameOf(partition, nextOffset));
      const late = () => new Fault('store_failed', 'retry', { facts: { call: 'get', readMs } });
      const content = await within(reading, readMs, late);
      if (content === 'absent') return null;
      return typeof content === 'string'
        ? content
        : decodeImage(content, { partition, nextOffset });
    } catch (error) {
      this.#failed(partition, error, 'a copy of a snapshot could not be read');
      return null;
    }
  }

  /** This process does not use the copy again. */
  refuse(partition: number, nextOffset: number): void {
    this.#refused.add(keyOf(partition, nextOffset));
  }

  async #copy(snapshot: Snapshot): Promise<void> {
    const { partition, nextOffset } = snapshot;
    try {
      await this.#options.objects.put(nameOf(partition, nextOffset), encodeImage(snapshot));
      // A larger one may be of another history: it neither counts nor is removed.
      const stored = offsetsOf(await this.#list(partition)).filter((one) => one <= nextOffset);
      for (const old of stored.slice(snapshotsKept))
        await this.#options.objects.delete(nameOf(partition, old));
    } catch (error) {
      // The next snapshot is copied at once.
      this.#copiedMs.delete(partition);
      this.#failed(partition, error, 'a snapshot was not copied');
    }
  }

  #list(partition: number): Promise<readonly string[]> {
    return this.#options.objects.list(`${folder}/p${partition}/`);
  }

  #failed(partition: number, error: unknown, what: string): void {
    this.#options.onFailure(partition);
    this.#options.log.warn({ partition, err: error }, what);
  }
}

const nameOf = (partition: number, nextOffset: number): string =>
  `${folder}/${snapshotName(partition, nextOffset)}`;

const keyOf = (partition: number, nextOffset: number): string => `${partition}:${nextOffset}`;

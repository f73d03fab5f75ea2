import type { SealedObjects } from '@pm/domain/objects/sealed-objects.io';
import type { Log } from '@pm/kit/log';

/** Content of a checkpoint: the ledger of all partitions, or the books of one partition. */
export type CheckpointKind = 'ledger' | `books/p${number}`;

/** Checkpoints kept of each kind. */
export const checkpointsKept = 3;

const finishedName = /\/(\d{1,16})\.checkpoint$/;

/** A checkpoint whose seal is sound. */
export interface StoredCheckpoint {
  /** Records that it has: a larger number is newer. */
  readonly records: number;
  readonly content: Buffer;
}

/**
 * Checkpoints in a store, `checkpoints/<kind>/<records>.checkpoint`, under the seal of the LEDGER key. One that is not
 * sound is skipped, counted and logged, and stays where it is.
 */
export class CheckpointObjects {
  readonly #objects: SealedObjects;
  readonly #log: Log;
  readonly #onNotUsed: () => void;

  constructor(objects: SealedObjects, parts: { readonly log: Log; onNotUsed(): void }) {
    this.#objects = objects;
    this.#log = parts.log;
    this.#onNotUsed = () => parts.onNotUsed();
  }

  /** The newest first. Rejects with the faults of `ObjectStore`. */
  async *newestFirst(kind: CheckpointKind): AsyncGenerator<StoredCheckpoint> {
    for (const records of await this.#stored(kind)) {
      const content = await this.#objects.get(nameOf(kind, records));
      if (typeof content !== 'string') yield { records, content };
      else this.refuse(kind, records, content);
    }
  }

  /** Says that a checkpoint cannot be used. */
  refuse(kind: CheckpointKind, records: number, reason: string): void {
    this.#onNotUsed();
    this.#log.error({ kind, records, reason }, 'a checkpoint is not used');
  }

  /** Stores a checkpoint and removes the oldest beyond `checkpointsKept`. Rejects with the faults of `ObjectStore`. */
  async put(kind: CheckpointKind, records: number, parts: readonly Buffer[]): Promise<void> {
    await this.#objects.put(nameOf(kind, records), parts);
    for (const old of (await this.#stored(kind)).slice(checkpointsKept))
      await this.#objects.delete(nameOf(kind, old));
  }

  async #stored(kind: CheckpointKind): Promise<readonly number[]> {
    const names = await this.#objects.list(`checkpoints/${kind}/`);
    const found = names.flatMap((name) => {
      const [, digits] = finishedName.exec(name) ?? [];
      return digits === undefined ? [] : [Number(digits)];
    });
    return found.sort((a, b) => b - a);
  }
}

const nameOf = (kind: CheckpointKind, records: number): string =>
  `checkpoints/${kind}/${records}.checkpoint`;

import type { Clock } from '@pm/kit/clock';
import type { LogPosition } from './record-processor.ts';
import type { ProcessedSlice } from './slices.io.ts';
import type { SnapshotDirectory } from './snapshot-directory.io.ts';
import type { Snapshot } from './snapshot-image.ts';
import { hashKnown, type StateEncoder } from './state-encoder.io.ts';

/** A snapshot is due after so many records, or after so many milliseconds if more than the clock changed. */
export interface SnapshotRules {
  readonly everyRecords: number;
  readonly everyMs: number;
}

interface SnapshotScheduleParts {
  readonly partition: number;
  readonly rules: SnapshotRules;
  readonly directory: Pick<SnapshotDirectory, 'save' | 'newestOffset'>;
  readonly encoder: Pick<StateEncoder, 'encode'>;
  readonly clock: Clock;
  /** A snapshot up to `nextOffset` is on the disk; milliseconds from its state to the file. */
  onSaved(nextOffset: number, tookMs: number): void;
}

/**
 * Records that a start has replayed. They count for the next snapshot: of processes that end early one after the other,
 * none replays again the records that the one before it had to.
 */
export interface Replayed {
  /** Offset after the newest snapshot, 0 without one. */
  readonly snapshotOffset: number;
  /** Records after it. */
  readonly replayed: number;
  /** Their time by the clock of the partition, milliseconds. */
  readonly replayedMs: number;
}

/** A snapshot whose state is being encoded. */
export interface TakenSnapshot {
  readonly encoding: Promise<Snapshot>;
  readonly takenMs: number;
}

/** An owner waits for so many intervals where another replica takes the snapshots. */
const intervalsOfOwner = 2;

/**
 * Decides when a snapshot is taken. It is of the state right after a slice and written only when the outputs of that
 * slice are durable: a snapshot counts only when the outputs before it are stored. A standby takes each that is due; an
 * owner first looks whether the folder has a newer one than it knows, and then leaves them to who has written it.
 */
export class SnapshotSchedule {
  readonly #parts: SnapshotScheduleParts;
  #records = 0;
  #changed = false;
  #lastMs: number;
  /** Offset after the newest snapshot that is known. */
  #known: number;
  /** Whether another replica has written it. */
  #areOthers = false;
  /**
   * State of the owner's look at the folder since a snapshot is due: not begun, running, or no newer snapshot was
   * found.
   */
  #looked: 'no' | 'looking' | 'none' = 'no';
  /** One at a time, from the state to the file. */
  #pending = false;
  #saving: Promise<void> = Promise.resolve();

  constructor(parts: SnapshotScheduleParts, { snapshotOffset, replayed, replayedMs }: Replayed) {
    this.#parts = parts;
    this.#known = snapshotOffset;
    this.#records = replayed;
    this.#changed = replayed > 0;
    this.#lastMs = parts.clock.monotonicMs() - replayedMs;
  }

  /** The snapshot to write once the slice is stored, or `null` when none is due. */
  afterSlice(
    position: LogPosition,
    { outputs, changed }: Pick<ProcessedSlice, 'outputs' | 'changed'>,
    isOwner: boolean,
  ): TakenSnapshot | null {
    this.#records += outputs.length;
    this.#changed ||= changed;
    if (this.#pending || !this.#isDue(isOwner && this.#areOthers ? intervalsOfOwner : 1))
      return null;
    if (!isOwner || this.#looked === 'none') return this.#take(position);
    if (this.#looked === 'no') void this.#look();
    return null;
  }

  /** Writes a snapshot whose slice is stored. */
  save(taken: TakenSnapshot): void {
    this.#saving = this.#save(taken);
  }

  /** Writes the snapshot of a partition that is released: all its outputs are stored. */
  async saveLast(position: LogPosition): Promise<void> {
    await this.#saving;
    if (this.#changed) await this.#save(this.#take(position));
  }

  /** A folder that cannot be read has none. */
  async #look(): Promise<void> {
    const { directory, partition, clock } = this.#parts;
    this.#looked = 'looking';
    const newest = await directory.newestOffset(partition).catch(() => 0);
    this.#areOthers = newest > this.#known;
    this.#looked = this.#areOthers ? 'no' : 'none';
    if (!this.#areOthers) return;
    [this.#known, this.#records, this.#lastMs] = [newest, 0, clock.monotonicMs()];
  }

  #isDue(intervals: number): boolean {
    const { rules, clock } = this.#parts;
    if (this.#records >= rules.everyRecords * intervals) return true;
    return this.#changed && clock.monotonicMs() - this.#lastMs >= rules.everyMs * intervals;
  }

  #take(position: LogPosition): TakenSnapshot {
    this.#records = 0;
    this.#changed = false;
    this.#looked = 'no';
    this.#lastMs = this.#parts.clock.monotonicMs();
    this.#pending = true;
    const encoding = this.#encode(position);
    // The encoder itself reports why it failed, also when this snapshot is not saved any more.
    encoding.catch(() => {});
    return { encoding, takenMs: this.#lastMs };
  }

  async #encode({ engine, nextOffset, chain, checkpoint }: LogPosition): Promise<Snapshot> {
    const { bytes: state, hash: stateHash } = await this.#parts.encoder.encode(engine);
    await hashKnown(checkpoint);
    const { partition } = this.#parts;
    return {
      partition,
      nextOffset,
      chain,
      state,
      stateHash,
      checkpoint: checkpoint?.value ?? null,
    };
  }

  async #save({ encoding, takenMs }: TakenSnapshot): Promise<void> {
    const { directory, clock, onSaved } = this.#parts;
    const snapshot = await encoding.catch(() => null);
    const saved = snapshot !== null && (await directory.save(snapshot));
    this.#pending = false;
    if (saved) {
      this.#known = snapshot.nextOffset;
      onSaved(snapshot.nextOffset, clock.monotonicMs() - takenMs);
    } else this.#changed = true;
  }
}

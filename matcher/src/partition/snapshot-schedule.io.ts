import type { Clock } from '@pm/kit/clock';
import type { LogPosition } from './record-processor.ts';
import type { ProcessedSlice } from './slices.io.ts';
import type { SnapshotDirectory } from './snapshot-directory.io.ts';
import type { Snapshot } from './snapshot-image.ts';

/** A snapshot is due after so many records, or after so many milliseconds if more than the clock changed. */
export interface SnapshotRules {
  readonly everyRecords: number;
  readonly everyMs: number;
}

interface SnapshotScheduleParts {
  readonly partition: number;
  readonly rules: SnapshotRules;
  readonly directory: Pick<SnapshotDirectory, 'save'>;
  readonly clock: Clock;
  /** A snapshot up to `nextOffset` is on the disk. */
  onSaved(nextOffset: number, tookMs: number): void;
}

/**
 * Decides when a snapshot is taken. The state is encoded right after a slice and written only when the outputs of that
 * slice are durable: a snapshot counts only when the outputs before it are stored.
 */
export class SnapshotSchedule {
  readonly #parts: SnapshotScheduleParts;
  #records = 0;
  #changed = false;
  #lastMs: number;
  /** One at a time, from the encoding to the file. */
  #pending = false;
  #saving: Promise<void> = Promise.resolve();

  constructor(parts: SnapshotScheduleParts) {
    this.#parts = parts;
    this.#lastMs = parts.clock.monotonicMs();
  }

  /** The snapshot to write once the slice is stored, or `null` when none is due. */
  afterSlice(position: LogPosition, { outputs, changed }: ProcessedSlice): Snapshot | null {
    this.#records += outputs.length;
    this.#changed ||= changed;
    return !this.#pending && this.#isDue() ? this.#take(position) : null;
  }

  /** Writes a snapshot whose slice is stored. */
  save(snapshot: Snapshot): void {
    this.#saving = this.#save(snapshot);
  }

  /** Writes the snapshot of a partition that is released: all its outputs are stored. */
  async saveLast(position: LogPosition): Promise<void> {
    await this.#saving;
    if (this.#changed) await this.#save(this.#take(position));
  }

  #isDue(): boolean {
    const { rules, clock } = this.#parts;
    if (this.#records >= rules.everyRecords) return true;
    return this.#changed && clock.monotonicMs() - this.#lastMs >= rules.everyMs;
  }

  #take({ engine, nextOffset, chain }: LogPosition): Snapshot {
    this.#records = 0;
    this.#changed = false;
    this.#lastMs = this.#parts.clock.monotonicMs();
    this.#pending = true;
    return { partition: this.#parts.partition, nextOffset, chain, state: engine.encodeState() };
  }

  async #save(snapshot: Snapshot): Promise<void> {
    const { directory, clock, onSaved } = this.#parts;
    const startedMs = clock.monotonicMs();
    const saved = await directory.save(snapshot);
    this.#pending = false;
    if (saved) onSaved(snapshot.nextOffset, clock.monotonicMs() - startedMs);
    else this.#changed = true;
  }
}

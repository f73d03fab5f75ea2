import type { Clock } from '@pm/kit/clock';
import type { Position } from './record-processor.ts';
import type { RunSlice } from './slices.io.ts';
import type { SnapshotStore } from './snapshot-directory.io.ts';
import type { Snapshot } from './snapshot-image.ts';

/** When a snapshot is due: after so many records, or after so long if anything but the clock changed. */
export interface SnapshotRules {
  readonly everyRecords: number;
  readonly everyMs: number;
}

interface SnapshotRunnerParts {
  readonly partition: number;
  readonly rules: SnapshotRules;
  readonly store: Pick<SnapshotStore, 'save'>;
  readonly clock: Clock;
  /** A snapshot up to `nextOffset` is on the disk. */
  onSaved(nextOffset: number, tookMs: number): void;
}

/**
 * Decides when a snapshot is taken. The state is encoded right behind a slice, while it is at hand, and written only
 * when the outputs of that slice are durable: a snapshot counts only when its past is stored.
 */
export class SnapshotRunner {
  readonly #parts: SnapshotRunnerParts;
  #records = 0;
  #changed = false;
  #lastMs: number;
  /** One at a time, from the encoding to the file. */
  #pending = false;
  #saving: Promise<void> = Promise.resolve();

  constructor(parts: SnapshotRunnerParts) {
    this.#parts = parts;
    this.#lastMs = parts.clock.monotonicMs();
  }

  /** The snapshot to write once the slice is stored, or `null` when none is due. */
  afterSlice(position: Position, { outputs, changed }: RunSlice): Snapshot | null {
    this.#records += outputs.length;
    this.#changed ||= changed;
    return !this.#pending && this.#isDue() ? this.#take(position) : null;
  }

  /** Writes one that was taken; its slice is stored. */
  save(snapshot: Snapshot): void {
    this.#saving = this.#save(snapshot);
  }

  /** The snapshot of a partition that is let go: everything is stored. */
  async saveLast(position: Position): Promise<void> {
    await this.#saving;
    if (this.#changed) await this.#save(this.#take(position));
  }

  #isDue(): boolean {
    const { rules, clock } = this.#parts;
    if (this.#records >= rules.everyRecords) return true;
    return this.#changed && clock.monotonicMs() - this.#lastMs >= rules.everyMs;
  }

  #take({ engine, nextOffset, chain }: Position): Snapshot {
    this.#records = 0;
    this.#changed = false;
    this.#lastMs = this.#parts.clock.monotonicMs();
    this.#pending = true;
    return { partition: this.#parts.partition, nextOffset, chain, state: engine.encodeState() };
  }

  async #save(snapshot: Snapshot): Promise<void> {
    const { store, clock, onSaved } = this.#parts;
    const startedMs = clock.monotonicMs();
    const saved = await store.save(snapshot);
    this.#pending = false;
    if (saved) onSaved(snapshot.nextOffset, clock.monotonicMs() - startedMs);
    else this.#changed = true;
  }
}

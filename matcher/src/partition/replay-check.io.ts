import { Fault } from '@pm/kit/fault';
import type { PartitionBounds } from '@pm/kit/kafka';
import { isCopy } from './output-places.io.ts';
import type { OutputRecord } from './record-processor.ts';
import type { StoredExecutions, StoredOutput } from './stored-executions.io.ts';

interface ReplayCheckParts {
  readonly partition: number;
  readonly executions: StoredExecutions;
}

interface ReplayCheckRange {
  /** Input offsets [from, to) that are replayed. */
  readonly from: number;
  readonly to: number;
  /** Bounds of `executions[p]`. */
  readonly bounds: PartitionBounds;
}

/** Outputs of the replay that are not compared yet; at this limit the replay waits. */
const aheadMax = 1_024;

/**
 * Compares a replay with the stored outputs record by record while both are read, and names the first that differs.
 */
export class ReplayCheck {
  readonly #parts: ReplayCheckParts;
  readonly #range: ReplayCheckRange;
  readonly #ahead: OutputRecord[] = [];
  #next: number;
  #wake: () => void = () => {};
  #failure: unknown = null;

  constructor(parts: ReplayCheckParts, range: ReplayCheckRange) {
    this.#parts = parts;
    this.#range = range;
    this.#next = range.from;
  }

  /** Adds the next output of the replay; waits while too many are not compared. */
  async expect(output: OutputRecord): Promise<void> {
    this.#ahead.push(output);
    this.#wake();
    await this.#until(() => this.#ahead.length < aheadMax);
  }

  /**
   * Reads the stored outputs alongside the replay. Throws the first fault of either, `replay_differs` (release) among
   * them.
   */
  async alongside(replaying: Promise<void>): Promise<void> {
    const { from, to, bounds } = this.#range;
    // Copies only move outputs to larger offsets: that of input n is at offset n or later.
    const comparing = this.#parts.executions.readValues(
      { from: Math.max(from, bounds.low), to: bounds.high },
      (value, stored) => this.#compare(value, stored),
    );
    const compared = comparing.then(() => {
      if (this.#next !== to) throw this.#differs(this.#next, 'not stored');
    });
    await Promise.all([this.#guard(replaying), this.#guard(compared)]);
  }

  async #compare(value: Buffer, { inOffset }: StoredOutput): Promise<void> {
    if (inOffset < this.#next || inOffset >= this.#range.to) return;
    if (inOffset > this.#next) throw this.#differs(this.#next, 'not stored');
    await this.#until(() => this.#ahead.length > 0);
    const output = this.#ahead.shift();
    const same = output?.inOffset === inOffset && isCopy(output.value, value);
    if (!same) throw this.#differs(inOffset, 'other bytes');
    this.#next += 1;
    this.#wake();
  }

  async #until(holds: () => boolean): Promise<void> {
    while (this.#failure === null && !holds()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== null) throw this.#failure;
  }

  /** The failure of one side ends the other. */
  async #guard(side: Promise<void>): Promise<void> {
    try {
      await side;
    } catch (error) {
      this.#failure ??= error;
      this.#wake();
      throw this.#failure;
    }
  }

  #differs(inOffset: number, how: string): Fault {
    const { partition } = this.#parts;
    return new Fault('replay_differs', 'release', { facts: { partition, inOffset, how } });
  }
}

import { assert } from '@pm/kit/assert';
import { Fault } from '@pm/kit/fault';
import type { RecordPlace } from '@pm/kit/kafka';
import type { OutputRecord } from './record-processor.ts';
import type { StoredExecutions } from './stored-executions.io.ts';

interface OutputPlacesParts {
  readonly topic: string;
  readonly partition: number;
  readonly executions: Pick<StoredExecutions, 'readValues'>;
  /** Offset that the next output gets when nothing else writes the partition. */
  readonly next: number;
  /** Outputs of a replaced owner lie before those of this one: so many records. */
  onCopies(count: number): void;
}

/**
 * Checks where each output was stored: right behind the one before. A log that lost its newest records, as by a leader
 * elected without them, would otherwise be continued with a gap that no reader passes.
 */
export class OutputPlaces {
  readonly #parts: OutputPlacesParts;
  #next: number;

  constructor(parts: OutputPlacesParts) {
    this.#parts = parts;
    this.#next = parts.next;
  }

  /**
   * Throws `outputs_truncated` (release): outputs that were durable are gone from the log; `owner_replaced` (release):
   * another owner has written these outputs or later ones. Earlier outputs in between are late copies of a replaced
   * owner, which readers drop.
   */
  async check(outputs: readonly OutputRecord[], places: readonly RecordPlace[]): Promise<void> {
    const [first, last] = [places.at(0)?.offset ?? -1, places.at(-1)?.offset ?? -1];
    assert(last - first === outputs.length - 1, 'the outputs of a slice are stored together');
    const { topic, partition } = this.#parts;
    const facts = { topic, partition, expected: this.#next, found: first };
    if (first < this.#next) throw new Fault('outputs_truncated', 'release', { facts });
    if (first > this.#next) await this.#judgeBetween(first, outputs[0]?.inOffset ?? 0);
    this.#next = last + 1;
  }

  async #judgeBetween(to: number, inOffset: number): Promise<void> {
    const { topic, partition, executions, onCopies } = this.#parts;
    const from = this.#next;
    let newest = -1;
    await executions.readValues({ from, to }, async (_, stored) => {
      newest = Math.max(newest, stored.inOffset);
    });
    if (newest >= inOffset) {
      const facts = { topic, partition, expected: from, found: to, inOffset, newest };
      throw new Fault('owner_replaced', 'release', { facts });
    }
    onCopies(to - from);
  }
}

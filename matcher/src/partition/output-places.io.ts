import { assert } from '@pm/kit/assert';
import { Fault } from '@pm/kit/fault';
import type { RecordPlace } from '@pm/kit/kafka';
import { registryHeaderBytes } from '@pm/schemas/log/topics';
import type { OutputRecord } from './record-processor.ts';
import type { StoredExecutions } from './stored-executions.io.ts';

interface OutputPlacesParts {
  readonly topic: string;
  readonly partition: number;
  readonly executions: Pick<StoredExecutions, 'readValues'>;
  /** Offset that the next output gets when nothing else writes the partition. */
  readonly next: number;
  /** Whether the log decides who owns the partition: then own outputs that others have stored are no reason to stop. */
  hasTerms(): boolean;
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

  /** Offset after the last output that was checked. */
  get next(): number {
    return this.#next;
  }

  /**
   * Throws `outputs_truncated` (release): outputs that were durable are gone from the log; `outputs_differ` (release):
   * another owner has written one of these outputs with other bytes. Copies in between are those of a former owner,
   * which readers drop. Where the log does not say who the owner is, it throws `owner_replaced` (release) when another
   * one has written these outputs or later ones.
   */
  async check(outputs: readonly OutputRecord[], places: readonly RecordPlace[]): Promise<void> {
    const [first, last] = [places.at(0)?.offset ?? -1, places.at(-1)?.offset ?? -1];
    assert(last - first === outputs.length - 1, 'the outputs of a slice are stored together');
    const { topic, partition } = this.#parts;
    const facts = { topic, partition, expected: this.#next, found: first };
    if (first < this.#next) throw new Fault('outputs_truncated', 'release', { facts });
    if (first > this.#next) await this.#judgeBetween(first, outputs);
    this.#next = last + 1;
  }

  async #judgeBetween(to: number, outputs: readonly OutputRecord[]): Promise<void> {
    const { topic, partition, executions, onCopies } = this.#parts;
    const [from, inOffset] = [this.#next, outputs[0]?.inOffset ?? 0];
    let newest = -1;
    await executions.readValues({ from, to }, async (value, stored) => {
      newest = Math.max(newest, stored.inOffset);
      const own = outputs[stored.inOffset - inOffset];
      if (own === undefined || isCopy(own.value, value)) return;
      const facts = { topic, partition, inOffset: stored.inOffset };
      throw new Fault('outputs_differ', 'release', { facts });
    });
    if (newest >= inOffset && !this.#parts.hasTerms()) {
      const facts = { topic, partition, expected: from, found: to, inOffset, newest };
      throw new Fault('owner_replaced', 'release', { facts });
    }
    onCopies(to - from);
  }
}

/** Whether two outputs have the same content. The registry header is left out: it describes the encoding. */
export function isCopy(one: Buffer, other: Buffer): boolean {
  return one.subarray(registryHeaderBytes).equals(other.subarray(registryHeaderBytes));
}

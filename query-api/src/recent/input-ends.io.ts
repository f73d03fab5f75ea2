import { Fault, within } from '@pm/kit/fault';
import type { LogAdmin } from '@pm/kit/kafka';
import { SharedReads } from '../tables/shared-reads.io.ts';

/** A broker that has not answered by then is away, milliseconds. */
const answerTimeoutMs = 2_000;

type Ends = ReadonlyMap<number, number>;

/**
 * How far the inputs of the partitions go. A known end only grows, so the broker is read only for offsets beyond it.
 */
export class InputEnds {
  readonly #admin: Pick<LogAdmin, 'bounds'>;
  readonly #topic: string;
  readonly #reads = new SharedReads<Ends>();
  #known: Ends = new Map();

  /** `topic` is the name of `orders` on the broker. */
  constructor(admin: Pick<LogAdmin, 'bounds'>, topic: string) {
    this.#admin = admin;
    this.#topic = topic;
  }

  async hasCome(partition: number, inOffset: number): Promise<boolean> {
    const isBelow = (ends: Ends): boolean => inOffset < (ends.get(partition) ?? 0);
    if (isBelow(this.#known)) return true;
    this.#known = await this.#reads.read('ends', () => this.#poll());
    return isBelow(this.#known);
  }

  async #poll(): Promise<Ends> {
    try {
      const bounds = await within(this.#admin.bounds(this.#topic), answerTimeoutMs, silent);
      return new Map([...bounds].map(([partition, { high }]) => [partition, high]));
    } catch (cause) {
      throw new Fault('log_unavailable', 'retry', { cause });
    }
  }
}

function silent(): Error {
  return new Error('the broker is silent');
}

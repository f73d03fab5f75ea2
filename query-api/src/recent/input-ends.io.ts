import { LogEnds } from '@pm/domain/executions/log-ends.io';
import type { LogPlaces } from '@pm/kit/http';
import type { LogAdmin } from '@pm/kit/kafka';

/**
 * How far the inputs of the partitions go. A known end only grows, so the broker is read only for offsets beyond it.
 */
export class InputEnds {
  readonly #ends: LogEnds;
  #known: LogPlaces = new Map();

  /** `topic` is the name of `orders` on the broker. */
  constructor(admin: Pick<LogAdmin, 'bounds'>, topic: string) {
    this.#ends = new LogEnds(admin, topic);
  }

  /** Rejects with the fault of `LogEnds`. */
  async hasCome(partition: number, inOffset: number): Promise<boolean> {
    const isBelow = (ends: LogPlaces): boolean => inOffset < (ends.get(partition) ?? 0);
    if (isBelow(this.#known)) return true;
    this.#known = await this.#ends.read();
    return isBelow(this.#known);
  }
}

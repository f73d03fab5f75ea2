import type { Execution } from '@pm/schemas/log/executions';
import { tables } from '@pm/schemas/tables/tables';
import type { RowMemory } from '../../tables/row-memory.ts';
import { RowWriter, type TableRows } from '../../tables/row-writer.ts';
import { Buckets, minuteOf } from '../buckets.ts';
import type { View } from '../view.ts';

/** Half of 1/10000 USDC in micro-USDC: a midpoint may lie halfway between two prices. */
const microPerHalfPrice = 50;

/** Prices in 1/10000 USDC, 0 for an empty side. */
interface Top {
  readonly market: number;
  readonly bid: number;
  readonly ask: number;
  readonly inOffset: number;
}

/**
 * Table `midpoints_1m`: the best prices of each market at the end of each minute, and their midpoint, NULL where a side
 * of the book was empty then. Rows are absolute, so the view needs no earlier state.
 */
export class MidpointsView implements View {
  readonly #minutes = new Buckets<Top>();
  readonly #rows: RowWriter;

  constructor(memory: RowMemory) {
    this.#rows = new RowWriter(tables.midpoints, memory);
  }

  get pendingRows(): number {
    return this.#minutes.size;
  }

  fold({ events, inOffset, timeMs }: Execution): void {
    for (const event of events) {
      if (event.kind !== 'TopChanged') continue;
      const { market, bid, ask } = event;
      this.#minutes.set(minuteOf(timeMs), market, { market, bid, ask, inOffset });
    }
  }

  take(): readonly TableRows[] {
    this.#minutes.forEach(({ market, bid, ask, inOffset }, bucketMs) => {
      const isOneSided = bid === 0 || ask === 0;
      this.#rows.int(market).second(bucketMs);
      if (isOneSided) this.#rows.none();
      else this.#rows.micro((bid + ask) * microPerHalfPrice);
      for (const best of [bid, ask]) {
        if (best === 0) this.#rows.none();
        else this.#rows.price(best);
      }
      this.#rows.int(inOffset).end();
    });
    this.#minutes.clear();
    return [this.#rows.take()];
  }
}

import { type Execution, tables } from '@pm/schemas';
import { Buckets } from '../buckets.ts';
import { RowWriter, type TableRows } from '../row-writer.ts';
import type { View } from '../rows.ts';
import { minuteOf } from '../time.ts';

/** 1/10000 USDC halved, in micro-USDC: midpoints may lie half a tick between two prices. */
const microPerHalfPrice = 50;

interface Midpoint {
  readonly market: number;
  readonly micro: number;
  readonly inOffset: number;
}

/**
 * Table `midpoints_1m`: the last midpoint of each minute and market, 0 when a side of the book was empty then (no midpoint is 0);
 * absolute, so it needs no state before.
 */
export class MidpointsView implements View {
  readonly #minutes = new Buckets<Midpoint>();
  readonly #rows = new RowWriter(tables.midpoints);

  get pendingRows(): number {
    return this.#minutes.size;
  }

  fold({ events, inOffset, timeMs }: Execution): void {
    for (const event of events) {
      if (event.kind !== 'TopChanged') continue;
      const { market, bid, ask } = event;
      const isOneSided = bid === 0 || ask === 0;
      const micro = isOneSided ? 0 : (bid + ask) * microPerHalfPrice;
      this.#minutes.set(minuteOf(timeMs), market, { market, micro, inOffset });
    }
  }

  take(): readonly TableRows[] {
    this.#minutes.forEach(({ market, micro, inOffset }, bucketMs) => {
      this.#rows.int(market).second(bucketMs).micro(micro).int(inOffset).end();
    });
    this.#minutes.clear();
    return [this.#rows.take()];
  }
}

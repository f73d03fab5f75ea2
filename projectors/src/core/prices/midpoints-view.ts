import { type Execution, microText, tables } from '@pm/schemas';
import type { Row, TableRows, View } from '../rows.ts';
import { minuteOf, secondText } from '../time.ts';

/** 1/10000 USDC halved, in micro-USDC: midpoints may lie half a tick between two prices. */
const microPerHalfPrice = 50;

/**
 * Table `midpoints_1m`: the last midpoint of each minute and market, 0 when a side of the book was empty then (no midpoint is 0);
 * absolute, so it needs no state before.
 */
export class MidpointsView implements View {
  #pending = new Map<string, Row>();

  get pendingRows(): number {
    return this.#pending.size;
  }

  fold({ events, inOffset, timeMs }: Execution): void {
    for (const event of events) {
      if (event.kind !== 'TopChanged') continue;
      const bucket = secondText(minuteOf(timeMs));
      const isOneSided = event.bid === 0 || event.ask === 0;
      const midpoint = isOneSided ? '0' : microText((event.bid + event.ask) * microPerHalfPrice);
      this.#pending.set(`${event.market}:${bucket}`, [event.market, bucket, midpoint, inOffset]);
    }
  }

  take(): readonly TableRows[] {
    const rows = [...this.#pending.values()];
    this.#pending = new Map();
    return [{ table: tables.midpoints, rows }];
  }
}

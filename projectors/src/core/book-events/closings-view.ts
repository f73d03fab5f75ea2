import { type Execution, microText, priceText, tables } from '@pm/schemas';
import type { Row, TableRows, View } from '../rows.ts';
import { hourText, monthText } from '../time.ts';

/**
 * Table `book_closings`: the last total of each level that changed in an hour, and in a month; absolute, so it needs no state
 * before.
 */
export class BookClosingsView implements View {
  #pending = new Map<string, Row>();

  get pendingRows(): number {
    return this.#pending.size;
  }

  fold({ events, inOffset, timeMs }: Execution): void {
    for (const event of events) {
      if (event.kind !== 'LevelChanged') continue;
      const { market, side, price } = event;
      const level = [side, priceText(price), microText(event.sizeMicro), inOffset];
      this.#set([market, 'hour', hourText(timeMs)], level);
      this.#set([market, 'month', monthText(timeMs)], level);
    }
  }

  take(): readonly TableRows[] {
    const rows = [...this.#pending.values()];
    this.#pending = new Map();
    return [{ table: tables.bookClosings, rows }];
  }

  #set(bucket: Row, level: Row): void {
    const key = `${bucket.join(':')}:${level[0]}:${level[1]}`;
    this.#pending.set(key, [...bucket, ...level]);
  }
}

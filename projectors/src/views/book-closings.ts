import { type Execution, priceOne, type Side, tables } from '@pm/schemas';
import { RowWriter, type TableRows } from '../tables/row-writer.ts';
import { Buckets } from './buckets.ts';
import { hourOf, monthOf } from './time.ts';
import type { View } from './view.ts';

interface Closing {
  readonly market: number;
  readonly side: Side;
  readonly price: number;
  readonly sizeMicro: number;
  readonly inOffset: number;
}

/**
 * Table `book_closings`: the last total of each level that changed in an hour, and in a month; absolute, so it needs no state
 * before.
 */
export class BookClosingsView implements View {
  readonly #hours = new Buckets<Closing>();
  readonly #months = new Buckets<Closing>();
  readonly #rows = new RowWriter(tables.bookClosings);

  get pendingRows(): number {
    return this.#hours.size + this.#months.size;
  }

  fold({ events, inOffset, timeMs }: Execution): void {
    const hourMs = hourOf(timeMs);
    const monthMs = monthOf(timeMs);
    for (const event of events) {
      if (event.kind !== 'LevelChanged') continue;
      const { market, side, price, sizeMicro } = event;
      const closing = { market, side, price, sizeMicro, inOffset };
      const level = (market * 2 + (side === 'BUY' ? 0 : 1)) * priceOne + price;
      this.#hours.set(hourMs, level, closing);
      this.#months.set(monthMs, level, closing);
    }
  }

  take(): readonly TableRows[] {
    this.#hours.forEach((closing, bucketMs) => {
      this.#write('hour', bucketMs, closing);
    });
    this.#months.forEach((closing, bucketMs) => {
      this.#write('month', bucketMs, closing);
    });
    this.#hours.clear();
    this.#months.clear();
    return [this.#rows.take()];
  }

  #write(span: string, bucketMs: number, closing: Closing): void {
    const { market, side, price, sizeMicro, inOffset } = closing;
    this.#rows.int(market).word(span).second(bucketMs);
    this.#rows.word(side).price(price).micro(sizeMicro).int(inOffset).end();
  }
}

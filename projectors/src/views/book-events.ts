import type { Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import type { Side } from '@pm/schemas/log/types';
import { complementPrice, priceOne } from '@pm/schemas/money';
import { tables } from '@pm/schemas/tables/tables';
import type { RowMemory } from '../tables/row-memory.ts';
import { RowWriter, type TableRows } from '../tables/row-writer.ts';
import { Buckets, hourOf, Months } from './buckets.ts';
import { recordView, type View, writeSource } from './view.ts';

/** Table `book_events`: the new total of every level that changed, in terms of token 0. */
export function bookEventsView(partition: number, memory: RowMemory): View {
  return recordView(tables.bookEvents, memory, ({ events, inOffset, timeMs }, to, appendedAtMs) => {
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index];
      if (event?.kind !== 'LevelChanged') continue;
      writeSource(to, { partition, inOffset, index, timeMs, appendedAtMs });
      to.int(event.market).word(event.side).price(event.price).micro(event.sizeMicro).end();
    }
  });
}

/** Remaining size of an order in the book. */
interface Rest {
  readonly market: number;
  readonly orderId: Buffer;
  readonly sizeMicro: number;
  /** Null for cancels, which do not carry it. */
  readonly at: { readonly outcome: number; readonly side: Side; readonly price: number } | null;
}

/** Table `book_orders`: the remaining size of an order after each event that changed it. */
export function bookOrdersView(partition: number, memory: RowMemory): View {
  return recordView(tables.bookOrders, memory, ({ events, inOffset, timeMs }, to, appendedAtMs) => {
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index];
      const rest = event === undefined ? null : restOf(event);
      if (rest === null) continue;
      writeSource(to, { partition, inOffset, index, timeMs, appendedAtMs });
      writePlace(to.int(rest.market).hex(rest.orderId), rest);
      to.micro(rest.sizeMicro).end();
    }
  });
}

function restOf(event: ExecutionEvent): Rest | null {
  switch (event.kind) {
    case 'OrderPlaced': {
      const { market, orderId, restingMicro: sizeMicro } = event;
      return sizeMicro === 0 ? null : { market, orderId, sizeMicro, at: event };
    }
    case 'Fill': {
      const { market, makerOutcome: outcome, makerSide: side, makerPrice: price } = event;
      const at = { outcome, side, price };
      return { market, orderId: event.makerOrderId, sizeMicro: event.makerRestMicro, at };
    }
    case 'OrderCanceled':
      return { market: event.market, orderId: event.orderId, sizeMicro: 0, at: null };
    default:
      return null;
  }
}

/** Side and price in terms of token 0: a BUY of token 1 at q is an ask at 1-q. */
function writePlace(to: RowWriter, { at }: Rest): RowWriter {
  if (at === null) return to.none(2);
  if (at.outcome === 0) return to.word(at.side).price(at.price);
  return to.word(at.side === 'BUY' ? 'SELL' : 'BUY').price(complementPrice(at.price));
}

/** Last total of a level in a span of time. */
interface Closing {
  readonly market: number;
  readonly side: Side;
  readonly price: number;
  readonly sizeMicro: number;
  readonly inOffset: number;
}

/**
 * Table `book_closings`: the last total of each level that changed in an hour, and in a month. Rows are absolute, so
 * the view needs no earlier state.
 */
export class BookClosingsView implements View {
  readonly #hours = new Buckets<Closing>();
  readonly #months = new Buckets<Closing>();
  readonly #calendar = new Months();
  readonly #rows: RowWriter;

  constructor(memory: RowMemory) {
    this.#rows = new RowWriter(tables.bookClosings, memory);
  }

  get pendingRows(): number {
    return this.#hours.size + this.#months.size;
  }

  fold({ events, inOffset, timeMs }: Execution): void {
    const hourMs = hourOf(timeMs);
    const monthMs = this.#calendar.startOf(timeMs);
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

import { complementPrice, type ExecutionEvent, type Side, tables } from '@pm/schemas';
import type { RowWriter } from '../tables/row-writer.ts';
import { recordView, type View, writeSource } from './view.ts';

interface Rest {
  readonly market: number;
  readonly orderId: Buffer;
  readonly sizeMicro: number;
  /** Null for cancels, which do not say it. */
  readonly at: { readonly outcome: number; readonly side: Side; readonly price: number } | null;
}

/** Table `book_orders`: what rests of an order after each event that changed it. */
export function bookOrdersView(partition: number): View {
  return recordView(tables.bookOrders, ({ events, inOffset, timeMs }, to) => {
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index];
      const rest = event === undefined ? null : restOf(event);
      if (rest === null) continue;
      writeSource(to, { partition, inOffset, index, timeMs });
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

/** Side and price in terms of token 0: a BUY of token 1 at q stands as an ask at 1-q. */
function writePlace(to: RowWriter, { at }: Rest): RowWriter {
  if (at === null) return to.word('BUY').price(0);
  if (at.outcome === 0) return to.word(at.side).price(at.price);
  return to.word(at.side === 'BUY' ? 'SELL' : 'BUY').price(complementPrice(at.price));
}

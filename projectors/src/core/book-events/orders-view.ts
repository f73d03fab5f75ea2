import {
  complementPrice,
  type ExecutionEvent,
  microText,
  orderIdFromBytes,
  priceText,
  type Side,
  tables,
} from '@pm/schemas';
import { type Row, recordView, type View } from '../rows.ts';
import { timeText } from '../time.ts';

interface Rest {
  readonly market: number;
  readonly orderId: Buffer;
  readonly sizeMicro: number;
  /** Null for cancels, which do not say it. */
  readonly at: { readonly outcome: number; readonly side: Side; readonly price: number } | null;
}

/** Table `book_orders`: what rests of an order after each event that changed it. */
export function bookOrdersView(partition: number): View {
  return recordView([tables.bookOrders], ({ events, inOffset, timeMs }) => {
    const rows: Row[] = [];
    for (const [index, event] of events.entries()) {
      const rest = restOf(event);
      if (rest === null) continue;
      const { market, orderId, sizeMicro } = rest;
      const source = [partition, inOffset, index, timeText(timeMs)];
      rows.push([
        ...source,
        market,
        orderIdFromBytes(orderId),
        ...inBook(rest),
        microText(sizeMicro),
      ]);
    }
    return [rows];
  });
}

function restOf(event: ExecutionEvent): Rest | null {
  switch (event.kind) {
    case 'OrderPlaced': {
      if (event.restingMicro === 0) return null;
      return { ...event, sizeMicro: event.restingMicro, at: event };
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
function inBook({ at }: Rest): Row {
  if (at === null) return ['BUY', '0'];
  if (at.outcome === 0) return [at.side, priceText(at.price)];
  return [at.side === 'BUY' ? 'SELL' : 'BUY', priceText(complementPrice(at.price))];
}

import { microText, priceText, tables } from '@pm/schemas';
import { type Row, recordView, type View } from '../rows.ts';
import { timeText } from '../time.ts';

/** Table `book_events`: the new total of every level that changed, in terms of token 0. */
export function bookEventsView(partition: number): View {
  return recordView([tables.bookEvents], ({ events, inOffset, timeMs }) => {
    const rows: Row[] = [];
    for (const [index, event] of events.entries()) {
      if (event.kind !== 'LevelChanged') continue;
      const { market, side, price, sizeMicro } = event;
      const level = [market, side, priceText(price), microText(sizeMicro)];
      rows.push([partition, inOffset, index, timeText(timeMs), ...level]);
    }
    return [rows];
  });
}

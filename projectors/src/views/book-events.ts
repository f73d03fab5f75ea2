import { tables } from '@pm/schemas';
import { recordView, type View, writeSource } from './view.ts';

/** Table `book_events`: the new total of every level that changed, in terms of token 0. */
export function bookEventsView(partition: number): View {
  return recordView(tables.bookEvents, ({ events, inOffset, timeMs }, to) => {
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index];
      if (event?.kind !== 'LevelChanged') continue;
      writeSource(to, { partition, inOffset, index, timeMs });
      to.int(event.market).word(event.side).price(event.price).micro(event.sizeMicro).end();
    }
  });
}

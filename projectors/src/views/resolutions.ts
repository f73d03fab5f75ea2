import { tables } from '@pm/schemas';
import { recordView, type View, writeSource } from './view.ts';

/** Table `resolutions`: what tokens pay from when on. */
export function resolutionsView(partition: number): View {
  return recordView(tables.resolutions, ({ events, inOffset, timeMs }, to) => {
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index];
      if (event?.kind !== 'MarketResolved') continue;
      writeSource(to, { partition, inOffset, index, timeMs });
      to.int(event.market).price(event.payout0).int(inOffset).end();
    }
  });
}

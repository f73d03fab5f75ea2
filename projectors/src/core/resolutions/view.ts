import { tables } from '@pm/schemas';
import { recordView, type View } from '../rows.ts';

/** Table `resolutions`: what tokens pay from when on. */
export function resolutionsView(): View {
  return recordView(tables.resolutions, ({ events, timeMs, inOffset }, to) => {
    for (const event of events)
      if (event.kind === 'MarketResolved')
        to.int(event.market).price(event.payout0).time(timeMs).int(inOffset).end();
  });
}

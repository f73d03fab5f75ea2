import { priceText, tables } from '@pm/schemas';
import { recordView, type View } from '../rows.ts';
import { timeText } from '../time.ts';

/** Table `resolutions`: what tokens pay from when on. */
export function resolutionsView(): View {
  return recordView([tables.resolutions], ({ events, timeMs, inOffset }) => [
    events.flatMap((event) =>
      event.kind === 'MarketResolved'
        ? [[event.market, priceText(event.payout0), timeText(timeMs), inOffset]]
        : [],
    ),
  ]);
}

import { mentionsEvent } from './catalog.ts';
import { fedEvent } from './recordings.ts';
import type { TradingAccount } from './trading-account.ts';

interface DemoRemark {
  /** Slug of the event. */
  readonly event: string;
  readonly author: string;
  readonly text: string;
}

/** Comments of the demo's wallets on its events. */
export const remarks: readonly DemoRemark[] = [
  {
    event: fedEvent.slug,
    author: 'Demo trader 1',
    text: 'No change is at 97 cents. Is the last cent and a half worth the wait?',
  },
  {
    event: fedEvent.slug,
    author: 'Demo trader 2',
    text: 'A cut of 25 bps at 2 cents is the only one with two sides to it.',
  },
  {
    event: fedEvent.slug,
    author: 'Demo trader 3',
    text: 'The four markets add up to a little more than one dollar.',
  },
  {
    event: fedEvent.slug,
    author: 'Demo trader 4',
    text: 'These trades were recorded on 26 February 2026 and are replayed here.',
  },
  {
    event: mentionsEvent.slug,
    author: 'Demo trader 5',
    text: 'Inflation is said at every one of them. The other two are worth a trade.',
  },
  {
    event: mentionsEvent.slug,
    author: 'Demo trader 6',
    text: 'The statement counts only if the chair reads it aloud.',
  },
];

/** Writes those on one event; a repetition writes nothing, because each has an id of its own. */
export async function writeRemarks(
  accounts: readonly Pick<TradingAccount, 'comment'>[],
  { id: eventId, slug }: { readonly id: string; readonly slug: string },
): Promise<void> {
  for (const [index, { event, author, text }] of remarks.entries()) {
    if (event !== slug) continue;
    await accounts[index]?.comment({ eventId, author, text, id: `demo-remark-${index}` });
  }
}

import type { TradingAccount } from './trading-account.ts';

/** Comments of the demo's wallets on its event with recorded trades. */
export const remarks: readonly { readonly author: string; readonly text: string }[] = [
  {
    author: 'Demo trader 1',
    text: 'No change is at 97 cents. Is the last cent and a half worth the wait?',
  },
  {
    author: 'Demo trader 2',
    text: 'A cut of 25 bps at 2 cents is the only one with two sides to it.',
  },
  { author: 'Demo trader 3', text: 'The four markets add up to a little more than one dollar.' },
  {
    author: 'Demo trader 4',
    text: 'These trades were recorded on 26 February 2026 and are replayed here.',
  },
];

/** Writes them; a repetition writes nothing, because each has an id of its own. */
export async function writeRemarks(
  accounts: readonly Pick<TradingAccount, 'comment'>[],
  eventId: string,
): Promise<void> {
  for (const [index, { author, text }] of remarks.entries())
    await accounts[index]?.comment({ eventId, author, text, id: `demo-remark-${index}` });
}

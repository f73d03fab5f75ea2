import { pictureUrl } from '@pm/gateway/pictures';
import type { ImportEvent } from '@pm/schemas/http/operator';

/** Markets of the demo that are listed, traded, resolved and redeemed within a minute, over the life of a catalog. */
export const shortMarketsMax = 200;

/** Trades of one such market, and the pause between two of them. */
export const shortMarketSteps = 25;
export const shortMarketStepMs = 2_000;

const description =
  'A market of the demo that ends within a minute of its listing. Heads is Yes. The number of the toss decides how it ' +
  'falls, the operator of this installation resolves the market, and holders redeem their tokens.';

/** Event with the one market of a toss; numbers begin with 1. */
export function shortMarketEvent(number: number, baseUrl: string, now: Date): ImportEvent {
  const image = pictureUrl(baseUrl, 'other');
  const question = `Does toss ${number} of the demo's coin fall heads?`;
  return {
    slug: shortMarketSlug(number),
    title: question,
    description,
    category: 'other',
    tags: ['other'],
    series: 'demo-coin',
    startDate: now.toISOString(),
    endDate: new Date(now.getTime() + 24 * 3_600_000).toISOString(),
    image,
    icon: image,
    markets: [
      { slug: `${shortMarketSlug(number)}-heads`, question, tickSize: '0.001', image, icon: image },
    ],
  };
}

export function shortMarketSlug(number: number): string {
  return `demo-coin-toss-${number}`;
}

/** How a toss falls: about as often heads as tails, the same in every run. */
export function isHeads(number: number): boolean {
  return (Math.imul(number, 0x9e3779b1) >>> 17) % 2 === 0;
}

/** Price of heads before a step, ticks of a tenth of a cent: from the middle towards the result, with a wobble. */
export function shortMarketTicks(number: number, step: number): number {
  const drift = Math.round((430 * step) / (shortMarketSteps - 1));
  const wobble = ((number * 31 + step * 17) % 13) - 6;
  return 500 + (isHeads(number) ? drift : -drift) + wobble;
}

const quickMarkets = 12;
const quickPauseMs = 3 * 60_000;
const slowPauseMs = 3_600_000;

/** Pause after so many of them: some within the first hour, then one an hour, so that the catalog grows slowly. */
export function pauseAfterMs(played: number): number {
  return played < quickMarkets ? quickPauseMs : slowPauseMs;
}

import { pictureUrl } from '@pm/gateway/pictures';
import type { ImportEvent, ImportMarket } from '@pm/schemas/http/operator';
import { fedNames } from './coded-names.ts';
import { type DemoName, nameOf } from './names.ts';
import {
  fedEvent,
  type RecordedMarket,
  type RecordedQuote,
  type RecordedTrade,
} from './recordings.ts';

/** Categories of the recording, by the tag slugs of the exchange. */
export const tagOfCategory: Readonly<Record<string, string>> = {
  sports: 'sports',
  culture: 'culture',
  politics: 'politics',
  climate: 'weather',
  technology: 'tech',
  macro: 'economics',
  finance: 'finance',
  geopolitics: 'geopolitics',
  crypto: 'crypto',
};

/** Taker fee rates by category, basis points of the curve (conventions.md 3.15). */
const feeRates: Readonly<Record<string, number>> = {
  crypto: 441,
  finance: 252,
  politics: 252,
  tech: 252,
  geopolitics: 252,
};
const otherFeeRate = 315;

const quotedDescription =
  'A market of the demo. Its quotes were recorded on 1 August 2026 and are replayed here with test money; the outcome of ' +
  'the recorded event does not resolve it. The operator of this installation resolves it or leaves it open.';

const fedDescription =
  'A market of the demo. How does the target range of the federal funds rate change at the meeting of March 2026? Exactly ' +
  'one of the four markets resolves to Yes: the one that names the change of the upper bound of the range, as stated by the ' +
  'Federal Open Market Committee. Its trades were recorded on 26 February 2026 and are replayed here with test money.';

/** Markets without a recording, for the category that the recording does not have. */
export const mentionsEvent: ImportEvent = {
  slug: 'demo-words-of-the-press-conference',
  title: 'What is said at the press conference in March?',
  description:
    'Markets of the demo. Each resolves to Yes if the word is said by the chair at the press conference after the ' +
    'meeting of March 2026. Prices and trades are made up.',
  category: 'mentions',
  tags: ['mentions'],
  startDate: '2026-02-01T00:00:00.000Z',
  endDate: '2027-12-31T00:00:00.000Z',
  markets: ['Inflation', 'Recession', 'Tariffs'].map((word) => ({
    slug: `demo-said-${word.toLowerCase()}`,
    question: `Is "${word}" said at the press conference in March?`,
    groupItemTitle: word,
    tickSize: '0.001',
    feeRateBps: 315,
  })),
};

const fineTick = '0.001';
const coarseTick = '0.01';

export interface Recordings {
  readonly markets: readonly RecordedMarket[];
  readonly quotes: readonly RecordedQuote[];
  readonly trades: readonly RecordedTrade[];
}

/**
 * The catalog of the demo: one event per title of recorded markets, and the Fed event. `baseUrl` serves their pictures.
 */
export function demoCatalog(recorded: Recordings, baseUrl: string): ImportEvent[] {
  const fine = slugsWithFineQuotes(recorded.quotes);
  const events = [...groupByTitle(recorded.markets).values()].map((markets) =>
    eventOf(markets, fine),
  );
  return [...events, mentionsEvent, fedEventOf(recorded.trades)].map((event) => {
    const image = pictureUrl(baseUrl, event.category ?? '');
    const pictured = { image, icon: image };
    const markets = event.markets.map((market) => ({ ...market, ...pictured }));
    return { ...event, ...pictured, markets };
  });
}

interface NamedMarket extends RecordedMarket {
  readonly name: DemoName;
}

/** Markets without a name are left out; titles that differ only in punctuation are one event. */
function groupByTitle(markets: readonly RecordedMarket[]): Map<string, NamedMarket[]> {
  const groups = new Map<string, NamedMarket[]>();
  for (const market of markets) {
    const name = nameOf(market);
    if (name === null) continue;
    const key = slugText(name.title);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [{ ...market, name }]);
    else group.push({ ...market, name });
  }
  return groups;
}

function eventOf(markets: readonly NamedMarket[], fine: ReadonlySet<string>): ImportEvent {
  const title = markets[0]?.name.title ?? '';
  const tag = tagOfCategory[markets[0]?.category ?? ''] ?? 'other';
  return {
    slug: `${slugText(title)}-2026`,
    title,
    description: quotedDescription,
    category: tag,
    tags: [tag],
    startDate: '2026-08-01T00:00:00.000Z',
    endDate: '2027-12-31T00:00:00.000Z',
    markets: markets.map(({ slug, name: { question, short, outcomes } }) => ({
      slug,
      question,
      ...(short === '' ? {} : { groupItemTitle: short }),
      ...(outcomes === undefined ? {} : { outcomes }),
      tickSize: fine.has(slug) ? fineTick : coarseTick,
      feeRateBps: feeRates[tag] ?? otherFeeRate,
    })),
  };
}

function fedEventOf(trades: readonly RecordedTrade[]): ImportEvent {
  const conditions = new Map(trades.map((trade) => [trade.question, trade.conditionId]));
  const tokens = new Map(
    trades.map((trade) => [`${trade.question} ${trade.outcome}`, trade.tokenId]),
  );
  const tokenIdsOf = (question: string) =>
    [0, 1].map((at) => tokens.get(`${question} ${at}`) ?? '');
  const markets: ImportMarket[] = [...conditions].map(([question, conditionId]) => ({
    slug: slugText(question),
    question,
    groupItemTitle: fedNames[question] ?? question,
    description: fedDescription,
    tickSize: fineTick,
    feeRateBps: otherFeeRate,
    negRisk: true,
    rewardsDailyRate: 50,
    ...(conditionId === '' ? {} : { conditionId }),
    ...(tokenIdsOf(question).includes('') ? {} : { tokenIds: tokenIdsOf(question) }),
  }));
  return {
    ...fedEvent,
    description: fedDescription,
    category: 'economics',
    tags: ['economics', 'fed'],
    series: 'fomc',
    startDate: '2026-02-01T00:00:00.000Z',
    endDate: '2027-12-31T00:00:00.000Z',
    markets,
  };
}

/** Slug of a Fed market in the catalog. */
export function slugText(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

function slugsWithFineQuotes(quotes: readonly RecordedQuote[]): Set<string> {
  const isFine = (price: string | null) => (price?.split('.')[1]?.length ?? 0) > 2;
  return new Set(
    quotes.filter((quote) => isFine(quote.bid) || isFine(quote.ask)).map((q) => q.slug),
  );
}

import { demoCatalog, mentionsEvent } from '../../src/demo/catalog.ts';
import { codedNames, cutMatches, fedNames, wholeTitles } from '../../src/demo/coded-names.ts';
import { nameOf } from '../../src/demo/names.ts';
import { recordedMarkets, recordedQuotes, recordedTrades } from '../../src/demo/recordings.ts';

/** Every text of the demo's catalog is made of whole words of its data, of our table, and of a few more. */
const markets = recordedMarkets();
const trades = recordedTrades();
const catalog = demoCatalog({ markets, quotes: recordedQuotes(), trades }, 'http://127.0.0.1:8080');

/** Texts that are cut in the recording are 80 characters long: their last word may be none. */
const recordedTexts = markets.map(({ question }) =>
  question.length < 80 ? question : question.slice(0, question.lastIndexOf(' ')),
);
const ourTexts = [
  ...Object.values(codedNames).flatMap((names) => Object.values(names)),
  ...Object.values(wholeTitles),
  ...Object.values(fedNames),
  ...Object.values(cutMatches).flat(),
  ...trades.map(({ question }) => question),
  ...mentionsEvent.markets.map(({ question }) => question),
  'January February March April May June July August September October November December',
  'Who wins vs on? By Spread of. Abdul El-Sayed by points Above Below or more to million billion trillion',
  'seats Cut Hike bps No change against cover end in a draw match',
];
const wordsOf = (text: string) => text.split(/[\s:;,?/()"“”]+/).filter((word) => word !== '');
const known = new Set([...recordedTexts, ...ourTexts].flatMap(wordsOf));
/** Amounts, such as +1.5, $900, 2.9%, 70°F and 450,000. */
const amount = /^[+-]?\$?\d[\d.]*(°F|%)?$/;
const unknownWords = (text: string) =>
  wordsOf(text).filter((word) => !known.has(word) && !amount.test(word));

test.each(catalog.map((event) => [event.title, event] as const))(
  'no text of "%s" is made from a ticker or cut within a word',
  (title, event) => {
    const texts = event.markets.flatMap(({ question, groupItemTitle = '', outcomes = [] }) => [
      question,
      groupItemTitle,
      ...outcomes,
    ]);
    expect([title, ...texts].flatMap(unknownWords)).toEqual([]);
    // Short names and questions tell the markets of an event apart.
    const { length } = event.markets;
    const names = event.markets.map(({ groupItemTitle }) => groupItemTitle);
    if (length > 1) expect(new Set(names.filter((name) => name !== undefined)).size).toBe(length);
    expect(new Set(event.markets.map(({ question }) => question)).size).toBe(length);
  },
);

test('questions are whole: they end with a question mark, or with the name of their market', () => {
  const ends = catalog.flatMap((event) =>
    event.markets.filter(
      ({ question, groupItemTitle }) =>
        !question.endsWith('?') &&
        !(groupItemTitle !== undefined && question.endsWith(groupItemTitle)),
    ),
  );
  expect(ends).toEqual([]);
});

const named = (slug: string, question: string) => nameOf({ slug, question, category: '' });

test.each([
  ['dipcc-us-iran-contnts-2026--enrcaplte5', 'What Will Be in a US-Iran Deal in 2026?'],
  ['tc-temp-laxhigh-2026-08-01-gte78lt79f', 'Highest temperature in Los Angeles on August 1?'],
])('%s has a short name beside its title', (slug, title) => {
  const name = named(slug, title);
  expect(name?.title).toBe(title);
  expect(name?.question).toBe(`${title} ${name?.short}`);
});

test('a question that was cut is put together again', () => {
  expect(
    named(
      'atc-cdb-cha-cru-2026-08-02-draw',
      'Will the Copa do Brasil match Associacao Chapecoense de Futebol vs Cruzeiro EC s',
    )?.question,
  ).toBe(
    'Will the Copa do Brasil match Associacao Chapecoense de Futebol vs Cruzeiro EC end in a draw on August 2, 2026?',
  );
  expect(
    named(
      'asc-mlb-cws-tb-2026-08-02-pos-1pt5',
      'Will the Chicago White Sox cover 1.5 vs the Tampa Bay Rays in Chicago White Sox ',
    ),
  ).toEqual({
    title: 'Spread of Chicago White Sox vs Tampa Bay Rays on August 2, 2026',
    question: 'Will the Chicago White Sox cover +1.5 against the Tampa Bay Rays on August 2, 2026?',
    short: '+1.5',
  });
});

test('a market whose code has no name is left out', () => {
  expect(named('tac-oscars-03-14-2027-bestacto-hanzis', 'Oscar Winner: Best Actor')).toBeNull();
  expect(
    named('x-2026-01-01', 'Something else of exactly eighty characters, cut off somewhere in the'),
  ).toBeNull();
});

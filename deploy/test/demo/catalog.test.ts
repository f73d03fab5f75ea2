import { ImportCatalog, importEventsMax } from '@pm/schemas/http/operator';
import { leaderboardCategories } from '@pm/schemas/tables/leaderboard-tables';
import { Value } from 'typebox/value';
import { pictureOf } from '../../../gateway/src/pictures.ts';
import { demoCatalog } from '../../src/demo/catalog.ts';
import { recordedMarkets, recordedQuotes, recordedTrades } from '../../src/demo/recordings.ts';
import { testAccounts } from '../../src/demo/wallets.ts';

const recorded = {
  markets: recordedMarkets(),
  quotes: recordedQuotes(),
  trades: recordedTrades(),
};
const catalog = demoCatalog(recorded, 'http://127.0.0.1:8080');
const markets = catalog.flatMap((event) => event.markets);

test('the catalog holds the recorded markets that have a name, three of words and the four of the Fed event', () => {
  expect(markets).toHaveLength(580);
  expect(catalog.at(-1)?.markets).toHaveLength(4);
});

test('every part of it is a valid import', () => {
  for (let from = 0; from < catalog.length; from += importEventsMax) {
    const events = catalog.slice(from, from + importEventsMax);
    expect([...Value.Errors(ImportCatalog, { events })]).toEqual([]);
  }
});

test('slugs of events and of markets are unique', () => {
  expect(new Set(catalog.map((event) => event.slug)).size).toBe(catalog.length);
  expect(new Set(markets.map((market) => market.slug)).size).toBe(markets.length);
});

test('markets quoted in tenths of a cent have the finer tick', () => {
  const ticks = new Map(markets.map(({ slug, tickSize }) => [slug, tickSize]));
  const fine = new Set<string>();
  for (const { slug, bid, ask } of recorded.quotes) {
    const decimals = Math.max(...[bid, ask].map((price) => price?.split('.')[1]?.length ?? 0));
    if (decimals > 2 && ticks.has(slug)) fine.add(slug);
  }
  expect(fine.size).toBeGreaterThan(0);
  expect([...fine].filter((slug) => ticks.get(slug) !== '0.001')).toEqual([]);
});

test('every category of the leaderboards has markets', () => {
  const tags = new Set(catalog.flatMap((event) => event.tags ?? []));
  const categories = Object.entries(leaderboardCategories).filter(([name]) => name !== 'OVERALL');
  for (const [, names] of categories) expect(names.some((name) => tags.has(name))).toBe(true);
});

test('every event has a description and a picture that the gateway draws', () => {
  for (const { description, image = '' } of catalog) {
    expect(description).toContain('demo');
    const tag = /^http:\/\/127\.0\.0\.1:8080\/demo\/pictures\/([a-z]+)\.svg$/.exec(image)?.[1];
    expect(pictureOf(tag ?? '')).toContain('<svg ');
  }
  expect(pictureOf('toString')).toBeNull();
});

test('the test wallets are the public ones', () => {
  const [first, , , , , , , , , last] = testAccounts();
  expect(first?.checksummed).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266');
  expect(last?.checksummed).toBe('0xa0Ee7A142d267C1f36714E4a8F75612F20a79720');
});

import { noQuote } from '@pm/domain/books/quote';
import { Random } from '@pm/kit/random';
import { marketAnswers } from '../../src/markets/catalog-responses.io.ts';
import { MarketTexts } from '../../src/markets/market-texts.io.ts';
import { eventEntry, marketEntry, token, World } from '../in-memory.ts';

const random = new Random(20_261_122);
const upTo = (count: number) => random.below(count);

test('kept texts equal texts written from scratch, whatever changed in between', async () => {
  const world = new World();
  const ports = world.parts();
  const texts = new MarketTexts(ports);
  for (let step = 0; step < 300; step += 1) {
    const market = 1 + upTo(6);
    const eventId = String(1 + upTo(3));
    const kind = upTo(5);
    if (kind === 0) {
      world.catalog.apply(marketEntry(market, { eventId, question: `"Will" ${step}?\u2028` }));
    }
    if (kind === 1) world.catalog.apply(eventEntry(eventId, { title: `Event ${step}` }));
    if (kind === 2) world.catalog.remove(`CatalogEvent:${eventId}`);
    if (kind === 3) {
      world.quotes.set(token(market, 0), {
        ...noQuote,
        bid: 1 + upTo(4000),
        ask: 5000 + upTo(4000),
      });
    }
    const markets = [...world.catalog.markets()].filter(() => random.next() < 0.7);
    for (const dialect of ['specification', 'family'] as const) {
      const fresh = await marketAnswers(ports, markets, dialect);
      const list: unknown = JSON.parse(await texts.list(markets, dialect));
      expect(list).toEqual(JSON.parse(JSON.stringify(fresh)));
    }
  }
});

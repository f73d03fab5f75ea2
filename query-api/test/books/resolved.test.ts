import { noQuote, type Quote } from '@pm/domain/books/quote';
import type { HttpApp } from '@pm/kit/http';
import { priceText } from '@pm/schemas/decimal';
import { priceOne } from '@pm/schemas/money';
import { condition, get, marketEntry, openListener, post, token, World } from '../in-memory.ts';

/** Prices of a resolved market against the payout, on every route that has a price of it. */
const [yes, no] = [token(1, 0), token(1, 1)];
const traded: Quote = { ...noQuote, last: 5200, lastSide: 'BUY', marketLast: 5200 };
const mounts = ['', '/clob'];
const sides = ['BUY', 'SELL'];

interface PricedMarket {
  readonly outcomePrices: string;
  readonly lastTradePrice: number;
}

function resolved(payout0: number, quote: Quote): HttpApp {
  const world = new World();
  world.quotes.set(yes, quote);
  world.quotes.set(no, quote);
  world.catalog.apply(marketEntry(1, { payout0, closed: true, mode: 'RESOLVED' }));
  return openListener(world);
}

const cases = [0, 3_000, 5_000, 10_000].flatMap((payout0) =>
  ([['traded', traded] as const, ['never traded', noQuote] as const] as const).map(
    ([title, quote]) => [payout0, title, quote] as const,
  ),
);

describe.each(cases)('a market that pays %p, %s', (payout0, _title, quote) => {
  const app = resolved(payout0, quote);
  const payouts = [
    [yes, priceText(payout0)],
    [no, priceText(priceOne - payout0)],
  ] as const;
  const items = payouts.map(([token_id]) => ({ token_id }));
  const query = `token_ids=${yes},${no}`;

  it.each(mounts)('has its payouts as prices of single tokens under "%s"', async (mount) => {
    for (const [id, price] of payouts) {
      const body = async (path: string) => (await get(app, `${mount}${path}`)).body;
      expect(await body(`/midpoint?token_id=${id}`)).toEqual({ mid: price });
      for (const side of sides)
        expect(await body(`/price?token_id=${id}&side=${side}`)).toEqual({ price });
      expect(await body(`/last-trade-price?token_id=${id}`)).toEqual({
        price,
        side: quote.lastSide,
      });
    }
  });

  it.each(mounts)('has its payouts as prices of many tokens under "%s"', async (mount) => {
    const both = async (path: string) => {
      const byBody = (await post(app, mount + path, items)).body;
      expect((await get(app, `${mount}${path}?${query}`)).body).toEqual(byBody);
      return byBody;
    };
    expect(await both('/midpoints')).toEqual(Object.fromEntries(payouts));
    const prices = payouts.map(([id, price]) => [id, { BUY: price, SELL: price }]);
    expect(await both('/prices')).toEqual(Object.fromEntries(prices));
    const lasts = payouts.map(([token_id, price]) => ({ token_id, price, side: quote.lastSide }));
    expect(await both('/last-trades-prices')).toEqual(lasts);
  });

  it('has its payouts in lists of markets and in itself', async () => {
    for (const path of ['markets?slug=market-1', 'markets/1', 'events?id=1', 'events/1']) {
      const { body } = await get(app, `/gamma/${path}`);
      const market = firstMarket(body);
      expect(JSON.parse(market?.outcomePrices ?? '[]')).toEqual(payouts.map(([, price]) => price));
      expect(market?.lastTradePrice).toBe(payout0 / priceOne);
    }
    const { body } = await get(app, `/clob/markets/${condition(1)}`);
    const { tokens } = body as { readonly tokens: readonly { readonly price: number }[] };
    expect(tokens.map(({ price }) => String(price))).toEqual(payouts.map(([, price]) => price));
  });
});

/** The market with the smallest id: events list theirs in that order. */
function firstMarket(body: unknown): PricedMarket | undefined {
  if (Array.isArray(body)) return firstMarket(body[0]);
  const { markets } = body as { readonly markets?: readonly PricedMarket[] };
  return markets === undefined ? (body as PricedMarket) : markets[0];
}

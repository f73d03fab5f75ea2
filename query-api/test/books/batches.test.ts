import { noQuote, type Quote, shownMidpointMicro } from '@pm/domain/books/quote';
import { type HttpApp, openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import type { RedisClient } from '@pm/kit/redis';
import { microText, priceText } from '@pm/schemas/decimal';
import { redisKeys } from '@pm/schemas/redis/keys';
import { Dice } from '../../../kit/test/hostile/dice.ts';
import { runLength } from '../../../kit/test/long-runs.ts';
import { StoredBooks } from '../../src/books/stored-books.io.ts';
import { addReadRoutes } from '../../src/http/app.route.ts';
import { get, marketEntry, post, token, World } from '../in-memory.ts';

/** Batches out of memory against answers computed each time from what is stored, while books and listings change. */
const keys = redisKeys('t-');
const markets = [1, 2, 3, 4, 5];
const steps = runLength({ test: 60, deep: 120 });

interface Stored extends Quote {
  readonly json: string;
}

/** The part of Redis that books are read from. */
class StoredHashes {
  readonly hashes = new Map<string, Stored>();
  reads = 0;

  client(): RedisClient {
    const pipeline = () => {
      const replies: [null, unknown][] = [];
      const add = (value: unknown) => {
        replies.push([null, value]);
        return commands;
      };
      const commands = {
        hgetBuffer: (key: string) => {
          const found = this.hashes.get(key);
          return add(found === undefined ? null : Buffer.from(found.json));
        },
        hmget: (key: string) => add(fieldsOf(this.hashes.get(key))),
        exec: async () => {
          this.reads += 1;
          return replies;
        },
      };
      return commands;
    };
    const hmget = async (_key: string, ...fields: string[]) =>
      fields.map((field) => (field === '0' ? '1' : null));
    return { pipeline, hmget } as unknown as RedisClient;
  }
}

function fieldsOf(stored: Stored | undefined): (string | null)[] {
  if (stored === undefined) return [null, null, null, null, null];
  const { bid, ask, last, lastSide, marketLast } = stored;
  const text = (price: number | null) => (price === null ? '' : priceText(price));
  return [text(bid), text(ask), text(last), lastSide, text(marketLast)];
}

interface Item {
  readonly token_id: string;
  readonly side?: string;
}

function isSide(given: string | undefined, side: 'BUY' | 'SELL'): boolean {
  return given?.toUpperCase() === side;
}

/** The answers as they follow from what is stored, with an object for each. */
class Twin {
  readonly #world: World;
  readonly #stored: StoredHashes;

  constructor(world: World, stored: StoredHashes) {
    this.#world = world;
    this.#stored = stored;
  }

  #listed(items: readonly Item[]): readonly (Item & { readonly quote: Quote })[] {
    return items
      .filter(({ token_id }) => this.#world.catalog.listing(token_id) !== undefined)
      .map((item) => ({ ...item, quote: this.#of(item.token_id) ?? noQuote }));
  }

  #of(id: string): Stored | undefined {
    return this.#stored.hashes.get(keys.book(id as never));
  }

  midpoints(items: readonly Item[], dialect: 'specification' | 'family'): object {
    const shown = this.#listed(items).flatMap(({ token_id, quote }) => {
      const micro = shownMidpointMicro(quote, dialect);
      return micro === null ? [] : [[token_id, microText(micro)]];
    });
    return Object.fromEntries(shown);
  }

  spreads(items: readonly Item[]): object {
    const shown = this.#listed(items).flatMap(({ token_id, quote: { bid, ask } }) =>
      bid === null || ask === null ? [] : [[token_id, priceText(ask - bid)]],
    );
    return Object.fromEntries(shown);
  }

  prices(items: readonly Item[], dialect: 'specification' | 'family'): object {
    const answer: Record<string, { BUY?: string; SELL?: string }> = {};
    for (const { token_id, side, quote } of this.#listed(items)) {
      const prices = answer[token_id] ?? {};
      const [buy, sell] = dialect === 'family' ? [quote.bid, quote.ask] : [quote.ask, quote.bid];
      if (!isSide(side, 'SELL') && buy !== null) prices.BUY = priceText(buy);
      if (!isSide(side, 'BUY') && sell !== null) prices.SELL = priceText(sell);
      answer[token_id] = prices;
    }
    return answer;
  }

  lastTrades(items: readonly Item[]): object {
    return this.#listed(items).flatMap(({ token_id, quote: { last, lastSide } }) =>
      last === null ? [] : [{ token_id, price: priceText(last), side: lastSide }],
    );
  }

  /** Empty ones are made by the catalog: without them. */
  books(items: readonly Item[]): readonly object[] {
    return this.#listed(items).flatMap(({ token_id, side }) => {
      const stored = this.#of(token_id);
      if (stored === undefined) return [];
      const book = JSON.parse(stored.json) as object;
      if (side === undefined) return [book];
      return [isSide(side, 'BUY') ? { ...book, asks: [] } : { ...book, bids: [] }];
    });
  }
}

function setUp() {
  const world = new World();
  const stored = new StoredHashes();
  const books = new StoredBooks(stored.client(), keys);
  books.setCoherent(true);
  const app = openHttp({ log: silentLog, bodyLimitBytes: 128 * 1024 });
  addReadRoutes(app, { ...world.parts(), books });
  return { world, stored, books, app, twin: new Twin(world, stored) };
}

type Setting = ReturnType<typeof setUp>;

/** Changes a book, and says so, or a listing. */
function change(dice: Dice, { world, stored, books }: Setting, step: number): void {
  const market = dice.pick(markets);
  if (dice.isOneIn(5)) {
    if (dice.isOneIn(2)) world.catalog.remove(`CatalogMarket:${market}`);
    else world.catalog.apply(marketEntry(market));
    return;
  }
  const id = token(market, dice.below(2) as 0 | 1);
  const key = keys.book(id);
  const price = () => (dice.isOneIn(4) ? null : 1 + dice.below(9_999));
  const [low, high] = [price(), price()];
  const isCrossed = low !== null && high !== null && low > high;
  const last = price();
  const json = JSON.stringify({ step, asset_id: id, bids: [low], asks: [high] });
  stored.hashes.set(key, {
    json,
    bid: isCrossed ? high : low,
    ask: isCrossed ? low : high,
    last,
    lastSide: last === null ? '' : dice.pick(['BUY', 'SELL'] as const),
    marketLast: last,
  });
  books.invalidate(dice.isOneIn(20) ? null : [key]);
  if (dice.isOneIn(30)) {
    books.setCoherent(false);
    books.setCoherent(true);
  }
}

function someItems(dice: Dice): readonly Item[] {
  return Array.from({ length: dice.below(9) }, () => {
    const token_id = dice.isOneIn(9) ? '424242' : token(dice.pick(markets), dice.below(2) as 0 | 1);
    return dice.isOneIn(3)
      ? { token_id, side: dice.pick(['BUY', 'SELL', 'buy', 'Sell']) }
      : { token_id };
  });
}

async function agrees({ app, twin }: { app: HttpApp; twin: Twin }, items: readonly Item[]) {
  const body = async (path: string) => (await post(app, path, items)).body;
  expect(await body('/midpoints')).toEqual(twin.midpoints(items, 'specification'));
  expect(await body('/clob/midpoints')).toEqual(twin.midpoints(items, 'family'));
  expect(await body('/spreads')).toEqual(twin.spreads(items));
  expect(await body('/prices')).toEqual(twin.prices(items, 'specification'));
  expect(await body('/clob/prices')).toEqual(twin.prices(items, 'family'));
  expect(await body('/last-trades-prices')).toEqual(twin.lastTrades(items));
  const books = (await body('/books')) as readonly { readonly step?: number }[];
  expect(books.filter(({ step }) => step !== undefined)).toEqual(twin.books(items));
  if (items.length === 0) return;
  const query = `token_ids=${items.map(({ token_id }) => token_id).join()}`;
  const sides = items.map(({ side = '' }) => side).join();
  for (const [at, dialect] of [
    ['/prices', 'specification'],
    ['/clob/prices', 'family'],
  ] as const) {
    const answer = await get(app, `${at}?${query}&sides=${sides}`);
    expect(answer.body).toEqual(twin.prices(items, dialect));
  }
  expect((await get(app, `/midpoints?${query}`)).body).toEqual(
    twin.midpoints(items, 'specification'),
  );
}

test.each([1, 2, 3])(
  'batches out of memory are what is stored, whatever changes (seed %p)',
  async (seed) => {
    const dice = new Dice(seed);
    const setting = setUp();
    const asked: (readonly Item[])[] = [];
    for (let step = 0; step < steps; step += 1) {
      if (dice.isOneIn(2)) change(dice, setting, step);
      if (asked.length < 6 || dice.isOneIn(10)) asked.push(someItems(dice));
      await agrees(setting, dice.pick(asked));
    }
  },
);

test('a batch of what is at hand asks the store for nothing', async () => {
  const { app, stored, books } = setUp();
  const key = keys.book(token(1, 0));
  stored.hashes.set(key, { ...noQuote, json: '{}', bid: 4_000, ask: 5_000 });
  const body = [{ token_id: token(1, 0) }];
  for (let time = 0; time < 3; time += 1) await post(app, '/midpoints', body);
  expect(stored.reads).toBe(1);
  books.invalidate([key]);
  await post(app, '/midpoints', body);
  expect(stored.reads).toBe(2);
});

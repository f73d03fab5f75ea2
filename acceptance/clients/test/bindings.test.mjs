// @polymarket/bindings 0.10.0: its zod schemas parse every response of every route they know.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as clobBindings from '@polymarket/bindings/clob';
import * as gammaBindings from '@polymarket/bindings/gamma';
import { ClobClient, OrderType, Side } from '@polymarket/clob-client-v2';
import { authorIndex, writeComments } from './comments.mjs';
import {
  accountAt,
  chainId,
  clobUrl,
  eventually,
  gammaUrl,
  marketAt,
  needs,
  walletAt,
} from './exchange.mjs';

const clob = { ...clobBindings };
const gamma = { ...gammaBindings };
const { conditionId, tokenIds } = marketAt(6);
const [yes, no] = tokenIds;

let client;
let other;
let orderId;
let ids;

async function connect(index) {
  const plain = { host: clobUrl, chain: chainId, signer: walletAt(index), throwOnError: true };
  const creds = await new ClobClient(plain).createOrDeriveApiKey();
  return new ClobClient({ ...plain, creds });
}

const limit = (from, tokenID, price) =>
  from.createOrder({ tokenID, side: Side.BUY, price, size: 20 });

const json = async (url) => (await fetch(url)).json();
const parse = (schema, answer) => {
  const { success, error } = schema.safeParse(answer);
  assert.ok(success, error === undefined ? '' : JSON.stringify(error.issues.slice(0, 5), null, 1));
};

before(async () => {
  client = await connect(8);
  other = await connect(9);
  const [event] = await json(`${gammaUrl}/events?slug=compat-group`);
  const [series] = await json(`${gammaUrl}/series`);
  const [tag] = await json(`${gammaUrl}/tags?limit=1`);
  ids = { event: event.id, market: event.markets[0].id, series: series.id, tag: tag.id };
});

test('parses placements: live, matched, refused, in batches', async () => {
  const placed = await client.postOrder(await limit(client, yes, 0.4));
  parse(clob.OrderResponseSchema, placed);
  orderId = placed.orderID;
  parse(clob.OrderResponseSchema, await other.postOrder(await limit(other, no, 0.6)));
  const batch = await client.postOrders([
    { order: await limit(client, yes, 0.4), orderType: OrderType.GTC },
    { order: await limit(client, no, 0.5), orderType: OrderType.GTC },
    { order: await limit(client, yes, 0.51), orderType: OrderType.FOK },
  ]);
  parse(clob.OrderResponsesSchema, batch);
});

const privateReads = {
  OpenOrderSchema: () => client.getOrder(orderId),
  ApiKeysResponseSchema: () => client.getApiKeys(),
  ClosedOnlyModeSchema: () => client.getClosedOnlyMode(),
  NotificationsResponseSchema: () => client.getNotifications(),
  BalanceAllowanceResponseSchema: () => client.getBalanceAllowance({ asset_type: 'COLLATERAL' }),
  OrderScoringResponseSchema: () => client.isOrderScoring({ order_id: orderId }),
  OrdersScoringResponseSchema: () => client.areOrdersScoring({ orderIds: [orderId] }),
  ClobTradesPageSchema: async () => {
    const { trades, ...rest } = await eventually(
      'the trade',
      () => client.getTradesPaginated({ market: conditionId }),
      (page) => page.trades.length > 0,
    );
    return { data: trades, ...rest };
  },
  CancelOrdersResponseSchema: () => client.cancelAll(),
};

for (const [name, read] of Object.entries(privateReads)) {
  test(`parses a private response by ${name}`, async () => parse(clob[name], await read()));
}

const books = {
  FetchOrderBookResponseSchema: () => `book?token_id=${yes}`,
  FetchTickSizeResponseSchema: () => `tick-size?token_id=${yes}`,
  FetchNegRiskResponseSchema: () => `neg-risk?token_id=${yes}`,
  FetchMarketInfoResponseSchema: () => `clob-markets/${conditionId}`,
  ResolveConditionByTokenResponseSchema: () => `markets-by-token/${yes}`,
  LastTradePriceSchema: () => `last-trade-price?token_id=${yes}`,
  LastTradePricesSchema: () => `last-trades-prices?token_ids=${yes},${no}`,
};

for (const [name, path] of Object.entries(books)) {
  test(`parses a book response by ${name}`, async () => {
    parse(clob[name], await json(`${clobUrl}/${path()}`));
  });
}

test('parses rewards', needs('GET /rewards/markets/current'), async () => {
  parse(clob.PaginatedCurrentRewardsSchema, await json(`${clobUrl}/rewards/markets/current`));
});

test('parses builder trades', needs('GET /builder/trades'), async () => {
  const code = `0x${'1'.padStart(64, '0')}`;
  const url = `${clobUrl}/builder/trades?builder_code=${code}`;
  parse(clob.PaginatedBuilderTradesSchema, await json(url));
});

const catalog = [
  ['ListEventsResponseSchema', () => 'events'],
  ['ListEventsKeysetResponseSchema', () => 'events/keyset?limit=2'],
  ['EventSchema', () => `events/${ids.event}`],
  ['EventSchema', () => 'events/slug/compat-plain'],
  ['FetchEventTagsResponseSchema', () => `events/${ids.event}/tags`],
  ['ListMarketsResponseSchema', () => 'markets'],
  ['ListMarketsKeysetResponseSchema', () => 'markets/keyset?limit=2'],
  ['MarketSchema', () => `markets/${ids.market}`],
  ['MarketSchema', () => 'markets/slug/compat-fine-fees'],
  ['FetchMarketTagsResponseSchema', () => `markets/${ids.market}/tags`],
  ['ListSeriesResponseSchema', () => 'series'],
  ['SeriesSchema', () => `series/${ids.series}`],
  ['ListTagsResponseSchema', () => 'tags'],
  ['TagSchema', () => `tags/${ids.tag}`],
  ['ListRelatedTagsResponseSchema', () => `tags/${ids.tag}/related-tags`],
  ['ListRelatedTagResourcesResponseSchema', () => `tags/${ids.tag}/related-tags/tags`],
  ['ListTeamsResponseSchema', () => 'teams'],
  ['ListMarketClarificationsResponseSchema', () => 'market-clarifications'],
  ['PublicSearchResponseSchema', () => 'public-search?q=compat&search_profiles=true'],
];

for (const [place, [name, path]] of catalog.entries()) {
  test(`parses a catalog response by ${name} (${place})`, async () => {
    parse(gamma[name], await json(`${gammaUrl}/${path()}`));
  });
}

test('parses profiles', needs('GET /public-profile'), async () => {
  const url = `${gammaUrl}/public-profile?address=${accountAt(9).address}`;
  parse(gamma.PublicProfileSchema, await json(url));
});

test(
  'parses comments with reactions, about events and markets',
  needs('GET /comments'),
  async () => {
    const asked = await writeComments('compat-group');
    const { address } = accountAt(authorIndex);
    const paths = asked.map((query) => `comments?${new URLSearchParams(query)}`);
    for (const path of [...paths, `comments/user_address/${address}`]) {
      const comments = await json(`${gammaUrl}/${path}`);
      parse(gamma.ListCommentsResponseSchema, comments);
      assert.ok(comments.some(({ reactions }) => reactions.length > 0));
      for (const { id, replies } of comments) {
        parse(gamma.ListCommentsResponseSchema, replies);
        parse(gamma.ListCommentsResponseSchema, await json(`${gammaUrl}/comments/${id}`));
      }
    }
  },
);

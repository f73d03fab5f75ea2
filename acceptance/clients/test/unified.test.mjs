// @polymarket/client, the client in TypeScript for trading and reading; it parses every answer with strict schemas.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { TradeStatus } from '@polymarket/bindings';
import {
  createPublicClient,
  createSecureClient,
  OrderSide,
  OrderType,
  PriceHistoryInterval,
  production,
} from '@polymarket/client';
import { createBuilderApiKey, fetchApiKeys, fetchBuilderApiKeys } from '@polymarket/client/actions';
import { privateKey } from '@polymarket/client/viem';
import { authorIndex, writeComments } from './comments.mjs';
import {
  accountAt,
  clobUrl,
  dataUrl,
  eventCount,
  eventually,
  gammaUrl,
  keyAt,
  marketAt,
  marketCount,
  needs,
} from './exchange.mjs';

const environment = {
  ...production,
  clob: { ...production.clob, rest: clobUrl },
  gamma: { rest: gammaUrl },
  data: { rest: dataUrl },
};
const { conditionId, tokenIds } = marketAt(1);
const [yes, no] = tokenIds;
const { BUY, SELL } = OrderSide;

const connect = (index) =>
  createSecureClient({
    environment,
    signer: privateKey(keyAt(index)),
    wallet: accountAt(index).address,
  });

async function first(paginated) {
  return (await paginated.firstPage()).items;
}

/** The first page as soon as it has a row; boards and positions come after the trades. */
function rows(list) {
  return eventually(
    'a row',
    () => first(list()),
    ({ length }) => length > 0,
  );
}

const anyone = createPublicClient({ environment });
let maker;
let taker;

before(async () => {
  maker = await connect(2);
  taker = await connect(3);
});

test('is not limited to closing', async () => {
  assert.equal(await maker.fetchClosedOnlyMode(), false);
});

test('places resting orders one by one and together, reads and cancels them', async () => {
  const limit = { tokenId: yes, side: BUY, size: 10 };
  const placed = await maker.placeLimitOrder({ ...limit, price: 0.2, postOnly: true });
  assert.equal(placed.ok, true);
  assert.equal(placed.status, 'live');
  assert.equal((await maker.fetchOrder({ orderId: placed.orderId })).id, placed.orderId);
  const open = await first(maker.listOpenOrders({ market: conditionId }));
  assert.deepEqual(
    open.map(({ id }) => id),
    [placed.orderId],
  );
  assert.deepEqual((await maker.cancelOrder({ orderId: placed.orderId })).canceled, [
    placed.orderId,
  ]);
  const expiration = Math.floor(Date.now() / 1000) + 3600;
  const both = await maker.postOrders([
    await maker.createLimitOrder({ ...limit, price: 0.1 }),
    await maker.createLimitOrder({ ...limit, price: 0.11, expiration }),
  ]);
  assert.ok(both.every(({ ok, status }) => ok && status === 'live'));
  const orderIds = both.map(({ orderId }) => orderId);
  const { canceled } = await maker.cancelOrders({ orderIds });
  assert.deepEqual(new Set(canceled), new Set(orderIds));
});

test('gets the reason why an order was not placed', async () => {
  await maker.placeLimitOrder({ tokenId: yes, side: BUY, size: 20, price: 0.5 });
  const crossing = { tokenId: no, side: BUY, size: 10, price: 0.6, postOnly: true };
  await assert.rejects(() => taker.placeLimitOrder(crossing), /post-only/);
  const [result] = await taker.postOrders([await taker.createLimitOrder(crossing)]);
  assert.deepEqual([result.ok, result.code], [false, 'post_only_would_cross']);
  await maker.cancelAll();
});

test('trades, and waits until the fill is settled', async () => {
  await maker.placeLimitOrder({ tokenId: yes, side: BUY, size: 100, price: 0.55 });
  const fill = await taker.placeLimitOrder({ tokenId: no, side: BUY, size: 20, price: 0.45 });
  assert.equal(fill.status, 'matched');
  const hashes = await taker.waitForOrderFillSettlement(fill, { timeoutMs: 10_000 });
  assert.equal(hashes.length, 1);
  const trades = await first(maker.listAccountTrades({ market: conditionId }));
  assert.equal(trades[0].status, TradeStatus.Confirmed);
});

test('buys for a budget, with and without a highest price, and sells shares', async () => {
  const kinds = [
    { amount: 5, orderType: OrderType.FOK },
    { amount: 5.33, maxPrice: 0.47, orderType: OrderType.FAK },
    { amount: 3.33, maxPrice: 0.46, orderType: OrderType.FOK },
  ];
  for (const kind of kinds) {
    const bought = await taker.placeMarketOrder({ tokenId: no, side: BUY, ...kind });
    assert.equal(bought.status, 'matched', JSON.stringify(bought));
  }
  await maker.cancelAll();
  await maker.placeLimitOrder({ tokenId: no, side: BUY, size: 10, price: 0.4 });
  // The client takes its price from the book, which follows the log.
  await eventually(
    'the bid',
    () => anyone.fetchOrderBook({ tokenId: no }),
    ({ bids, asks }) => bids.length > 0 && asks.length === 0,
  );
  const sold = await taker.placeMarketOrder({
    tokenId: no,
    side: SELL,
    shares: 10,
    orderType: OrderType.FOK,
  });
  assert.equal(sold.status, 'matched');
});

test('cancels by market, by token and everything', async () => {
  const place = () => maker.placeLimitOrder({ tokenId: yes, side: BUY, size: 10, price: 0.1 });
  await maker.cancelAll();
  for (const cancel of [
    () => maker.cancelMarketOrders({ market: conditionId }),
    () => maker.cancelMarketOrders({ tokenId: yes }),
    () => maker.cancelAll(),
  ]) {
    const { orderId } = await place();
    assert.deepEqual((await cancel()).canceled, [orderId]);
  }
});

test('reads notifications and drops them', async () => {
  const notices = await maker.fetchNotifications();
  assert.ok(notices.length > 0);
  await maker.dropNotifications({ ids: [String(notices[0].id)] });
  const isGone = (left) => left.every(({ id }) => id !== notices[0].id);
  await eventually('it is gone', () => maker.fetchNotifications(), isGone);
});

test('reads whether orders are scoring', async () => {
  const { orderId } = await maker.placeLimitOrder({
    tokenId: yes,
    side: BUY,
    size: 10,
    price: 0.1,
  });
  assert.equal(typeof (await maker.fetchOrderScoring({ orderId })), 'boolean');
  assert.equal(
    typeof (await maker.fetchOrdersScoring({ orderIds: [orderId] }))[orderId],
    'boolean',
  );
  await maker.cancelAll();
});

test('reads books, prices and histories', async () => {
  await maker.placeLimitOrder({ tokenId: yes, side: BUY, size: 30, price: 0.4 });
  await taker.placeLimitOrder({ tokenId: no, side: BUY, size: 30, price: 0.5 });
  const book = await eventually(
    'both sides',
    () => anyone.fetchOrderBook({ tokenId: yes }),
    ({ bids, asks }) => bids.length > 0 && asks.length > 0,
  );
  assert.equal(book.bids.at(-1).price, '0.4');
  assert.equal((await anyone.fetchOrderBooks([{ tokenId: yes }, { tokenId: no }])).length, 2);
  assert.equal(await anyone.fetchMidpoint({ tokenId: yes }), '0.45');
  assert.equal(await anyone.fetchSpread({ tokenId: yes }), '0.1');
  assert.equal(await anyone.fetchPrice({ tokenId: yes, side: BUY }), '0.4');
  assert.equal(Object.keys(await anyone.fetchPrices([{ tokenId: yes, side: BUY }])).length, 1);
  assert.ok((await anyone.fetchLastTradePrice({ tokenId: yes })).price);
  assert.equal((await anyone.fetchLastTradePrices([{ tokenId: yes }])).length, 1);
  const interval = PriceHistoryInterval.ONE_HOUR ?? '1h';
  assert.ok(Array.isArray(await anyone.fetchPriceHistory({ tokenId: yes, interval })));
  const price = await anyone.estimateMarketPrice({ tokenId: yes, side: BUY, amount: 5 });
  assert.equal(price, 0.5);
});

test('reads midpoints and spreads of many', needs('POST /midpoints', 'POST /spreads'), async () => {
  assert.ok(await anyone.fetchMidpoints([{ tokenId: yes }]));
  assert.ok(await anyone.fetchSpreads([{ tokenId: yes }]));
});

test('reads markets, events, series, tags and searches', async () => {
  const markets = await first(anyone.listMarkets({ pageSize: 5 }));
  assert.equal(markets.length, 5);
  let seen = 0;
  for await (const page of anyone.listMarkets({ pageSize: 4 })) seen += page.items.length;
  assert.equal(seen, marketCount);
  const events = await first(anyone.listEvents());
  assert.equal(events.length, eventCount);
  assert.ok(events.every((event) => event.markets.length > 0));
  const market = await anyone.fetchMarket({ slug: 'compat-unified' });
  assert.equal(market.conditionId, conditionId);
  assert.equal((await anyone.fetchMarket({ id: market.id })).slug, 'compat-unified');
  const event = await anyone.fetchEvent({ slug: 'compat-plain' });
  assert.equal((await anyone.fetchEvent({ id: event.id })).markets.length, 5);
  assert.ok((await anyone.fetchEventTags({ id: event.id })).length >= 2);
  assert.ok(Array.isArray(await anyone.fetchMarketTags({ id: market.id })));
  const series = await first(anyone.listSeries());
  assert.equal((await anyone.fetchSeries({ id: series[0].id })).id, series[0].id);
  const tags = await first(anyone.listTags());
  assert.ok(tags.length >= 4);
  const tag = await anyone.fetchTag({ slug: 'compat' });
  assert.ok((await anyone.fetchRelatedTags({ id: tag.id })).length > 0);
  assert.ok((await anyone.fetchRelatedTagResources({ slug: 'compat' })).length > 0);
  const found = await first(anyone.search({ q: 'compat' }));
  assert.equal(found.events.length, eventCount);
  assert.deepEqual(await anyone.listSports(), []);
  assert.ok(await anyone.fetchSportsMarketTypes());
  assert.deepEqual(await first(anyone.listTeams()), []);
  assert.deepEqual(await first(anyone.listMarketClarifications({ marketId: market.id })), []);
});

test('reads positions and holders', async () => {
  const user = accountAt(3).address;
  const positions = await rows(() => anyone.listPositions({ user }));
  assert.equal(positions[0].conditionId, conditionId);
  await rows(() => taker.listPositions());
  await eventually(
    'holders of both outcomes',
    () => anyone.listMarketHolders({ market: [conditionId] }),
    ({ length }) => length === 2,
  );
});

test('reads public trades', needs('GET /trades'), async () => {
  await rows(() => anyone.listTrades({ market: [conditionId] }));
  await rows(() => anyone.listTrades({ user: accountAt(3).address }));
});

test('reads activity', needs('GET /activity'), async () => {
  await rows(() => taker.listActivity());
});

test('reads closed positions', needs('GET /closed-positions'), async () => {
  assert.ok(Array.isArray(await first(taker.listClosedPositions())));
});

test('reads values and counts', needs('GET /value', 'GET /traded'), async () => {
  await eventually(
    'a value',
    () => taker.fetchPortfolioValue(),
    ([{ value }]) => Number(value) > 0,
  );
  await eventually(
    'one traded market',
    () => taker.fetchTradedMarketCount(),
    ({ traded }) => traded === 1,
  );
});

test('reads open interest', needs('GET /oi'), async () => {
  await eventually(
    'the open interest',
    () => anyone.listOpenInterest({ market: [conditionId] }),
    ({ length }) => length === 1,
  );
});

test('reads live volume', needs('GET /live-volume'), async () => {
  const { id } = await anyone.fetchEvent({ slug: 'compat-plain' });
  assert.ok(Array.isArray(await anyone.fetchEventLiveVolume({ id })));
});

test('reads positions of a market', needs('GET /v1/market-positions'), async () => {
  await rows(() => anyone.listMarketPositions({ market: conditionId }));
});

test('reads the leaderboard', needs('GET /v1/leaderboard'), async () => {
  await rows(() => anyone.listTraderLeaderboard());
});

test('reads leaderboards of builders', needs('GET /v1/builders/leaderboard'), async () => {
  assert.ok(Array.isArray(await first(anyone.listBuilderLeaderboard())));
  assert.ok(Array.isArray(await anyone.fetchBuilderVolume()));
});

test('reads rewards', needs('GET /rewards/markets/current'), async () => {
  assert.ok((await first(anyone.listCurrentRewards())).length > 0);
  assert.ok(Array.isArray(await first(anyone.listMarketRewards({ conditionId }))));
  assert.ok(Array.isArray(await first(maker.listUserEarningsForDay({ date: '2026-11-20' }))));
  assert.ok(await maker.fetchRewardPercentages());
});

test('reads profiles', needs('GET /public-profile'), async () => {
  assert.ok(await anyone.fetchPublicProfile({ address: accountAt(3).address }));
});

test('reads comments with their reactions', needs('GET /comments'), async () => {
  const [{ parent_entity_id: parentEntityId }] = await writeComments('compat-plain');
  const asked = { parentEntityId, parentEntityType: 'Event' };
  const comments = await first(anyone.listComments(asked));
  assert.ok(comments.some(({ reactions }) => reactions.length > 0));
  const own = { address: accountAt(authorIndex).address };
  assert.ok((await first(anyone.listCommentsByUserAddress(own))).length > 1);
});

// Builder keys it revokes without any header of proof, which no host can take, so that call is left out.
test('lists, makes and removes keys', async () => {
  const owner = await connect(8);
  // The account has had keys before, which are listed as well.
  assert.ok((await fetchApiKeys(owner)).includes(owner.credentials.key));
  const builder = await createBuilderApiKey(owner);
  assert.ok((await fetchBuilderApiKeys(owner)).some(({ key }) => key === builder.key));
  await owner.endAuthentication();
  await assert.rejects(() => fetchApiKeys(owner), /ended authentication/);
});

test('cancels what is left', async () => {
  for (const client of [maker, taker]) await client.cancelAll();
});

// The streams of published clients, unmodified: @nevuamarkets/poly-websockets, @polymarket/real-time-data-client, the
// subscriptions of @polymarket/client, and the watch methods of ccxt. What they show is what REST shows.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { afterEach, before, test } from 'node:test';
import { TradeStatus } from '@polymarket/bindings';
import { createSecureClient, OrderSide, production } from '@polymarket/client';
import { privateKey } from '@polymarket/client/viem';
import realTimeData from '@polymarket/real-time-data-client';
import ccxt from 'ccxt';
import { ExchangeClient, walletFromPrivateKey } from '../../../client/dist/index.js';
import {
  accountAt,
  baseUrl,
  clobUrl,
  dataUrl,
  eventually,
  gammaUrl,
  keyAt,
  marketAt,
} from './exchange.mjs';

const { conditionId, tokenIds } = marketAt(10);
const [yes, no] = tokenIds;
const { BUY } = OrderSide;
const [makerIndex, takerIndex] = [6, 7];

const streamUrl = (path) => `${baseUrl.replace(/^http/, 'ws')}${path}`;

const fromHere = createRequire(import.meta.url);
const fromPoly = createRequire(fromHere.resolve('@nevuamarkets/poly-websockets'));

// Node 20 has no WebSocket of its own, which @polymarket/client relies on.
globalThis.WebSocket ??= fromPoly('ws').WebSocket;

const environment = {
  ...production,
  clob: {
    ...production.clob,
    rest: clobUrl,
    market: { ws: streamUrl('/clob/ws/market') },
    user: { ws: streamUrl('/clob/ws/user') },
  },
  gamma: { rest: gammaUrl },
  data: { rest: dataUrl },
  rtds: { ws: streamUrl('/ws/live-data') },
};

const connect = (index) =>
  createSecureClient({
    environment,
    signer: privateKey(keyAt(index)),
    wallet: accountAt(index).address,
  });

function connectCcxt(index) {
  const exchange = new ccxt.prediction.polymarket({
    privateKey: keyAt(index),
    walletAddress: accountAt(index).address,
    rateLimit: 1,
    options: { signatureType: 0 },
  });
  const streams = { ws: streamUrl('/ws/market'), wsUser: streamUrl('/ws/user') };
  Object.assign(exchange.urls.api, { gamma: gammaUrl, clob: clobUrl, data: dataUrl, ...streams });
  return exchange;
}

/**
 * The client with its one fixed address replaced below it: the class of the package `ws` that it loads goes to the
 * exchange instead.
 */
function loadPolyWebsockets() {
  const path = fromPoly.resolve('ws');
  const Original = fromPoly('ws');
  class Redirected extends Original {
    constructor(url, ...rest) {
      super(
        String(url).replace('wss://ws-subscriptions-clob.polymarket.com', streamUrl('')),
        ...rest,
      );
    }
  }
  fromPoly.cache[path].exports = Redirected;
  const loaded = fromHere('@nevuamarkets/poly-websockets');
  fromPoly.cache[path].exports = Original;
  return loaded;
}

/** Keeps what a subscription gives until it is closed. */
function collect(handle) {
  const events = [];
  const reading = (async () => {
    for await (const event of handle) events.push(event);
  })();
  return { events, reading };
}

const seen = (what, find) =>
  eventually(
    what,
    async () => find(),
    (found) => found !== undefined,
  );

let maker;
let taker;

before(async () => {
  maker = await connect(makerIndex);
  taker = await connect(takerIndex);
});

afterEach(async () => {
  await Promise.all([maker.cancelAll(), taker.cancelAll()]);
});

/** A level that stays, and a trade against another one. */
async function tradeOnce() {
  await maker.placeLimitOrder({ tokenId: yes, side: BUY, size: 30, price: 0.4 });
  const rest = await maker.placeLimitOrder({ tokenId: yes, side: BUY, size: 50, price: 0.55 });
  const take = await taker.placeLimitOrder({ tokenId: no, side: BUY, size: 20, price: 0.45 });
  assert.equal(take.status, 'matched');
  return { rest, take };
}

test('@polymarket/client follows books, own orders and own trades', async () => {
  const handle = await maker.subscribe([
    { topic: 'market', tokenIds: [yes], customFeatureEnabled: true },
    { topic: 'user' },
  ]);
  const { events, reading } = collect(handle);
  await seen('the first book', () => events.find(({ type }) => type === 'book'));
  const { rest } = await tradeOnce();
  const placed = await seen('the placement', () =>
    events.find(({ payload }) => payload.id === rest.orderId),
  );
  assert.equal(placed.payload.orderEventType, 'PLACEMENT');
  assert.equal(placed.payload.status, 'LIVE');
  const update = await seen('the fill of the order', () =>
    events.find(
      ({ payload }) => payload.id === rest.orderId && payload.orderEventType === 'UPDATE',
    ),
  );
  const stored = await maker.fetchOrder({ orderId: rest.orderId });
  assert.equal(String(update.payload.sizeMatched), '20');
  assert.equal(String(stored.sizeMatched), String(update.payload.sizeMatched));
  assert.deepEqual(update.payload.associateTrades, stored.associateTrades);
  // The client takes the seconds of GET /order for milliseconds.
  assert.equal(Date.parse(update.payload.createdAt) / 1000, Date.parse(stored.createdAt));
  const trades = await eventually(
    'both states of the trade',
    async () => events.filter(({ topic, type }) => topic === 'user' && type === 'trade'),
    ({ length }) => length >= 2,
  );
  assert.deepEqual(
    trades.map(({ payload }) => payload.status),
    [TradeStatus.Matched, TradeStatus.Confirmed],
  );
  const { items } = await maker.listAccountTrades({ market: conditionId }).firstPage();
  assert.equal(items[0].id, trades[1].payload.id);
  assert.equal(items[0].status, trades[1].payload.status);
  await maker.cancelOrder({ orderId: rest.orderId });
  await seen('the cancellation', () =>
    events.find(({ payload }) => payload.orderEventType === 'CANCELLATION'),
  );
  for (const type of ['price_change', 'last_trade_price', 'best_bid_ask'])
    assert.ok(
      events.some((event) => event.type === type),
      type,
    );
  await eventually(
    'the book of REST',
    () => maker.fetchOrderBook({ tokenId: yes }),
    ({ hash }) =>
      events.some(
        ({ type, payload }) =>
          type === 'price_change' && payload.priceChanges.some((change) => change.hash === hash),
      ),
  );
  await handle.close();
  await reading;
});

test('poly-websockets keeps the books of both tokens', async () => {
  const { WSSubscriptionManager } = loadPolyWebsockets();
  const got = { books: [], changes: [], trades: [], errors: [] };
  const manager = new WSSubscriptionManager({
    onBook: async (events) => got.books.push(...events),
    onPriceChange: async (events) => got.changes.push(...events),
    onLastTradePrice: async (events) => got.trades.push(...events),
    onError: async (error) => got.errors.push(error),
  });
  try {
    await manager.addSubscriptions([yes, no, '12345']);
    const isBookOf = (token) => got.books.find(({ asset_id }) => asset_id === token);
    await seen('both books', () => isBookOf(yes) && isBookOf(no));
    await tradeOnce();
    const trade = await seen('the trade', () => got.trades.find(({ asset_id }) => asset_id === no));
    assert.deepEqual([trade.price, trade.size, trade.side], ['0.45', '20', 'BUY']);
    assert.ok(got.changes.length > 0);
    const last = await seen('the book after the trade', () =>
      got.books.findLast(({ asset_id, last_trade_price }) => asset_id === yes && last_trade_price),
    );
    assert.deepEqual(last.bids, [
      { price: '0.4', size: '30' },
      { price: '0.55', size: '30' },
    ]);
    await eventually(
      'the same book by REST',
      async () => (await fetch(`${baseUrl}/book?token_id=${yes}`)).json(),
      ({ hash }) => hash === last.hash,
    );
    assert.deepEqual(got.errors, []);
  } finally {
    await manager.clearState();
  }
});

test('ccxt watches a book, trades, own orders and own trades', async () => {
  const exchange = connectCcxt(makerIndex);
  // ccxt requires this call before its first connection to an address without TLS.
  await exchange.loadHttpProxyAgent();
  try {
    await exchange.fetchOutcomes([yes, no]);
    await exchange.watchOrderBook(yes);
    const watched = {
      trades: exchange.watchTrades(no).catch(() => null),
      orders: exchange.watchOrders(),
      own: exchange.watchMyTrades(),
      ticker: exchange.watchTicker(yes),
    };
    // The first subscription of a token serves all its watchers; another token is its own.
    await exchange.watchOrderBook(no);
    await eventually(
      'the user stream',
      async () => Object.keys(exchange.clients).length,
      (count) => count === 2,
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await tradeOnce();
    const orders = await watched.orders;
    assert.ok(orders.every(({ id, amount }) => id && amount > 0));
    const [own] = await watched.own;
    assert.deepEqual([own.price, own.amount], [0.45, 20]);
    const [trade] = await watched.trades;
    assert.deepEqual([trade.price, trade.amount, trade.side], [0.45, 20, 'buy']);
    assert.ok((await watched.ticker).bid > 0);
    // It resolves with the next change only; the book itself is kept.
    const { outcome } = exchange.safeOutcome(yes);
    const book = await eventually(
      'the rest in the book',
      async () => exchange.orderbooks[outcome],
      ({ bids }) => bids.some(([price, size]) => price === 0.55 && size === 30),
    );
    assert.ok(book.bids.some(([price]) => price === 0.4));
  } finally {
    await exchange.close();
  }
});

test('the real-time data client gets matched orders and comments', async () => {
  const messages = [];
  const client = new realTimeData.RealTimeDataClient({
    host: streamUrl('/ws/live-data'),
    onMessage: (_, message) => messages.push(message),
    onConnect: (connected) => {
      connected.subscribe({
        subscriptions: [
          {
            topic: 'activity',
            type: 'orders_matched',
            filters: JSON.stringify({ event_slug: 'compat-streams' }),
          },
          { topic: 'activity', type: 'trades', filters: '{"event_slug":"compat-plain"}' },
          { topic: 'comments', type: 'comment_created' },
        ],
      });
    },
  });
  const handle = await taker.subscribe([{ topic: 'comments' }]);
  const { events, reading } = collect(handle);
  try {
    client.connect();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const { take } = await tradeOnce();
    assert.ok(take.orderId);
    const matched = await seen('the matched order', () =>
      messages.find(({ topic }) => topic === 'activity'),
    );
    assert.deepEqual(
      [matched.type, matched.payload.eventSlug],
      ['orders_matched', 'compat-streams'],
    );
    assert.deepEqual(
      [matched.payload.asset, matched.payload.size, matched.payload.price],
      [no, 20, 0.45],
    );
    const user = accountAt(takerIndex).address;
    const rows = await eventually(
      'the row of REST',
      async () => (await fetch(`${dataUrl}/activity?user=${user}&market=${conditionId}`)).json(),
      (list) =>
        list.some(({ transactionHash }) => transactionHash === matched.payload.transactionHash),
    );
    const same = rows.find(
      ({ transactionHash }) => transactionHash === matched.payload.transactionHash,
    );
    assert.deepEqual(same, matched.payload);
    const author = new ExchangeClient({ baseUrl, signer: walletFromPrivateKey(keyAt(takerIndex)) });
    await author.connect();
    const [{ id }] = await (await fetch(`${baseUrl}/events?slug=compat-streams`)).json();
    const parent = { parent_entity_type: 'Event', parent_entity_id: id };
    await author.comments.write({
      ...parent,
      body: 'Seen at once.',
      client_id: `live-${Date.now()}`,
    });
    const comment = await seen('the comment', () =>
      messages.find(({ topic }) => topic === 'comments'),
    );
    assert.equal(comment.payload.body, 'Seen at once.');
    const parsed = await seen('the comment in @polymarket/client', () => events[0]);
    assert.equal(parsed.payload.body, 'Seen at once.');
    assert.ok(messages.every(({ payload }) => payload.eventSlug !== 'compat-plain'));
  } finally {
    client.disconnect();
    await handle.close();
    await reading;
  }
});

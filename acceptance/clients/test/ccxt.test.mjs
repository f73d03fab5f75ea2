// ccxt, the library that trading bots use for hundreds of venues; it signs the wallet's proof for chain 137 whatever
// else is set.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import ccxt from 'ccxt';
import {
  accountAt,
  clobUrl,
  dataUrl,
  eventually,
  gammaUrl,
  keyAt,
  marketAt,
  needs,
} from './exchange.mjs';

const { conditionId, tokenIds } = marketAt(2);
const [yes, no] = tokenIds;

/** Signature type 3 with the wallet itself as deposit wallet is its default; 0 is a plain wallet. */
function connect(index, signatureType) {
  const exchange = new ccxt.prediction.polymarket({
    privateKey: keyAt(index),
    walletAddress: accountAt(index).address,
    rateLimit: 1,
    options: { signatureType },
  });
  Object.assign(exchange.urls.api, { gamma: gammaUrl, clob: clobUrl, data: dataUrl });
  return exchange;
}

let maker;
let taker;

before(() => {
  maker = connect(4, 3);
  taker = connect(5, 0);
});

test('reads status and time', async () => {
  assert.equal((await maker.fetchStatus()).status, 'ok');
  assert.ok(Math.abs((await maker.fetchTime()) - Date.now()) < 5000);
});

test('derives the key that it created', async () => {
  const made = await maker.createOrDeriveApiKey();
  assert.deepEqual(await maker.deriveApiKey(), made);
  await taker.createOrDeriveApiKey();
  assert.ok((await maker.clobPrivateGetAuthApiKeys()).apiKeys.includes(made.apiKey));
  const five = await maker.clobPrivatePostAuthApiKey({ nonce: 5 });
  assert.notEqual(five.apiKey, made.apiKey);
});

test('reads markets, events and searches, and the fields that it signs', async () => {
  const markets = await maker.fetchMarkets();
  assert.ok(markets.length >= 9);
  const [event] = await maker.fetchEvents({ slug: 'compat-group' });
  assert.equal(event.markets.length, 3);
  assert.ok((await maker.fetchEvents({ query: 'compat' })).length > 0);
  assert.ok((await maker.fetchEvents({ tags: ['compat'] })).length > 0);
  assert.equal((await maker.fetchEvent(event.id)).id, event.id);
  const fresh = connect(4, 3);
  const outcome = await fresh.fetchOutcome(yes);
  assert.equal(outcome.outcomeId, yes);
  assert.equal(outcome.precision.price, 0.01);
  assert.equal(outcome.negRisk, false);
  await fresh.fetchOutcomes([yes, no]);
  assert.equal((await fresh.fetchTradingFee(yes)).taker, 0);
});

test('posts orders of every lasting type alone and in batches, reads and cancels them', async () => {
  for (const exchange of [maker, taker]) {
    const order = await exchange.createOrder(yes, 'limit', 'buy', 10, 0.2);
    assert.equal(order.status, 'open');
    assert.equal((await exchange.fetchOrder(order.id)).amount, 10);
    const open = await exchange.fetchOpenOrders(yes);
    assert.deepEqual(
      open.map(({ id }) => id),
      [order.id],
    );
    assert.equal((await exchange.cancelOrder(order.id)).status, 'canceled');
  }
  const expiration = String(Math.floor(Date.now() / 1000) + 3600);
  const batch = await maker.createOrders([
    { outcome: yes, type: 'limit', side: 'buy', amount: 10, price: 0.1 },
    {
      outcome: yes,
      type: 'limit',
      side: 'buy',
      amount: 10,
      price: 0.11,
      params: { orderType: 'GTD', expiration },
    },
    {
      outcome: no,
      type: 'limit',
      side: 'buy',
      amount: 10,
      price: 0.12,
      params: { postOnly: true },
    },
  ]);
  assert.deepEqual(
    batch.map(({ status }) => status),
    ['open', 'open', 'open'],
  );
  const [first, second, third] = batch.map(({ id }) => id);
  const gone = await maker.cancelOrders([first]);
  assert.deepEqual(
    gone.map(({ id }) => id),
    [first],
  );
  assert.deepEqual(
    (await maker.cancelAllOrders(yes)).map(({ id }) => id),
    [second],
  );
  assert.deepEqual(
    (await maker.cancelAllOrders()).map(({ id }) => id),
    [third],
  );
});

test('trades, sells, spends a budget, and gets the reasons of refusals', async () => {
  await maker.createOrder(yes, 'limit', 'buy', 200, 0.55);
  const bought = await taker.createOrder(no, 'limit', 'buy', 20, 0.45);
  assert.equal(bought.status, 'closed');
  const spent = await taker.createOrder(no, 'market', 'buy', 7, 0.45, { cost: 7 });
  assert.equal(spent.status, 'closed');
  const some = await taker.createOrder(no, 'limit', 'buy', 10, 0.46, { timeInForce: 'IOC' });
  assert.equal(some.status, 'closed');
  await taker.createOrder(yes, 'limit', 'buy', 20, 0.3);
  await maker.cancelAllOrders();
  const sold = await maker.createOrder(yes, 'market', 'sell', 10, 0.3);
  assert.equal(sold.status, 'closed');
  await taker.cancelAllOrders();
  const poor = maker.createOrder(yes, 'limit', 'buy', 10_000_000, 0.5);
  await assert.rejects(poor, ccxt.InsufficientFunds);
  const alone = taker.createOrder(yes, 'limit', 'buy', 100, 0.02, { timeInForce: 'IOC' });
  await assert.rejects(alone, ccxt.OrderNotFillable);
  await assert.rejects(taker.createOrder(yes, 'limit', 'buy', 1, 0.5), /lower than the minimum/);
});

test('reads own trades, balances, book and price', async () => {
  for (const exchange of [maker, taker]) {
    const trades = await eventually(
      'own trades',
      () => exchange.fetchMyTrades(),
      (rows) => rows.length >= 3,
    );
    assert.ok(trades.every(({ price, amount }) => price > 0 && amount > 0));
    assert.ok((await exchange.fetchBalance()).USDC.total > 0);
  }
  await maker.createOrder(yes, 'limit', 'buy', 30, 0.4);
  await taker.createOrder(no, 'limit', 'buy', 30, 0.58);
  const book = await eventually(
    'both sides',
    () => maker.fetchOrderBook(yes),
    ({ bids, asks }) => bids.length > 0 && asks.length > 0,
  );
  assert.deepEqual(
    [book.bids[0], book.asks[0]],
    [
      [0.4, 30],
      [0.42, 30],
    ],
  );
  const ticker = await maker.fetchTicker(yes);
  assert.deepEqual([ticker.bid, ticker.ask], [0.4, 0.42]);
  assert.ok(Array.isArray(await maker.fetchOHLCV(yes, '1m')));
});

test('reads many prices at once', needs('POST /midpoints'), async () => {
  const tickers = await maker.fetchTickers([yes, no]);
  assert.equal(Object.keys(tickers).length, 2);
});

test('reads public trades', needs('GET /trades'), async () => {
  const trades = await eventually(
    'public trades',
    () => maker.fetchTrades(no),
    (rows) => rows.length > 0,
  );
  assert.ok(trades.every(({ outcomeId }) => outcomeId === no));
});

test('reads open interest', needs('GET /oi'), async () => {
  const interest = await eventually(
    'open interest',
    () => maker.fetchOpenInterest(yes),
    ({ openInterestValue }) => openInterestValue > 0,
  );
  assert.equal(interest.info.market, conditionId);
});

test('reads positions, from a field that no venue sends', async () => {
  assert.deepEqual(await maker.fetchPositions(), []);
  await eventually(
    'positions',
    () => maker.dataPublicGetPositions({ user: maker.walletAddress }),
    (rows) => rows.length > 0,
  );
});

test('beats, and cancels what is left', async () => {
  const { heartbeat_id: first } = await maker.clobPrivatePostV1Heartbeats({ heartbeat_id: '' });
  assert.ok((await maker.clobPrivatePostV1Heartbeats({ heartbeat_id: first })).heartbeat_id);
  for (const exchange of [maker, taker]) await exchange.cancelAllOrders();
});

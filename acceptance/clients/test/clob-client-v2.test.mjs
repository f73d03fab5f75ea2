// @polymarket/clob-client-v2, the trading client in TypeScript.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { AssetType, ClobClient, OrderType, Side } from '@polymarket/clob-client-v2';
import { chainId, clobUrl, eventually, marketAt, needs, walletAt } from './exchange.mjs';

const { conditionId, tokenIds } = marketAt(0);
const [yes, no] = tokenIds;

async function connect(index) {
  const plain = { host: clobUrl, chain: chainId, signer: walletAt(index), throwOnError: true };
  const creds = await new ClobClient(plain).createOrDeriveApiKey();
  return new ClobClient({ ...plain, creds });
}

const limit = (client, tokenID, side, price, size) =>
  client.createOrder({ tokenID, side, price, size });

let maker;
let taker;

before(async () => {
  maker = await connect(0);
  taker = await connect(1);
});

test('reads health, time and version', async () => {
  assert.equal(await maker.getOk(), 'OK');
  assert.ok(Math.abs((await maker.getServerTime()) - Date.now() / 1000) < 5);
  assert.equal(await maker.getVersion(), 2);
});

test('derives the key it created, lists keys, and is not limited to closing', async () => {
  const derived = await maker.deriveApiKey();
  assert.deepEqual(derived, maker.creds);
  const { apiKeys } = await maker.getApiKeys();
  assert.ok(apiKeys.includes(derived.key));
  assert.equal((await maker.getClosedOnlyMode()).closed_only, false);
});

test('reads market lists and the fields it needs for signing', async () => {
  for (const page of [
    await maker.getMarkets(),
    await maker.getSimplifiedMarkets(),
    await maker.getSamplingMarkets(),
    await maker.getSamplingSimplifiedMarkets(),
  ]) {
    assert.ok(page.data.length > 0);
    assert.equal(page.next_cursor, 'LTE=');
  }
  assert.equal((await maker.getMarket(conditionId)).condition_id, conditionId);
  assert.equal((await maker.getClobMarketInfo(conditionId)).mts, 0.01);
  assert.equal(await maker.getTickSize(yes), '0.01');
  assert.equal(await maker.getNegRisk(yes), false);
  assert.equal(await maker.getFeeRateBps(yes), 0);
});

test('posts a resting order, reads it back, and cancels it', async () => {
  const order = await limit(maker, yes, Side.BUY, 0.2, 10);
  const placed = await maker.postOrder(order, OrderType.GTC);
  assert.equal(placed.success, true);
  assert.equal(placed.status, 'live');
  const read = await maker.getOrder(placed.orderID);
  assert.equal(read.status, 'LIVE');
  const open = await maker.getOpenOrders({ market: conditionId });
  assert.ok(open.some(({ id }) => id === placed.orderID));
  const { canceled } = await maker.cancelOrder({ orderID: placed.orderID });
  assert.deepEqual(canceled, [placed.orderID]);
  const gone = await eventually(
    'the canceled order',
    () => maker.getOrder(placed.orderID),
    ({ status }) => status === 'CANCELED',
  );
  assert.equal(gone.size_matched, '0');
});

test('trades, and sees the trade confirmed on both sides', async () => {
  const resting = await maker.postOrder(await limit(maker, yes, Side.BUY, 0.55, 20));
  assert.equal(resting.status, 'live');
  const fill = await taker.postOrder(await limit(taker, no, Side.BUY, 0.45, 20));
  assert.equal(fill.status, 'matched');
  assert.equal(fill.transactionsHashes.length, 1);
  for (const client of [maker, taker]) {
    const trades = await eventually(
      'the trade',
      () => client.getTrades({ market: conditionId }, true),
      (rows) => rows.length > 0,
    );
    assert.equal(trades[0].status, 'CONFIRMED');
  }
});

test('posts market orders by money and by shares, FOK and FAK', async () => {
  await maker.postOrder(await limit(maker, yes, Side.BUY, 0.5, 100));
  const sold = await taker.createAndPostMarketOrder(
    { tokenID: no, side: Side.BUY, amount: 5, price: 0.55 },
    {},
    OrderType.FOK,
  );
  assert.equal(sold.status, 'matched');
  assert.equal(sold.makingAmount, '5');
  const some = await taker
    .createAndPostMarketOrder(
      { tokenID: no, side: Side.SELL, amount: 5, price: 0.01 },
      {},
      OrderType.FAK,
    )
    .catch((error) => error);
  assert.ok(some.status === 'matched' || /no orders found/.test(some.message));
  await assert.rejects(
    () =>
      taker.createAndPostMarketOrder(
        { tokenID: no, side: Side.BUY, amount: 50_000, price: 0.55 },
        {},
        OrderType.FOK,
      ),
    /couldn't be fully filled/,
  );
  await maker.cancelAll();
});

test('posts batches of every resting type, and gets those that cross', async () => {
  const expiration = Math.floor(Date.now() / 1000) + 3600;
  const gtd = await maker.createOrder({
    tokenID: yes,
    side: Side.BUY,
    price: 0.11,
    size: 10,
    expiration,
  });
  const [first, second] = await maker.postOrders([
    { order: await limit(maker, yes, Side.BUY, 0.1, 10), orderType: OrderType.GTC },
    { order: gtd, orderType: OrderType.GTD },
  ]);
  assert.deepEqual([first.status, second.status], ['live', 'live']);
  const [crossing] = await taker.postOrders(
    [{ order: await limit(taker, no, Side.BUY, 0.95, 10), orderType: OrderType.GTC }],
    true,
  );
  assert.equal(crossing.success, false);
  assert.match(crossing.errorMsg, /post-only/);
  const { canceled } = await maker.cancelOrders([first.orderID, second.orderID]);
  assert.deepEqual(new Set(canceled), new Set([first.orderID, second.orderID]));
});

test('cancels by market and everything at once', async () => {
  const place = async () => {
    const order = await limit(maker, yes, Side.BUY, 0.1, 10);
    return (await maker.postOrder(order)).orderID;
  };
  const first = await place();
  assert.deepEqual((await maker.cancelMarketOrders({ market: conditionId })).canceled, [first]);
  const second = await place();
  assert.deepEqual((await maker.cancelMarketOrders({ asset_id: yes })).canceled, [second]);
  const third = await place();
  assert.deepEqual((await maker.cancelAll()).canceled, [third]);
  const { canceled, not_canceled: kept } = await maker.cancelOrders([third]);
  assert.deepEqual(canceled, []);
  assert.match(kept[third], /already canceled or matched/);
});

test('sends heartbeats, and gets the expected id when it sends another', async () => {
  const beating = await connect(2);
  const { heartbeat_id: first } = await beating.postHeartbeat('');
  const { heartbeat_id: second } = await beating.postHeartbeat(first);
  assert.notEqual(first, second);
  await assert.rejects(() => beating.postHeartbeat(first), /Invalid Heartbeat ID/);
  const { heartbeat_id: third } = await beating.postHeartbeat(second);
  assert.notEqual(second, third);
});

test('reads books and prices, and computes the same hash', async () => {
  await maker.postOrder(await limit(maker, yes, Side.BUY, 0.3, 10));
  const book = await eventually(
    'the bid',
    () => maker.getOrderBook(yes),
    ({ bids }) => bids.some(({ price }) => price === '0.3'),
  );
  assert.equal(await maker.getOrderBookHash({ ...book, hash: '' }), book.hash);
  const params = [{ token_id: yes, side: Side.BUY }];
  assert.equal((await maker.getOrderBooks(params)).length, 1);
  assert.equal((await maker.getPrices([{ token_id: yes, side: Side.BUY }]))[yes].BUY, '0.3');
  assert.equal((await maker.getPrice(yes, Side.BUY)).price, '0.3');
  assert.ok((await maker.getLastTradePrice(yes)).price);
  assert.equal((await maker.getLastTradesPrices(params)).length, 1);
  assert.ok(Array.isArray((await maker.getPricesHistory({ market: yes, interval: '1h' })).history));
  await maker.cancelAll();
});

test('reads midpoints and spreads of many', needs('POST /midpoints', 'POST /spreads'), async () => {
  const params = [{ token_id: yes, side: Side.BUY }];
  for (const answer of [await maker.getMidpoints(params), await maker.getSpreads(params)]) {
    assert.equal(typeof answer, 'object');
  }
});

test('reads rewards', needs('GET /rewards/markets/current', 'GET /rewards/user'), async () => {
  assert.ok(Array.isArray(await maker.getCurrentRewards()));
  assert.ok(Array.isArray(await maker.getEarningsForUserForDay('2026-11-20')));
});

test('reads balances, notifications, scoring and recent trades', async () => {
  const { balance, allowances } = await maker.getBalanceAllowance({
    asset_type: AssetType.COLLATERAL,
  });
  assert.ok(BigInt(balance) > 0n);
  assert.ok(Object.keys(allowances).length > 0);
  const shares = await maker.getBalanceAllowance({
    asset_type: AssetType.CONDITIONAL,
    token_id: yes,
  });
  assert.ok(BigInt(shares.balance) > 0n);
  await maker.updateBalanceAllowance({ asset_type: AssetType.COLLATERAL });
  const notices = await maker.getNotifications();
  assert.ok(notices.length > 0);
  await maker.dropNotifications({ ids: [String(notices[0].id)] });
  const { orderID } = await maker.postOrder(await limit(maker, yes, Side.BUY, 0.1, 10));
  assert.equal(typeof (await maker.isOrderScoring({ order_id: orderID })).scoring, 'boolean');
  assert.equal(typeof (await maker.areOrdersScoring({ orderIds: [orderID] }))[orderID], 'boolean');
  await maker.cancelAll();
  assert.ok(Array.isArray(await maker.getMarketTradesEvents(conditionId)));
  assert.ok(Array.isArray(await maker.getPreMigrationOrders()));
});

test('makes and removes keys that only read, builder keys, and its own key', async () => {
  const owner = await connect(3);
  const { apiKey } = await owner.createReadonlyApiKey();
  assert.ok((await owner.getReadonlyApiKeys()).includes(apiKey));
  assert.equal(await owner.deleteReadonlyApiKey(apiKey), true);
  const builder = await owner.createBuilderApiKey();
  assert.ok((await owner.getBuilderApiKeys()).some(({ key }) => key === builder.key));
  assert.equal(await owner.revokeBuilderApiKey(), 'OK');
  assert.equal(await owner.deleteApiKey(), 'OK');
  await assert.rejects(() => owner.getApiKeys(), /Unauthorized/);
});

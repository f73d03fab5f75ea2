import type { CommandResult } from '@pm/domain/commands/result-waiters';
import type { Reservation, ReserveOutcome } from '@pm/domain/ledger/ledger';
import { hexBytes, tokenIdFromBytes } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { Command, PlaceOrder } from '@pm/schemas/log/orders';
import { tradeHash } from '@pm/schemas/trade-id';
import {
  answered,
  type IngressUnderTest,
  lateMarket,
  market,
  nowSeconds,
  openIngress,
  owner,
  place,
  placeOne,
  restsAs,
  signedItem,
  testOrder,
} from '../ingress-fixture.ts';
import { walletOf } from '../wallet-fixture.ts';

let ingress: IngressUnderTest;
beforeEach(async () => {
  ingress = await openIngress();
});
afterEach(() => ingress.app.close());

const fillOf = (command: PlaceOrder): ExecutionEvent => ({
  kind: 'Fill',
  command: 0,
  market: 1,
  match: 'COMPLEMENTARY',
  sizeMicro: 4_000_000,
  takerOrderId: command.orderId,
  taker: command.maker,
  takerKey: command.apiKey,
  takerOutcome: 0,
  takerSide: command.side,
  takerPrice: 5000,
  takerBuilder: command.builder,
  makerOrderId: Buffer.alloc(32),
  maker: Buffer.alloc(20),
  makerKey: Buffer.alloc(16),
  makerOutcome: 0,
  makerSide: 'SELL',
  makerPrice: 5000,
  makerBuilder: Buffer.alloc(32),
  makerRestMicro: 0,
  feeMicro: 0,
  feeRateBps: 0,
});

const placedOf = (command: PlaceOrder, change: object): ExecutionEvent => ({
  ...command,
  kind: 'OrderPlaced',
  command: 0,
  status: 'LIVE',
  filledMicro: 0,
  paidMicro: 0,
  feeMicro: 0,
  restingMicro: 0,
  ...change,
});

test('an order that rests is live, under its EIP-712 hash', async () => {
  const { item, hash } = signedItem(testOrder());
  const { status, body } = await placeOne(ingress, item);
  expect(status).toBe(200);
  expect(body).toEqual({
    success: true,
    errorMsg: '',
    orderID: hash,
    orderHash: hash,
    status: 'live',
    makingAmount: '',
    takingAmount: '',
    transactionsHashes: [],
    tradeIDs: [],
  });
  const command = ingress.fakes.sent[0]?.command as PlaceOrder;
  expect(ingress.fakes.sent[0]?.partition).toBe(market.partition);
  expect(command).toMatchObject({
    market: 1,
    outcome: 0,
    price: 5200,
    sizeMicro: 10_000_000,
    budgetMicro: 0,
    holdMicro: 5_200_000,
    generation: 3,
    expiresAtMs: 0,
  });
  expect(`0x${command.signer.toString('hex')}`).toBe(owner.address);
});

test.each(['LIVE', 'MATCHED', 'CANCELED'] as const)(
  'fills are matched with human amounts and named trades, whatever rests (%s)',
  async (status) => {
    ingress.fakes.answer = (command) => {
      const sums = { status, filledMicro: 4_000_000, paidMicro: 2_000_000 };
      return answered([fillOf(command as PlaceOrder), placedOf(command as PlaceOrder, sums)]);
    };
    const buy = await placeOne(ingress, signedItem(testOrder()).item);
    expect(buy.body).toMatchObject({ status: 'matched', makingAmount: '2', takingAmount: '4' });
    expect(buy.body.tradeIDs).toEqual(['1-42-0']);
    expect(buy.body.transactionsHashes).toEqual([tradeHash('1-42-0')]);
    expect(buy.body).not.toHaveProperty('error');
    const sell = { side: 'SELL', makerAmount: '10000000', takerAmount: '5200000' } as const;
    const sold = await placeOne(ingress, signedItem(testOrder(sell)).item);
    expect(sold.body).toMatchObject({ makingAmount: '4', takingAmount: '2' });
  },
);

/** A ledger that refuses every hold but one of nothing. */
function unlessNothing(outcome: ReserveOutcome) {
  return ({ amountMicro }: Reservation) => (amountMicro === 0 ? 'already' : outcome);
}

/** Result of the matcher for an order that holds nothing and that it does not know. */
function refusedForMoney(command: Command): CommandResult {
  const { orderId, maker } = command as PlaceOrder;
  const code = 'insufficient_balance_or_allowance';
  const event = { kind: 'OrderRefused', command: 0, orderId, maker, code } as ExecutionEvent;
  return answered([event]);
}

/** Result of the matcher for an order that had two fills when it was placed. */
function repeatedAs(command: Command): CommandResult {
  const { orderId, maker } = command as PlaceOrder;
  const sums = { alive: false, code: null, status: 'MATCHED', side: 'BUY' } as const;
  const amounts = { filledMicro: 4_000_000, paidMicro: 2_000_000 };
  const place = { placedAtOffset: 17, firstFill: 2, fillCount: 2 };
  const what = { orderId, maker, ...sums, ...amounts, ...place };
  return answered([{ kind: 'OrderRepeated', command: 0, ...what }]);
}

test('a repeated order gets its first result, from the log or from memory before any money is asked for', async () => {
  const { item, hash } = signedItem(testOrder());
  ingress.fakes.answer = repeatedAs;
  const first = await placeOne(ingress, item);
  expect(first.body).toMatchObject({ success: true, status: 'matched', orderID: hash });
  expect(first.body.tradeIDs).toEqual(['1-17-2', '1-17-3']);
  expect(first.body.transactionsHashes).toEqual(['1-17-2', '1-17-3'].map(tradeHash));
  const kept = { kind: 'placed', orderId: hash, side: 'BUY', status: 'MATCHED' } as const;
  const amounts = { filledMicro: 4_000_000, paidMicro: 2_000_000, trades: [] };
  ingress.memory.keep({ ...kept, ...amounts }, 1, 0);
  ingress.fakes.reserve = 'insufficient';
  const again = await placeOne(ingress, item);
  expect(again.body).toMatchObject({ success: true, status: 'matched', makingAmount: '2' });
  expect(ingress.fakes.reserved).toHaveLength(1);
});

test('a repeated order says that it is one, and whether it rests by now, from the log and from memory', async () => {
  const { item, hash } = signedItem(testOrder());
  const repeated = (alive: boolean) => (command: Command) => {
    const { events, ...executed } = repeatedAs(command) as Extract<
      CommandResult,
      { kind: 'executed' }
    >;
    const first = { status: 'LIVE', filledMicro: 0, paidMicro: 0, fillCount: 0, alive };
    const event = { ...events[0]?.event, ...first } as ExecutionEvent;
    return { ...executed, events: [{ index: 0, event }] };
  };
  const isRepeated = { success: true, status: 'live', repeated: true };
  for (const alive of [true, false]) {
    ingress.fakes.answer = repeated(alive);
    expect((await placeOne(ingress, item)).body).toMatchObject({ ...isRepeated, alive });
  }
  const sums = { filledMicro: 0, paidMicro: 0, trades: [] };
  ingress.memory.keep(
    { kind: 'placed', orderId: hash, side: 'BUY', status: 'LIVE', ...sums },
    1,
    0,
  );
  expect((await placeOne(ingress, item)).body).toMatchObject({ ...isRepeated, alive: true });
  ingress.memory.end(hexBytes(hash));
  expect((await placeOne(ingress, item)).body).toMatchObject({ ...isRepeated, alive: false });
});

test('the first result of an order has no mark of a repetition', async () => {
  ingress.fakes.answer = (command) => restsAs(command as PlaceOrder);
  const { body } = await placeOne(ingress, signedItem(testOrder()).item);
  expect(Object.keys(body)).toEqual(expect.not.arrayContaining(['repeated', 'alive']));
});

test('a repeated order whose money is spent gets its first result from a process that has just started', async () => {
  const fresh = await openIngress(undefined, Number.MAX_SAFE_INTEGER);
  fresh.fakes.reserve = unlessNothing('insufficient');
  const { item, hash } = signedItem(testOrder());
  fresh.fakes.answer = (command) => {
    expect(command).toMatchObject({ holdMicro: 0 });
    return repeatedAs(command);
  };
  const again = await placeOne(fresh, item);
  expect(again.body).toMatchObject({ success: true, status: 'matched', orderID: hash });
  expect(fresh.fakes.givenBack).toEqual([]);
  await fresh.app.close();
});

test('an order that is on its way with another hold is asked for without money', async () => {
  ingress.fakes.reserve = unlessNothing('conflict');
  const { item, hash } = signedItem(testOrder());
  ingress.fakes.answer = (command) => {
    expect(command).toMatchObject({ holdMicro: 0 });
    return repeatedAs(command);
  };
  const known = await placeOne(ingress, item);
  expect(known.body).toMatchObject({ success: true, status: 'matched', orderID: hash });
  ingress.fakes.answer = refusedForMoney;
  const unknown = await placeOne(ingress, signedItem(testOrder()).item);
  expect([unknown.status, unknown.body.code]).toEqual([422, 'idempotency_key_reused']);
});

test('an order id that is held for something else is refused and never sent', async () => {
  ingress.fakes.reserve = 'conflict';
  const { status, body } = await placeOne(ingress, signedItem(testOrder()).item);
  expect([status, body.code, ingress.fakes.sent]).toEqual([422, 'idempotency_key_reused', []]);
  ingress.fakes.reserve = 'busy';
  const busy = await placeOne(ingress, signedItem(testOrder()).item);
  expect([busy.status, busy.body.code, ingress.fakes.sent]).toEqual([503, 'overloaded', []]);
});

test('the same order twice at once is sent once', async () => {
  const { item } = signedItem(testOrder());
  ingress.fakes.answer = async (command) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return restsAs(command);
  };
  const both = await Promise.all([placeOne(ingress, item), placeOne(ingress, item)]);
  expect(both.map(({ body }) => body.status)).toEqual(['live', 'live']);
  expect(ingress.fakes.sent).toHaveLength(1);
});

test('a batch returns the result of each item in its place', async () => {
  const good = signedItem(testOrder());
  const bad = signedItem(testOrder({ makerAmount: '5200001' }));
  const forged = signedItem(testOrder(), {}, walletOf(9));
  const version1 = { order: { nonce: '0', feeRateBps: '0', taker: owner.address } };
  const items = [good.item, bad.item, version1, forged.item, good.item];
  const { status, body } = await place(ingress, items);
  expect(status).toBe(200);
  expect(body.map((one: { code?: string }) => one.code)).toEqual([
    undefined,
    'invalid_tick_size',
    'order_version_mismatch',
    'invalid_signature',
    'duplicate',
  ]);
  expect(body[1]).toEqual({
    success: false,
    errorMsg: `order ${bad.hash} is invalid. Price (0.52) breaks minimum tick size rule: 0.01`,
    orderID: '',
    orderHash: '',
    status: '',
    makingAmount: '',
    takingAmount: '',
    code: 'invalid_tick_size',
  });
  expect(body[4].errorMsg).toBe(`order ${good.hash} is invalid. Duplicated.`);
});

test('an order in a market that was listed a moment ago is placed once that is read', async () => {
  const lateToken = tokenIdFromBytes(lateMarket.token0);
  const { item } = signedItem(testOrder({ tokenId: lateToken }));
  expect((await placeOne(ingress, item)).body).toMatchObject({ code: 'market_not_found' });
  ingress.fakes.lateMarkets.push(lateMarket);
  expect((await placeOne(ingress, item)).body).toMatchObject({ success: true, status: 'live' });
});

const soon = String(nowSeconds + 179);
const refusals: readonly [string, number, () => object][] = [
  ['owner_mismatch', 400, () => ({ ...signedItem(testOrder()).item, owner: 'x' })],
  ['market_not_found', 400, () => signedItem(testOrder({ tokenId: '5' })).item],
  ['invalid_amounts', 400, () => signedItem(testOrder({ takerAmount: '0' })).item],
  ['invalid_amounts', 400, () => signedItem(testOrder({ takerAmount: '9'.repeat(77) })).item],
  [
    'invalid_size',
    400,
    () => signedItem(testOrder({ makerAmount: '520000', takerAmount: '1000000' })).item,
  ],
  ['invalid_expiration', 400, () => withOrder({ expiration: '5' })],
  ['invalid_expiration', 400, () => ({ ...withOrder({ expiration: soon }), orderType: 'GTD' })],
  [
    'invalid_post_only_order_type',
    400,
    () => ({ ...signedItem(testOrder()).item, orderType: 'FOK', postOnly: true }),
  ],
  ['invalid_order_type', 400, () => ({ ...signedItem(testOrder()).item, orderType: 'IOC' })],
  ['signer_mismatch', 400, () => signedItem(testOrder({ signer: walletOf(9).address })).item],
  ['signer_mismatch', 400, () => signedItem(testOrder({ maker: walletOf(9).address })).item],
  ['condition_mismatch', 400, () => withOrder({ conditionId: `0x${'00'.repeat(32)}` })],
  ['invalid_signature', 400, () => signedItem(testOrder(), {}, walletOf(9)).item],
];

function withOrder(change: object) {
  const { item } = signedItem(testOrder());
  return { ...item, order: { ...item.order, ...change } };
}

test.each(refusals)(
  'a single order refused as %s is answered with %i and both texts',
  async (code, status, make) => {
    const answer = await placeOne(ingress, make());
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ success: false, code, orderID: '', status: '' });
    expect(answer.body.error).toBe(answer.body.errorMsg);
    expect(ingress.fakes.sent).toHaveLength(0);
  },
);

test.each([
  ['POST_ONLY', 503, 'post_only_mode'],
  ['CANCEL_ONLY', 503, 'cancel_only'],
  ['HALTED', 409, 'condition_paused'],
  ['RESOLVED', 400, 'market_resolved'],
] as const)('a market that is %s answers %i %s', async (mode, status, code) => {
  ingress.markets.take({ ...market, mode });
  const answer = await placeOne(ingress, signedItem(testOrder()).item);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  const postOnly = await placeOne(ingress, signedItem(testOrder(), { postOnly: true }).item);
  expect(postOnly.status).toBe(mode === 'POST_ONLY' ? 200 : status);
});

test('closed markets take nothing', async () => {
  ingress.markets.take({ ...market, closed: true });
  const closed = await placeOne(ingress, signedItem(testOrder()).item);
  expect(closed.body.code).toBe('market_not_ready');
  ingress.markets.take({ ...market, payout0: 10_000 });
  const resolved = await placeOne(ingress, signedItem(testOrder()).item);
  expect(resolved.body.code).toBe('market_resolved');
});

test('no order is taken while a resolution is proposed, and the mode counts again after a challenge', async () => {
  const proposal = { proposedPayout0: 10_000, paysAtMs: 1 };
  ingress.markets.take({ ...market, ...proposal });
  const proposed = await placeOne(ingress, signedItem(testOrder()).item);
  expect([proposed.status, proposed.body.code]).toEqual([503, 'cancel_only']);
  expect(ingress.fakes.sent).toHaveLength(0);
  ingress.markets.take({ ...market, ...proposal, proposedPayout0: -1, challengedAtMs: 1 });
  expect((await placeOne(ingress, signedItem(testOrder()).item)).status).toBe(200);
});

test('money that cannot be held refuses, and gives nothing to the log', async () => {
  ingress.fakes.reserve = 'insufficient';
  const poor = await placeOne(ingress, signedItem(testOrder()).item);
  expect([poor.status, poor.body.code]).toEqual([400, 'insufficient_balance_or_allowance']);
  ingress.fakes.reserve = 'not_ready';
  const rebuilt = await placeOne(ingress, signedItem(testOrder()).item);
  expect([rebuilt.status, rebuilt.headers['retry-after']]).toEqual([503, '1']);
  expect(rebuilt.body.code).toBe('ledger_not_ready');
  expect(ingress.fakes.sent).toHaveLength(0);
});

test('a silent partition is 425 for the request when nothing else can be placed, otherwise for its items', async () => {
  ingress.fakes.ready = false;
  const single = await placeOne(ingress, signedItem(testOrder()).item);
  expect([single.status, single.headers['retry-after']]).toEqual([425, '1']);
  expect(single.body).toMatchObject({ success: false, code: 'partition_not_ready', orderID: '' });
  expect(single.body.error).toBe(single.body.errorMsg);
  const all = await place(ingress, [signedItem(testOrder()).item, signedItem(testOrder()).item]);
  expect([all.status, all.body.code, all.headers['retry-after']]).toEqual([
    425,
    'partition_not_ready',
    '1',
  ]);
  const mixed = await place(ingress, [
    signedItem(testOrder()).item,
    signedItem(testOrder({ tokenId: '5' })).item,
  ]);
  expect(mixed.status).toBe(200);
  expect(mixed.body[0]).toMatchObject({ code: 'partition_not_ready', retry_after_seconds: 1 });
});

test('an order that certainly never left gives its money back; one that may have left is unconfirmed', async () => {
  ingress.fakes.answer = () => ({ kind: 'unsent', code: 'overloaded' });
  const { item, hash } = signedItem(testOrder());
  const unsent = await placeOne(ingress, item);
  expect([unsent.status, unsent.body.code]).toEqual([503, 'overloaded']);
  expect(ingress.fakes.givenBack).toEqual([hash]);
  ingress.fakes.answer = () => ({ kind: 'pending' });
  const late = signedItem(testOrder());
  const unconfirmed = await placeOne(ingress, late.item);
  const text = `the order is not confirmed yet: send the same signed order again, or ask GET /data/order/${late.hash}`;
  expect([unconfirmed.status, unconfirmed.headers['retry-after'], unconfirmed.body]).toEqual([
    503,
    '1',
    {
      success: false,
      errorMsg: text,
      error: text,
      orderID: late.hash,
      orderHash: late.hash,
      status: '',
      makingAmount: '',
      takingAmount: '',
      code: 'order_unconfirmed',
      retry_after_seconds: 1,
    },
  ]);
  const batch = await place(ingress, [late.item]);
  expect([batch.status, batch.body]).toMatchObject([
    200,
    [{ success: false, code: 'order_unconfirmed', orderID: late.hash, retry_after_seconds: 1 }],
  ]);
  const followed = ingress.fakes.unconfirmed.map(
    ({ order }) => `0x${order.orderId.toString('hex')}`,
  );
  expect(followed).toEqual([late.hash, late.hash]);
  ingress.fakes.answer = () => ({ kind: 'rejected' });
  const rejected = await placeOne(ingress, signedItem(testOrder()).item);
  expect([rejected.status, rejected.body.code]).toEqual([500, 'internal_error']);
  ingress.fakes.answer = () => answered([]);
  expect((await placeOne(ingress, signedItem(testOrder()).item)).body.code).toBe('internal_error');
  expect(ingress.fakes.givenBack).toHaveLength(1);
});

test('a full queue of signatures is 503 for the request', async () => {
  ingress.fakes.signaturesFull = true;
  const { status, body, headers } = await place(ingress, [signedItem(testOrder()).item]);
  expect([status, body.code, headers['retry-after']]).toEqual([503, 'overloaded', '1']);
});

test('an order that was taken and ended without a fill met an order of the same owner', async () => {
  ingress.fakes.answer = (command) =>
    answered([placedOf(command as PlaceOrder, { status: 'CANCELED' })]);
  const { body } = await placeOne(ingress, signedItem(testOrder()).item);
  expect([body.success, body.code]).toEqual([false, 'self_trade']);
});

test('the matcher refuses with the facts of the order', async () => {
  ingress.fakes.answer = (command) => {
    const { orderId, maker, apiKey } = command as PlaceOrder;
    return answered([
      { kind: 'OrderRefused', command: 0, orderId, market: 1, maker, apiKey, code: 'invalid_size' },
    ]);
  };
  const { item, hash } = signedItem(testOrder());
  const { body } = await placeOne(ingress, item);
  expect(body.errorMsg).toBe(`order ${hash} is invalid. Size (10) lower than the minimum: 5`);
});

test('GTD leaves the book a minute before its time; market buys are budgets', async () => {
  const expiration = nowSeconds + 600;
  const gtd = withOrder({ expiration: String(expiration) });
  await placeOne(ingress, { ...gtd, orderType: 'GTD' });
  const market = signedItem(testOrder({ makerAmount: '10000000', takerAmount: '19230700' }), {
    orderType: 'FAK',
  });
  await placeOne(ingress, market.item);
  expect(ingress.fakes.sent.map(({ command }) => command)).toMatchObject([
    { expiresAtMs: (expiration - 60) * 1000, timeInForce: 'GTD' },
    { price: 5200, budgetMicro: 10_000_000, sizeMicro: 19_230_000, timeInForce: 'FAK' },
  ]);
});

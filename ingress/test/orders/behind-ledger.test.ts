import type { CommandResult } from '@pm/domain/commands/result-waiters';
import type { Reservation, ReserveOutcome } from '@pm/domain/ledger/ledger';
import type { Command, PlaceOrder } from '@pm/schemas/log/orders';
import {
  answered,
  type IngressUnderTest,
  market,
  nowSeconds,
  openIngress,
  placeOne,
  signedItem,
  testOrder,
} from '../ingress-fixture.ts';

// The ledger follows the log on its own, and is ahead of the results that the process has read.
let ingress: IngressUnderTest;
beforeEach(async () => {
  ingress = await openIngress();
  ingress.fakes.mark = 1;
});
afterEach(() => ingress.app.close());

/** The matcher knows the order: it rests since an earlier attempt. */
function rests(command: Command): CommandResult {
  expect(command).toMatchObject({ holdMicro: 0 });
  const { orderId, maker } = command as PlaceOrder;
  const first = { alive: true, code: null, status: 'LIVE', side: 'BUY' } as const;
  const fills = { filledMicro: 0, paidMicro: 0, placedAtOffset: -1, firstFill: -1, fillCount: 0 };
  return answered([{ kind: 'OrderRepeated', command: 0, orderId, maker, ...first, ...fills }]);
}

/** A ledger whose money is spent. */
const spent = ({ amountMicro }: Reservation): ReserveOutcome =>
  amountMicro === 0 ? 'reserved' : 'insufficient';

/** Result of the matcher for an order that holds nothing and that it does not know. */
function isUnknown(command: Command): CommandResult {
  const { orderId, maker, apiKey } = command as PlaceOrder;
  const code = 'insufficient_balance_or_allowance';
  return answered([{ kind: 'OrderRefused', command: 0, orderId, market: 1, maker, apiKey, code }]);
}

const resolved = { ...market, payout0: 10_000 };
const proposed = { ...market, proposedPayout0: 10_000, paysAtMs: 1 };

test('an order that is on the book is not refused for the money that it took itself', async () => {
  ingress.fakes.reserve = spent;
  ingress.fakes.answer = rests;
  const { item, hash } = signedItem(testOrder());
  expect((await placeOne(ingress, item)).body).toMatchObject({ status: 'live', orderID: hash });
});

test('an order is refused for its money without the log where everything has been read', async () => {
  ingress.fakes.reserve = spent;
  ingress.readOffsets.note(1, 1);
  const refused = await placeOne(ingress, signedItem(testOrder()).item);
  expect(refused.body.code).toBe('insufficient_balance_or_allowance');
  expect(ingress.fakes.sent).toEqual([]);
});

test('a result that is read while the money is asked for counts instead of the refusal', async () => {
  const { item, hash } = signedItem(testOrder());
  ingress.fakes.reserve = (reservation) => {
    const sums = { filledMicro: 0, paidMicro: 0, trades: [] };
    const kept = { kind: 'placed', orderId: hash, side: 'BUY', status: 'LIVE' } as const;
    ingress.memory.keep({ ...kept, ...sums }, 1, 0);
    ingress.readOffsets.note(1, 1);
    return spent(reservation);
  };
  expect((await placeOne(ingress, item)).body).toMatchObject({ status: 'live', orderID: hash });
  expect(ingress.fakes.sent).toEqual([]);
});

test('a caller that has used up requests without money is told to wait, nothing for good', async () => {
  ingress.fakes.reserve = spent;
  ingress.fakes.unfunded.wait = 7;
  const limited = await placeOne(ingress, signedItem(testOrder()).item);
  expect(limited.body).toMatchObject({ code: 'rate_limited', retry_after_seconds: 7 });
});

test.each<[string, () => void]>([
  ['by a process that is behind', () => {}],
  [
    'while a record of it is on its way',
    () => {
      ingress.readOffsets.note(1, 1);
      ingress.fakes.reserve = 'already';
    },
  ],
])('an order of a market that is closed by now is not refused %s', async (_name, prepare) => {
  prepare();
  ingress.markets.take(resolved);
  ingress.fakes.answer = rests;
  const { item, hash } = signedItem(testOrder());
  expect((await placeOne(ingress, item)).body).toMatchObject({ status: 'live', orderID: hash });
});

test('a new order of a closed market is refused without the log, and leaves nothing reserved', async () => {
  ingress.readOffsets.note(1, 1);
  ingress.markets.take(resolved);
  const { item, hash } = signedItem(testOrder());
  expect((await placeOne(ingress, item)).body.code).toBe('market_resolved');
  expect([ingress.fakes.sent, ingress.fakes.givenBack]).toEqual([[], [hash]]);
});

test('an order that the matcher does not know gets the refusal of its closed market', async () => {
  ingress.markets.take(resolved);
  ingress.fakes.answer = isUnknown;
  const refused = await placeOne(ingress, signedItem(testOrder()).item);
  expect(refused.body.code).toBe('market_resolved');
});

test.each([
  ['with a proposed resolution', proposed, 'cancel_only'],
  ['that is closed', { ...market, closed: true }, 'market_not_ready'],
  ['that is archived', { ...market, archived: true }, 'market_not_ready'],
  ['that is not active', { ...market, active: false }, 'market_not_ready'],
])(
  'an order for a market %s is never sent, and unconfirmed while it may have been placed',
  async (...facts) => {
    const [, decided, code] = facts;
    ingress.markets.take(decided);
    const { item, hash } = signedItem(testOrder(sold));
    const open = await placeOne(ingress, item);
    expect([open.status, open.body]).toMatchObject([
      503,
      { code: 'order_unconfirmed', orderID: hash },
    ]);
    ingress.readOffsets.note(1, 1);
    expect((await placeOne(ingress, item)).body.code).toBe(code);
    expect([ingress.fakes.sent, ingress.fakes.givenBack]).toEqual([[], [hash, hash]]);
  },
);

test('an order of a market that was closed since gets its first result', async () => {
  ingress.markets.take({ ...market, closed: true });
  const { item, hash } = signedItem(testOrder());
  const sums = { filledMicro: 0, paidMicro: 0, trades: [] };
  const kept = { kind: 'placed', orderId: hash, side: 'BUY', status: 'LIVE' } as const;
  ingress.memory.keep({ ...kept, ...sums }, 1, 0);
  expect((await placeOne(ingress, item)).body).toMatchObject({ status: 'live', orderID: hash });
});

test('an expiration in milliseconds is refused by a process that may have forgotten results', async () => {
  const started = await openIngress(undefined, nowSeconds * 1_000);
  const { item } = signedItem(testOrder(sold), { orderType: 'GTD' });
  const timed = { ...item, order: { ...item.order, expiration: String(nowSeconds * 1_000) } };
  expect((await placeOne(started, timed)).body.code).toBe('invalid_expiration');
  expect(started.fakes.sent).toEqual([]);
  await started.app.close();
});

test('a process that has just started refuses what operators forbid only if it was signed since', async () => {
  const startedAtMs = nowSeconds * 1_000;
  const started = await openIngress(undefined, startedAtMs);
  started.markets.take(proposed);
  const signedAt = (aheadMs: number) =>
    signedItem(testOrder({ timestamp: String(startedAtMs + aheadMs) }));
  // As far as the clock of a caller may be ahead.
  const { item, hash } = signedAt(30_000);
  const before = await placeOne(started, item);
  expect([before.status, before.body]).toMatchObject([
    503,
    { code: 'order_unconfirmed', orderID: hash },
  ]);
  expect((await placeOne(started, signedAt(30_001).item)).body.code).toBe('cancel_only');
  expect(started.fakes.sent).toEqual([]);
  await started.app.close();
});

/** A sale, which the matcher books without a hold. */
const sold = { side: 'SELL', makerAmount: '10000000', takerAmount: '5000000' } as const;

/** Within the tolerance of a tick of 0.01, and of no finer one but 0.0001. */
const soldAtOnce = { side: 'SELL', makerAmount: '10000000', takerAmount: '9700600' } as const;

/** Changes of a market by an operator or by the prices of trades, each with an order that was placed before. */
const changedRules: readonly [string, object, () => ReturnType<typeof signedItem>, string][] = [
  [
    'invalid_size',
    { minSizeMicro: 20_000_000 },
    () => signedItem(testOrder()),
    'Size (10) lower than the minimum: 20',
  ],
  [
    'invalid_tick_size',
    { tick: 10 },
    () => signedItem(testOrder(soldAtOnce), { orderType: 'FAK' }),
    'Price (0.97006) breaks minimum tick size rule: 0.001',
  ],
];

describe.each(changedRules)(
  'an order that later rules refuse as %s',
  (code, change, make, text) => {
    beforeEach(() => ingress.markets.take({ ...market, ...change }));

    test('gets its first result where a process knows it', async () => {
      const { item, hash } = make();
      const sums = { filledMicro: 0, paidMicro: 0, trades: [] };
      const kept = { kind: 'placed', orderId: hash, side: 'BUY', status: 'LIVE' } as const;
      ingress.memory.keep({ ...kept, ...sums }, 1, 0);
      expect((await placeOne(ingress, item)).body).toMatchObject({ status: 'live', orderID: hash });
      expect(ingress.fakes.sent).toEqual([]);
    });

    test('gets it from the log where the process is behind', async () => {
      ingress.fakes.answer = rests;
      const { item, hash } = make();
      expect((await placeOne(ingress, item)).body).toMatchObject({ status: 'live', orderID: hash });
    });

    test('is refused without the log where everything has been read', async () => {
      ingress.readOffsets.note(1, 1);
      const { item, hash } = make();
      const { body } = await placeOne(ingress, item);
      expect([body.code, body.errorMsg]).toEqual([code, `order ${hash} is invalid. ${text}`]);
      expect([ingress.fakes.sent, ingress.fakes.givenBack]).toEqual([[], [hash]]);
    });

    test('is refused in the same words where the matcher does not know it', async () => {
      ingress.fakes.answer = isUnknown;
      const { item, hash } = make();
      const { body } = await placeOne(ingress, item);
      expect([body.code, body.errorMsg]).toEqual([code, `order ${hash} is invalid. ${text}`]);
    });

    test('is unconfirmed while another record of it is on its way with money', async () => {
      ingress.fakes.reserve = 'already';
      ingress.fakes.answer = isUnknown;
      const { item, hash } = make();
      const { status, body } = await placeOne(ingress, item);
      expect([status, body]).toMatchObject([503, { code: 'order_unconfirmed', orderID: hash }]);
    });
  },
);

import type { Execution, ExecutionEvent, Fill } from '@pm/schemas/log/executions';
import { LogAudit } from '../../src/audit/log-audit.ts';

const feeWallet = `0x${'fe'.repeat(20)}`;
const alice = Buffer.alloc(20, 1);
const bob = Buffer.alloc(20, 2);
const aliceOrder = Buffer.alloc(32, 1);
const bobOrder = Buffer.alloc(32, 2);
const share = 1_000_000;
const key = Buffer.alloc(16);
const noBuilder = Buffer.alloc(32);

type Placed = Extract<ExecutionEvent, { kind: 'OrderPlaced' }>;

function placed(orderId: Buffer, maker: Buffer, changes: Partial<Placed>): Placed {
  return {
    kind: 'OrderPlaced',
    command: 0,
    orderId,
    market: 7,
    outcome: 0,
    side: 'BUY',
    timeInForce: 'GTC',
    postOnly: false,
    price: 4_000,
    sizeMicro: 10 * share,
    expiresAtMs: 0,
    acceptedAtMs: 0,
    maker,
    signer: maker,
    apiKey: key,
    builder: noBuilder,
    status: 'LIVE',
    filledMicro: 0,
    paidMicro: 0,
    feeMicro: 0,
    restingMicro: 10 * share,
    ...changes,
  };
}

const money = (wallet: Buffer, freeMicro: number, heldMicro: number): ExecutionEvent => ({
  kind: 'MoneyMoved',
  wallet,
  freeMicro,
  heldMicro,
});

const level = (side: 'BUY' | 'SELL', sizeMicro: number): ExecutionEvent => ({
  kind: 'LevelChanged',
  market: 7,
  side,
  price: 4_000,
  sizeMicro,
});

const top = (bid: number, ask = 0): ExecutionEvent => ({
  kind: 'TopChanged',
  market: 7,
  bid,
  ask,
});

/** Bob takes four shares of what Alice offers. */
const fillOf = (changes: Partial<Fill>): Fill => ({
  kind: 'Fill',
  command: 0,
  market: 7,
  match: 'MINT',
  sizeMicro: 4 * share,
  takerOrderId: bobOrder,
  taker: bob,
  takerKey: key,
  takerOutcome: 1,
  takerSide: 'BUY',
  takerPrice: 6_000,
  takerBuilder: noBuilder,
  makerOrderId: aliceOrder,
  maker: alice,
  makerKey: key,
  makerOutcome: 0,
  makerSide: 'BUY',
  makerPrice: 4_000,
  makerBuilder: noBuilder,
  makerRestMicro: 6 * share,
  feeMicro: 10_000,
  feeRateBps: 441,
  ...changes,
});

/** The order of Bob that is filled so. */
const taking = (orderId: Buffer, changes: Partial<Placed>): Placed =>
  placed(orderId, bob, {
    outcome: 1,
    price: 6_000,
    sizeMicro: 4 * share,
    status: 'MATCHED',
    filledMicro: 4 * share,
    paidMicro: 2.4 * share,
    feeMicro: 10_000,
    restingMicro: 0,
    ...changes,
  });

/** Alice bids 0.40 for ten of token 0; Bob bids 0.60 for four of token 1: four pairs are minted. */
const log: readonly ExecutionEvent[][] = [
  [
    placed(aliceOrder, alice, {}),
    level('BUY', 10 * share),
    top(4_000),
    money(alice, -4 * share, 4 * share),
  ],
  [
    fillOf({}),
    taking(bobOrder, {}),
    level('BUY', 6 * share),
    money(alice, 0, -1.6 * share),
    money(bob, -2.4 * share - 10_000, 0),
    money(Buffer.alloc(20, 0xfe), 10_000, 0),
  ],
  [
    {
      kind: 'OrderCanceled',
      command: 0,
      orderId: aliceOrder,
      market: 7,
      maker: alice,
      apiKey: key,
      reason: 'USER',
      restMicro: 6 * share,
    },
    level('BUY', 0),
    top(0),
    money(alice, 2.4 * share, -2.4 * share),
  ],
];

const [aliceSale, bobSale] = [Buffer.alloc(32, 3), Buffer.alloc(32, 4)];
const sale = { side: 'SELL', sizeMicro: 4 * share } as const;

/** Both sell what they bought: the four pairs are merged. */
const merged: readonly ExecutionEvent[][] = [
  [
    placed(aliceSale, alice, { ...sale, restingMicro: 4 * share }),
    level('SELL', 4 * share),
    top(0, 4_000),
  ],
  [
    fillOf({
      match: 'MERGE',
      takerOrderId: bobSale,
      takerSide: 'SELL',
      makerOrderId: aliceSale,
      makerSide: 'SELL',
      makerRestMicro: 0,
    }),
    taking(bobSale, sale),
    level('SELL', 0),
    top(0),
    money(alice, 1.6 * share, 0),
    money(bob, 2.4 * share - 10_000, 0),
    money(Buffer.alloc(20, 0xfe), 10_000, 0),
  ],
];
const wholeLog = [...log, ...merged];

function audited(records: readonly (readonly ExecutionEvent[])[], chainHolds = true): LogAudit {
  const audit = new LogAudit(feeWallet);
  for (const [inOffset, events] of records.entries()) {
    audit.record(recordOf(inOffset, events), { partition: 0, chainHolds });
  }
  audit.finish();
  return audit;
}

function recordOf(inOffset: number, events: readonly ExecutionEvent[]): Execution {
  return {
    chain: Buffer.alloc(32),
    inOffset,
    timeMs: 0,
    keyId: Buffer.alloc(8),
    sequence: 0,
    events,
  };
}

test('a sound log has no violations and adds up', () => {
  const audit = audited(log);
  expect(audit.violations).toEqual([]);
  expect(audit.totals.collateral.get(7)).toBe(4 * share);
  expect(audit.orders.size).toBe(2);
  expect(audit.fills).toBe(1);
});

test('a pair that is merged leaves neither tokens nor collateral', () => {
  const audit = audited(wholeLog);
  expect(audit.violations).toEqual([]);
  expect([...audit.totals.collateral]).toEqual([]);
  expect([...audit.totals.positions].map(({ sizeMicro }) => sizeMicro)).toEqual([0, 0]);
});

test('a repeated record changes nothing', () => {
  const audit = new LogAudit(feeWallet);
  const [first = [], second = []] = log;
  const facts = { partition: 0, chainHolds: true };
  expect(audit.record(recordOf(0, first), facts)).toBe(true);
  expect(audit.record(recordOf(0, first), facts)).toBe(false);
  expect(audit.record(recordOf(1, second), facts)).toBe(true);
  audit.finish();
  expect(audit.violations).toEqual([]);
  expect(audit.repeated).toBe(1);
});

test('a missing record is found', () => {
  expect(audited([log[0] ?? []]).violations).toEqual([]);
  const audit = new LogAudit(feeWallet);
  audit.record(recordOf(5, []), { partition: 0, chainHolds: true });
  expect(audit.violations).toContain('F1 partition 0: 0 missing');
});

test('a broken chain is found', () => {
  expect(audited(log, false).violations).toContain('F1 partition 0: chain broken');
});

/** The audit finds every event but the first when it is left out or changed. */
const positions = wholeLog.flatMap((events, record) =>
  events.map((event, index) => ({ record, index, kind: event.kind })),
);

test.each(positions)('an omitted event is found: $kind of record $record', ({ record, index }) => {
  const cut = wholeLog.map((events, at) =>
    at === record ? events.filter((_, i) => i !== index) : events,
  );
  expect(audited(cut).violations).not.toEqual([]);
});

test('one micro-USDC too many is found', () => {
  const forged = log.map((events) =>
    events.map((event) =>
      event.kind === 'MoneyMoved' && event.wallet.equals(bob)
        ? { ...event, freeMicro: event.freeMicro + 1 }
        : event,
    ),
  );
  expect(audited(forged).violations.some((line) => line.startsWith('C2'))).toBe(true);
});

test('best prices that are not those of the levels are found', () => {
  const [first = []] = log;
  const restated = first.map((event) => (event.kind === 'TopChanged' ? top(4_100) : event));
  expect(audited([restated]).violations).toEqual([
    'F2 market 7 at 0: best prices 4100 and 0 are stated, those of the levels are 4000 and 0',
  ]);
});

test('a redemption before the resolution is found', () => {
  const redeemed: ExecutionEvent = {
    kind: 'PositionMoved',
    command: 0,
    action: 'REDEEM',
    wallet: alice,
    market: 7,
    token0Micro: -4 * share,
    token1Micro: 0,
    paidMicro: 4 * share,
    requestId: null,
  };
  const [first = [], second = []] = log;
  const { violations } = audited([first, second, [redeemed]]);
  expect(violations).toContain('C1 market 7 is redeemed before it is resolved');
});

describe('a delayed order', () => {
  const delayed: ExecutionEvent = {
    kind: 'OrderDelayed',
    command: 0,
    orderId: aliceOrder,
    market: 7,
    outcome: 0,
    side: 'BUY',
    timeInForce: 'GTC',
    price: 4_000,
    sizeMicro: 10 * share,
    expiresAtMs: 0,
    acceptedAtMs: 0,
    releaseAtMs: 3_000,
    maker: alice,
    apiKey: key,
    heldMicro: 4_100_000,
  };
  const holds = [delayed, money(alice, -4_100_000, 4_100_000)];
  const rests = [
    placed(aliceOrder, alice, { command: -1 }),
    level('BUY', 10 * share),
    top(4_000),
    money(alice, 100_000, -100_000),
  ];

  test('locks its stated amount until it is placed', () => {
    expect(audited([holds]).violations).toEqual([]);
    expect(audited([holds, rests]).violations).toEqual([]);
  });

  test('that occurs twice, or has other content, is a violation', () => {
    expect(audited([holds, [delayed]]).violations[0]).toMatch(/^L1 /);
    expect(audited([[delayed]]).violations[0]).toMatch(/^C2 /);
  });

  test('that is refused must release its amount', () => {
    const refused: ExecutionEvent = {
      kind: 'OrderRefused',
      command: -1,
      orderId: aliceOrder,
      market: 7,
      maker: alice,
      apiKey: key,
      code: 'fok_not_filled',
    };
    const back = money(alice, 4_100_000, -4_100_000);
    expect(audited([holds, [refused, back]]).violations).toEqual([]);
    expect(audited([holds, [refused]]).violations[0]).toMatch(/^C2 /);
  });
});

import { compileCodec } from '@pm/schemas/avro/codec';
import {
  cancelsPerRecordMax,
  type ExecutionEvent,
  execution,
  fillsPerRecordMax,
  releasesPerRecordMax,
} from '@pm/schemas/log/executions';
import {
  type Command,
  command,
  envelopeCommandsMax,
  idsPerCancelMax,
} from '@pm/schemas/log/orders';
import { registryHeaderBytes, topics } from '@pm/schemas/log/topics';
import { defaultSliceLimits } from '../../../src/partition/slices.io.ts';
import { cancelAll, marketRules, opening, orderOf, requestIdOf, walletOf } from '../commands.ts';

/** The largest values that fields can have; an index of a command has at most three bytes in a mebibyte of commands. */
const largest = {
  command: 2 ** 20 - 1,
  market: 2 ** 31 - 1,
  price: 9_999,
  micro: Number.MAX_SAFE_INTEGER,
  timeMs: Number.MAX_SAFE_INTEGER,
  id: Buffer.alloc(32),
  wallet: Buffer.alloc(20),
  apiKey: Buffer.alloc(16),
};

const { command: index, market, price, micro, timeMs, id, wallet, apiKey } = largest;

const level: ExecutionEvent = {
  kind: 'LevelChanged',
  market,
  side: 'SELL',
  price,
  sizeMicro: micro,
};
const top: ExecutionEvent = { kind: 'TopChanged', market, bid: price, ask: price };
const money: ExecutionEvent = { kind: 'MoneyMoved', wallet, freeMicro: -micro, heldMicro: -micro };
/** The further changes of a changed order. */
const sums = [level, top, money];

const fill: ExecutionEvent = {
  kind: 'Fill',
  command: index,
  market,
  match: 'COMPLEMENTARY',
  sizeMicro: micro,
  takerOrderId: id,
  taker: wallet,
  takerKey: apiKey,
  takerOutcome: 1,
  takerSide: 'SELL',
  takerPrice: price,
  takerBuilder: id,
  makerOrderId: id,
  maker: wallet,
  makerKey: apiKey,
  makerOutcome: 1,
  makerSide: 'SELL',
  makerPrice: price,
  makerBuilder: id,
  makerRestMicro: micro,
  feeMicro: micro,
  feeRateBps: 10_000,
};

const canceled: ExecutionEvent = {
  kind: 'OrderCanceled',
  command: index,
  orderId: id,
  market,
  maker: wallet,
  apiKey,
  reason: 'MARKET',
  restMicro: micro,
};

const placed: ExecutionEvent = {
  ...orderOf(1, 1, { market, price, sizeMicro: micro, expiresAtMs: timeMs, acceptedAtMs: timeMs }),
  kind: 'OrderPlaced',
  command: index,
  status: 'LIVE',
  filledMicro: micro,
  paidMicro: micro,
  feeMicro: micro,
  restingMicro: micro,
};

const repeated: ExecutionEvent = {
  kind: 'OrderRepeated',
  command: index,
  orderId: id,
  maker: wallet,
  alive: true,
  code: 'unknown',
  status: 'LIVE',
  side: 'SELL',
  filledMicro: micro,
  paidMicro: micro,
  placedAtOffset: micro,
  firstFill: market,
  fillCount: market,
};

const delayed: ExecutionEvent = {
  kind: 'OrderDelayed',
  command: index,
  orderId: id,
  market,
  outcome: 1,
  side: 'SELL',
  timeInForce: 'GTD',
  price,
  sizeMicro: micro,
  expiresAtMs: timeMs,
  acceptedAtMs: timeMs,
  releaseAtMs: timeMs,
  maker: wallet,
  apiKey,
  heldMicro: micro,
};

const positionMoved: ExecutionEvent = {
  kind: 'PositionMoved',
  command: index,
  action: 'REDEEM',
  wallet,
  market,
  token0Micro: -micro,
  token1Micro: -micro,
  paidMicro: micro,
  requestId: id,
};

const codec = compileCodec(execution);
const commandCodec = compileCodec(command);

function bytesOf(events: readonly ExecutionEvent[]): number {
  const head = { chain: id, inOffset: timeMs, timeMs, keyId: Buffer.alloc(8), sequence: timeMs };
  return codec.encode({ ...head, events }).length + registryHeaderBytes;
}

/** The largest events of each command beside fills and cancels of the budgets, and its smallest size in an input. */
const small = { market: 0, sizeMicro: 0, generation: 0, holdMicro: 0, acceptedAtMs: 0 } as const;
const asked: readonly (readonly [Command, readonly ExecutionEvent[]])[] = [
  [orderOf(1, 1, { ...small, signedAtMs: 0, price: 0 }), [placed, ...sums]],
  [{ kind: 'CancelOrder', orderId: id, signer: wallet }, [canceled, ...sums]],
  [
    { kind: 'CancelByIds', orderIds: [id], signer: wallet, acceptedAtMs: timeMs },
    [{ kind: 'CancelRefused', command: index, orderId: id, code: 'unknown' }],
  ],
  [cancelAll(), [{ kind: 'CommandRefused', command: index, code: 'unknown', requestId: null }]],
  [
    marketRules(0, { tick: 1, minSizeMicro: 0 }),
    [
      {
        ...marketRules(market, { tick: 1_000, minSizeMicro: micro }),
        kind: 'MarketSet',
        command: index,
      },
    ],
  ],
  [
    { kind: 'ResolveMarket', market: 0, payout0: 0 },
    [{ kind: 'MarketResolved', command: index, market, payout0: price }],
  ],
  [
    { kind: 'RedeemPosition', requestId: requestIdOf(1), wallet: walletOf(1), market: 0 },
    [positionMoved, money],
  ],
  [
    { kind: 'SetKey', publicKey: id, role: 'OWNER', active: true },
    [{ kind: 'KeySet', command: index, keyId: Buffer.alloc(8), role: 'OWNER', active: true }],
  ],
  [
    { kind: 'StartGeneration', generation: 1 },
    [{ kind: 'GenerationStarted', command: index, generation: market }],
  ],
  [
    { kind: 'SetTradingMode', mode: 'HALTED' },
    [{ kind: 'TradingModeSet', command: index, mode: 'HALTED' }],
  ],
  [orderOf(1, 1, { ...small, signedAtMs: 0, price: 0 }), [repeated, money]],
  [orderOf(1, 1, { ...small, signedAtMs: 0, price: 0 }), [delayed, money]],
  [
    { ...opening, timeMs: 0 },
    [{ kind: 'CommandRefused', command: index, code: 'unknown', requestId: null }],
  ],
];

it('a record that uses up every budget, from the largest input, stays below the limit of the topic', () => {
  const empty = bytesOf([]);
  const budgets =
    fillsPerRecordMax * (bytesOf([fill, ...sums]) - empty) +
    cancelsPerRecordMax * (bytesOf([canceled, ...sums]) - empty) +
    releasesPerRecordMax * (bytesOf([placed, ...sums]) - empty);
  const ratios = asked.map(
    ([asks, gives]) => (bytesOf(gives) - empty) / commandCodec.encode(asks).length,
  );
  const rest = Math.max(...ratios) * topics.orders.maxMessageBytes;
  const checkpoint = bytesOf([{ kind: 'Checkpoint', stateHash: id }]) + bytesOf([money]);
  const worst = Math.ceil(budgets + rest + checkpoint);
  // The records before it in its slice may go to the broker in the same batch.
  expect(worst + defaultSliceLimits.bytesMax).toBeLessThan(topics.executions.maxMessageBytes);
});

it('a whole record of both budgets has the computed size', () => {
  const events = [
    ...Array.from({ length: fillsPerRecordMax }, () => [fill, ...sums]).flat(),
    ...Array.from({ length: cancelsPerRecordMax }, () => [canceled, ...sums]).flat(),
  ];
  const empty = bytesOf([]);
  const fills = fillsPerRecordMax * (bytesOf([fill, ...sums]) - empty);
  const cancels = cancelsPerRecordMax * (bytesOf([canceled, ...sums]) - empty);
  // The count of the events takes a few bytes more.
  expect(bytesOf(events) - empty - fills - cancels).toBeLessThan(5);
});

it('an envelope full of the largest cancels by id stays below the limit of the topic', () => {
  const orderIds = Array.from({ length: idsPerCancelMax }, () => id);
  const cancel = { kind: 'CancelByIds', orderIds, signer: wallet, acceptedAtMs: timeMs } as const;
  const head = 256;
  const bytes = head + envelopeCommandsMax * commandCodec.encode(cancel).length;
  expect(bytes).toBeLessThan(topics.orders.maxMessageBytes);
});

import type { AvroEnum, AvroRecord, Infer } from '../avro/schema.ts';
import {
  generationStarted,
  index,
  keySet,
  marketResolved,
  marketSet,
  recordRejected,
  tradingModeSet,
} from './execution-rules.ts';
import {
  address20,
  cancelReason,
  hash32,
  keyId8,
  matchType,
  refusalCode,
  side,
  timeInForce,
  uuid16,
} from './types.ts';

const orderStatus = {
  type: 'enum',
  name: 'PlacedStatus',
  symbols: ['LIVE', 'MATCHED', 'CANCELED', 'DELAYED'],
  default: 'LIVE',
  doc: 'LIVE rests (filled in part or not at all), MATCHED is done, CANCELED is a rest after fills that may not rest (FAK, self-trade, limit of meetings, canceled while delayed), DELAYED waits for the end of a taker delay.',
} as const satisfies AvroEnum;

const orderPlaced = {
  type: 'record',
  name: 'OrderPlaced',
  doc: 'The order was taken. Its fills stand directly behind each other, then the cancels of orders it met and cleared away, then this, which sums them up.',
  fields: [
    index,
    { name: 'orderId', type: hash32, doc: 'The order.' },
    { name: 'market', type: 'int', doc: 'The market.' },
    { name: 'outcome', type: 'int', doc: 'Its token, 0 or 1.' },
    { name: 'side', type: side, doc: 'In terms of its token.' },
    { name: 'timeInForce', type: timeInForce, doc: 'GTC, GTD, FOK or FAK.' },
    { name: 'postOnly', type: 'boolean', doc: 'As asked.' },
    { name: 'price', type: 'int', doc: 'Limit in 1/10000 USDC.' },
    { name: 'sizeMicro', type: 'long', doc: 'Micro-shares asked for.' },
    { name: 'expiresAtMs', type: 'long', doc: 'GTD: when it leaves the book; otherwise 0.' },
    { name: 'acceptedAtMs', type: 'long', doc: 'As in `orders`.' },
    { name: 'maker', type: address20, doc: 'Wallet.' },
    { name: 'signer', type: address20, doc: 'Who signed.' },
    { name: 'apiKey', type: uuid16, doc: 'The key it came in with.' },
    { name: 'builder', type: hash32, doc: 'Builder code; zero when none.' },
    { name: 'status', type: orderStatus, doc: 'Where it stands after its own fills.' },
    { name: 'filledMicro', type: 'long', doc: 'Micro-shares filled by this command.' },
    { name: 'paidMicro', type: 'long', doc: 'Micro-USDC those fills came to, without the fee.' },
    { name: 'feeMicro', type: 'long', doc: 'Micro-USDC of fee.' },
    { name: 'restingMicro', type: 'long', doc: 'Micro-shares now resting.' },
  ],
} as const satisfies AvroRecord;

const orderRefused = {
  type: 'record',
  name: 'OrderRefused',
  doc: 'The order was not taken and trades nothing; what a delayed order held is free again. `self_trade` under CANCEL_BOTH follows the cancel of the resting order it met.',
  fields: [
    index,
    { name: 'orderId', type: hash32, doc: 'The order.' },
    { name: 'market', type: 'int', doc: 'The market it named.' },
    { name: 'maker', type: address20, doc: 'Wallet.' },
    { name: 'apiKey', type: uuid16, doc: 'The key it came in with.' },
    { name: 'code', type: refusalCode, doc: 'Why.' },
  ],
} as const satisfies AvroRecord;

const orderRepeated = {
  type: 'record',
  name: 'OrderRepeated',
  doc: 'This order id was answered before; the first answer again.',
  fields: [
    index,
    { name: 'orderId', type: hash32, doc: 'The order.' },
    { name: 'maker', type: address20, doc: 'Wallet.' },
    { name: 'alive', type: 'boolean', doc: 'Whether it still rests, or is delayed.' },
    {
      name: 'code',
      type: ['null', refusalCode],
      doc: 'Why it was refused, if it was.',
      default: null,
    },
    {
      name: 'status',
      type: orderStatus,
      doc: 'As first answered, for a delayed order as answered at its release; without meaning when refused.',
    },
    { name: 'side', type: side, doc: 'In terms of its token.' },
    { name: 'filledMicro', type: 'long', doc: 'Micro-shares filled at placement.' },
    { name: 'paidMicro', type: 'long', doc: 'Micro-USDC of those fills.' },
    {
      name: 'placedAtOffset',
      type: 'long',
      doc: 'Input offset of the record with those fills; -1 when there are none.',
      default: -1,
    },
    {
      name: 'firstFill',
      type: 'int',
      doc: 'Index of the first of those fills among the events of that record; the others follow it directly.',
      default: -1,
    },
    { name: 'fillCount', type: 'int', doc: 'How many those fills are.', default: 0 },
  ],
} as const satisfies AvroRecord;

const fill = {
  type: 'record',
  name: 'Fill',
  doc: 'One taker and one maker meet.',
  fields: [
    index,
    { name: 'market', type: 'int', doc: 'The market.' },
    { name: 'match', type: matchType, doc: 'How.' },
    { name: 'sizeMicro', type: 'long', doc: 'Micro-shares.' },
    { name: 'takerOrderId', type: hash32, doc: 'The incoming order.' },
    { name: 'taker', type: address20, doc: 'Its wallet.' },
    { name: 'takerKey', type: uuid16, doc: 'Its API key.' },
    { name: 'takerOutcome', type: 'int', doc: 'Its token.' },
    { name: 'takerSide', type: side, doc: 'In terms of its token.' },
    { name: 'takerPrice', type: 'int', doc: "Price of the taker's token, 1/10000 USDC." },
    { name: 'takerBuilder', type: hash32, doc: 'Its builder code.' },
    { name: 'makerOrderId', type: hash32, doc: 'The resting order.' },
    { name: 'maker', type: address20, doc: 'Its wallet.' },
    { name: 'makerKey', type: uuid16, doc: 'Its API key.' },
    { name: 'makerOutcome', type: 'int', doc: 'Its token.' },
    { name: 'makerSide', type: side, doc: 'In terms of its token.' },
    { name: 'makerPrice', type: 'int', doc: "Price of the maker's token, 1/10000 USDC." },
    { name: 'makerBuilder', type: hash32, doc: 'Its builder code.' },
    { name: 'makerRestMicro', type: 'long', doc: 'Micro-shares of it still resting; 0 ends it.' },
    { name: 'feeMicro', type: 'long', doc: 'Micro-USDC the taker pays on top or gets less.' },
    { name: 'feeRateBps', type: 'int', doc: 'Rate of the curve in basis points.' },
  ],
} as const satisfies AvroRecord;

const orderCanceled = {
  type: 'record',
  name: 'OrderCanceled',
  doc: 'An order left the book unfilled or in part.',
  fields: [
    index,
    { name: 'orderId', type: hash32, doc: 'The order.' },
    { name: 'market', type: 'int', doc: 'The market.' },
    { name: 'maker', type: address20, doc: 'Wallet.' },
    { name: 'apiKey', type: uuid16, doc: 'The key it came in with.' },
    { name: 'reason', type: cancelReason, doc: 'Why.' },
    { name: 'restMicro', type: 'long', doc: 'Micro-shares that were left.' },
  ],
} as const satisfies AvroRecord;

const cancelRefused = {
  type: 'record',
  name: 'CancelRefused',
  doc: 'Nothing to cancel under this id for this signer.',
  fields: [
    index,
    { name: 'orderId', type: hash32, doc: 'The order asked for.' },
    { name: 'code', type: refusalCode, doc: 'Why.' },
  ],
} as const satisfies AvroRecord;

const levelChanged = {
  type: 'record',
  name: 'LevelChanged',
  doc: 'New total of a price level after the record, in terms of token 0: a BUY of token 1 at q stands as an ask at 1-q.',
  fields: [
    { name: 'market', type: 'int', doc: 'The market.' },
    { name: 'side', type: side, doc: 'BUY is a bid, SELL an ask.' },
    { name: 'price', type: 'int', doc: '1/10000 USDC of token 0.' },
    { name: 'sizeMicro', type: 'long', doc: 'Micro-shares at this price now; 0 when none.' },
  ],
} as const satisfies AvroRecord;

const topChanged = {
  type: 'record',
  name: 'TopChanged',
  doc: 'Best prices of a market after the record, in terms of token 0.',
  fields: [
    { name: 'market', type: 'int', doc: 'The market.' },
    { name: 'bid', type: 'int', doc: 'Best bid in 1/10000 USDC; 0 when none.' },
    { name: 'ask', type: 'int', doc: 'Best ask in 1/10000 USDC; 0 when none.' },
  ],
} as const satisfies AvroRecord;

const moneyMoved = {
  type: 'record',
  name: 'MoneyMoved',
  doc: 'Exact change of what a wallet has free and held, summed over the record.',
  fields: [
    { name: 'wallet', type: address20, doc: 'Whose.' },
    { name: 'freeMicro', type: 'long', doc: 'Change of free micro-USDC.' },
    { name: 'heldMicro', type: 'long', doc: 'Change of micro-USDC held by resting orders.' },
  ],
} as const satisfies AvroRecord;

const positionMoved = {
  type: 'record',
  name: 'PositionMoved',
  doc: 'Tokens came or went other than by a fill.',
  fields: [
    index,
    {
      name: 'action',
      type: {
        type: 'enum',
        name: 'PositionAction',
        symbols: ['SPLIT', 'MERGE', 'REDEEM'],
        default: 'SPLIT',
      },
      doc: 'What happened.',
    },
    { name: 'wallet', type: address20, doc: 'Whose.' },
    { name: 'market', type: 'int', doc: 'The market.' },
    { name: 'token0Micro', type: 'long', doc: 'Change of token 0 in micro-shares.' },
    { name: 'token1Micro', type: 'long', doc: 'Change of token 1 in micro-shares.' },
    { name: 'paidMicro', type: 'long', doc: 'Change of the wallet’s USDC in micro-USDC.' },
    {
      name: 'requestId',
      type: ['null', hash32],
      doc: 'The request that asked for it: its reservation is used up.',
      default: null,
    },
  ],
} as const satisfies AvroRecord;

const orderDelayed = {
  type: 'record',
  name: 'OrderDelayed',
  doc: 'The order would trade at once in a market with a taker delay, or its time to book is judged by the next tick: it is held, and checked and placed again when the delay is over (OrderPlaced or OrderRefused with command -1). An order that waits for a taker delay cannot be canceled meanwhile. One that was held for a tick may wait for a taker delay after it, without another event.',
  fields: [
    index,
    { name: 'orderId', type: hash32, doc: 'The order.' },
    { name: 'market', type: 'int', doc: 'The market.' },
    { name: 'outcome', type: 'int', doc: 'Its token, 0 or 1.' },
    { name: 'side', type: side, doc: 'In terms of its token.' },
    { name: 'timeInForce', type: timeInForce, doc: 'GTC, GTD, FOK or FAK.' },
    { name: 'price', type: 'int', doc: 'Limit in 1/10000 USDC.' },
    { name: 'sizeMicro', type: 'long', doc: 'Micro-shares asked for.' },
    { name: 'expiresAtMs', type: 'long', doc: 'GTD: when it leaves the book; otherwise 0.' },
    { name: 'acceptedAtMs', type: 'long', doc: 'As in `orders`.' },
    {
      name: 'releaseAtMs',
      type: 'long',
      doc: 'When the delay ends, on the clock of the partition; it began then or, if that is later, at acceptedAtMs. 0: with the next tick of the owner.',
    },
    { name: 'maker', type: address20, doc: 'Wallet.' },
    { name: 'apiKey', type: uuid16, doc: 'The key it came in with.' },
    {
      name: 'heldMicro',
      type: 'long',
      doc: 'Micro-USDC it holds until its release, with room for the fee; 0 for a SELL, which locks its tokens.',
      default: 0,
    },
  ],
} as const satisfies AvroRecord;

const commandRefused = {
  type: 'record',
  name: 'CommandRefused',
  doc: 'A command other than an order was not carried out; for CancelOrders and CancelByIds: not wholly, send it again.',
  fields: [
    index,
    { name: 'code', type: refusalCode, doc: 'Why.' },
    {
      name: 'requestId',
      type: ['null', hash32],
      doc: 'The request of a split, merge or redemption: its reservation is free again.',
      default: null,
    },
  ],
} as const satisfies AvroRecord;

const checkpoint = {
  type: 'record',
  name: 'Checkpoint',
  doc: 'SHA-256 of the whole state, which every replay must come to: under rules before 5 after this record, from then on after the record of the checkpoint before.',
  fields: [{ name: 'stateHash', type: hash32, doc: 'The hash.' }],
} as const satisfies AvroRecord;

export const executionEvent = {
  type: 'oneOf',
  name: 'ExecutionEvent',
  doc: 'Exactly one of its fields is set.',
  branches: [
    orderPlaced,
    orderRefused,
    orderRepeated,
    fill,
    orderCanceled,
    cancelRefused,
    levelChanged,
    topChanged,
    moneyMoved,
    marketSet,
    marketResolved,
    positionMoved,
    commandRefused,
    keySet,
    generationStarted,
    recordRejected,
    checkpoint,
    orderDelayed,
    tradingModeSet,
  ],
} as const;

/**
 * The topic `executions`: one record per record of `orders`, partition by partition, dense and chained.
 *
 *     | 5 bytes registry header | chain 32 | inOffset | timeMs | keyId 8 | sequence | events ... |
 *                                          '--------------- body ----------------------------'
 *     chain(n) = SHA-256( chain(n-1) | body(n) ),  chain(-1) = 32 zero bytes
 */
export const execution = {
  type: 'record',
  name: 'Execution',
  doc: 'What one record of `orders` did.',
  fields: [
    {
      name: 'chain',
      type: hash32,
      doc: 'SHA-256 of the chain before and of every byte behind this field.',
    },
    { name: 'inOffset', type: 'long', doc: 'Offset of the input record.' },
    { name: 'timeMs', type: 'long', doc: 'Clock of the partition after it, Unix milliseconds.' },
    { name: 'keyId', type: keyId8, doc: 'Who sent the input; zero when unreadable.' },
    {
      name: 'sequence',
      type: 'long',
      doc: "The sender's number of the input; -1 when unreadable.",
    },
    {
      name: 'events',
      type: { type: 'array', items: executionEvent },
      doc: 'In the order they happened.',
    },
  ],
} as const satisfies AvroRecord;

export type ExecutionEvent = Infer<typeof executionEvent>;
export type EventOf<Kind extends ExecutionEvent['kind']> = Extract<ExecutionEvent, { kind: Kind }>;
export type Fill = EventOf<'Fill'>;
export type OrderPlaced = EventOf<'OrderPlaced'>;
export type PlacedStatus = OrderPlaced['status'];
export type Execution = Infer<typeof execution>;

/** Bytes of the chain hash at the head of an encoded execution; the chain covers what follows. */
export const executionChainBytes = 32;

/**
 * One taker meets no more resting orders than this: fills, and expired orders that it removes. Its remainder is
 * canceled; an order that could not even begin, or a FOK that could not end, is refused with `fill_limit`.
 */
export const fillsPerOrderMax = 1_000;

/**
 * All takers of one record together meet no more resting orders than this; one that finds it used up is treated as at
 * `fillsPerOrderMax`. With `cancelsPerRecordMax` it keeps every record below the message limit of the topic
 * (matcher/test/core/events/record-size.test.ts adds it up).
 */
export const fillsPerRecordMax = 20_000;

/**
 * Expiries, resolutions and `CancelOrders` of one record together take no more orders off the books; a `CancelOrder`
 * is free, it names one order. Overdue orders and orders of resolved markets that are left go at the head of the
 * records behind, before any command (their `OrderCanceled` has command -1). A `CancelOrders` that leaves orders is
 * answered with `CommandRefused` `too_many_open_orders`, and its sender repeats it. So are the cancels of a
 * `CancelByIds`.
 */
export const cancelsPerRecordMax = 20_000;

/**
 * So many delayed orders of one record are released, or refused with their market; and none once half of
 * `fillsPerRecordMax` is used up, so that the commands of the record have the other half. The rest goes with the
 * records behind, in the same order.
 */
export const releasesPerRecordMax = 500;

/** Longest taker delay of a market, milliseconds. */
export const takerDelayMaxMs = 60_000;

/**
 * Fences a partition keeps at a time; each is forgotten once no order it covers can be booked any more. A
 * `CancelOrders` beyond it cancels but does not fence, and is answered with `CommandRefused` `too_many_open_orders`:
 * repeat it.
 */
export const fencesMax = 50_000;

/** Bytes of all order ids that a partition fences at a time. */
const fencedIdBytesMax = 2 ** 24;

/** A fenced id with its signer and its end, as the entry of a map. */
const bytesPerFencedId = 160;

/**
 * Order ids that cancels by id fence in a partition at a time; each is forgotten once no order that was on its way can
 * be booked any more. A `CancelByIds` beyond it, or beyond the part of its signer, cancels but does not fence all, and
 * is answered with `CommandRefused` `too_many_open_orders`: repeat it.
 */
export const fencedIdsMax = Math.floor(fencedIdBytesMax / bytesPerFencedId);

/** The part of one signer: two of the largest requests. */
export const fencedIdsPerSignerMax = 6_000;

/** A wallet has no more resting and delayed orders in one partition. */
export const openOrdersPerWalletMax = 10_000;

/** Bytes of all ids that a partition remembers, without those of open orders that are older than the memory. */
const idMemoryBytesMax = 2 ** 30;

/** An id with its result, its place in the table and, for a part of the orders, its first fills. */
const bytesPerId = 128;

/**
 * Ids of orders and requests that a partition remembers at a time, so that none is applied twice; all take at
 * most `idMemoryBytesMax`. While they are used up, new orders, splits, merges and redemptions are refused with
 * `overloaded` (`rules.boundedIds`), not remembered, and may be sent again: ids are forgotten after the age limit of
 * orders. That is an hour in our set-up, so they last for 2,300 orders a second in one partition.
 */
export const rememberedIdsMax = idMemoryBytesMax / bytesPerId;

/**
 * Every output record whose input offset is a multiple of this contains a `Checkpoint`; but not the first one under
 * `rules.laterCheckpoints`, since no state was hashed before it.
 */
export const checkpointEveryRecords = 10_000;

/** The owner of a partition seals one output of so many at least: what follows the newest sealed one is fewer. */
export const sealedOutputEvery = 250;

import type { AvroRecord, Infer } from '../avro/schema.ts';
import {
  address20,
  hash32,
  keyId8,
  keyRole,
  marketMode,
  publicKey32,
  selfTrade,
  side,
  signature64,
  timeInForce,
  uuid16,
} from './types.ts';

/**
 * The topic `orders`: everything that can change the books of a partition, in its total order. One record is an
 * envelope: commands of one sender, and its sign-off over every byte after the signature.
 *
 *     | 5 bytes registry header | signature 64 | keyId 8 | partition | sequence | commands ... |
 *                                              '---------------- bytes --------------------'
 *     signature = Ed25519( fingerprint of the writer schema 32 | bytes )
 *
 * The fingerprint is the SHA-256 of the schema's canonical form. It is not in the record, so that no record can be read
 * with another schema than it was written with. Without `rules.signedSchema` the signature covers the bytes alone.
 */
const partitionOpened = {
  type: 'record',
  name: 'OpenPartition',
  doc: 'The first record of a partition, signed by the operator: what every replay starts from.',
  fields: [
    { name: 'partition', type: 'int', doc: 'This partition.' },
    {
      name: 'operatorKey',
      type: publicKey32,
      doc: 'The opening key, which alone may change keys and rules; it never changes itself.',
    },
    { name: 'feeWallet', type: address20, doc: 'The wallet that fees are paid to.' },
    { name: 'bookAgeLimitMs', type: 'int', doc: 'Time-to-book limit of all orders, milliseconds.' },
    {
      name: 'orderAgeLimitMs',
      type: 'long',
      doc: 'An order signed longer ago is stale; ids are remembered for as long.',
    },
    {
      name: 'timeMs',
      type: 'long',
      doc: 'The clock of the partition at its start, Unix milliseconds.',
    },
  ],
} as const satisfies AvroRecord;

const setKey = {
  type: 'record',
  name: 'SetKey',
  doc: 'Adds a sign-off key, or retires it: records behind this one are judged by it.',
  fields: [
    { name: 'publicKey', type: publicKey32, doc: 'Raw Ed25519 public key.' },
    { name: 'role', type: keyRole, doc: 'What it may sign.' },
    { name: 'active', type: 'boolean', doc: 'False retires it.' },
  ],
} as const satisfies AvroRecord;

const tick = {
  type: 'record',
  name: 'Tick',
  doc: 'Of an owner: moves the clock of the partition; the largest value seen counts. Of an ingress: bears witness to the time, and moves nothing.',
  fields: [
    { name: 'timeMs', type: 'long', doc: 'Unix milliseconds at the sender.' },
    {
      name: 'term',
      type: 'int',
      doc: 'Of an owner: its term; the tick of another term is refused. Of an ingress: 0.',
      default: 0,
    },
  ],
} as const satisfies AvroRecord;

const claimPartition = {
  type: 'record',
  name: 'ClaimPartition',
  doc: 'From this record on the partition belongs to the sender, if the term is the next one: of two claims of one term the first counts.',
  fields: [
    { name: 'term', type: 'int', doc: 'One more than the term that the sender knows.' },
    {
      name: 'owner',
      type: uuid16,
      doc: 'Random id of the process; zero when the owner resigns and no one follows yet.',
    },
  ],
} as const satisfies AvroRecord;

const setMarket = {
  type: 'record',
  name: 'SetMarket',
  doc: 'Lists a market in this partition, or changes its rules. Identity never changes; the tick only gets finer.',
  fields: [
    { name: 'market', type: 'int', doc: 'The number of the market, its id in the catalog.' },
    { name: 'conditionId', type: hash32, doc: 'The condition.' },
    { name: 'token0', type: hash32, doc: 'Token id of outcome 0, big-endian uint256.' },
    { name: 'token1', type: hash32, doc: 'Token id of outcome 1, big-endian uint256.' },
    { name: 'tick', type: 'int', doc: 'Tick size in 1/10000 USDC.' },
    { name: 'minSizeMicro', type: 'long', doc: 'Smallest order in micro-shares.' },
    { name: 'feeRateBps', type: 'int', doc: 'Taker fee rate in basis points of the curve.' },
    { name: 'mode', type: marketMode, doc: 'What it takes; RESOLVED only by ResolveMarket.' },
    {
      name: 'takerDelayMs',
      type: 'int',
      doc: 'How long an order that would trade at once is held first, milliseconds; 0 is not at all.',
      default: 0,
    },
    {
      name: 'tickOnly',
      type: 'boolean',
      doc: 'Of a listed market the tick changes and nothing else: the sender may not know its other rules.',
      default: false,
    },
  ],
} as const satisfies AvroRecord;

const resolveMarket = {
  type: 'record',
  name: 'ResolveMarket',
  doc: 'Ends trading, cancels what rests, and fixes what each token pays.',
  fields: [
    { name: 'market', type: 'int', doc: 'The market.' },
    {
      name: 'payout0',
      type: 'int',
      doc: 'What token 0 pays in 1/10000 USDC; token 1 pays the rest of 1.',
    },
  ],
} as const satisfies AvroRecord;

const placeOrder = {
  type: 'record',
  name: 'PlaceOrder',
  doc: 'An order whose form, signature and collateral ingress has checked.',
  fields: [
    { name: 'orderId', type: hash32, doc: 'EIP-712 hash of the order.' },
    { name: 'market', type: 'int', doc: 'The market.' },
    { name: 'outcome', type: 'int', doc: 'Which token, 0 or 1.' },
    { name: 'side', type: side, doc: 'As the client sent it, in terms of its own token.' },
    { name: 'timeInForce', type: timeInForce, doc: 'GTC, GTD, FOK or FAK.' },
    { name: 'postOnly', type: 'boolean', doc: 'Refused when it would trade at once.' },
    { name: 'price', type: 'int', doc: 'Limit in 1/10000 USDC.' },
    {
      name: 'sizeMicro',
      type: 'long',
      doc: 'Micro-shares; for market buys the most that may be bought.',
    },
    { name: 'budgetMicro', type: 'long', doc: 'Market buys: micro-USDC to spend; otherwise 0.' },
    { name: 'holdMicro', type: 'long', doc: 'Micro-USDC reserved in the ledger for it.' },
    { name: 'generation', type: 'int', doc: 'Ledger generation of that reservation.' },
    { name: 'expiresAtMs', type: 'long', doc: 'GTD: leaves the book at this time; otherwise 0.' },
    {
      name: 'acceptedAtMs',
      type: 'long',
      doc: 'When ingress took it or, if earlier, when its client first sent it. Unix milliseconds.',
    },
    {
      name: 'ageLimitMs',
      type: 'int',
      doc: 'Time-to-book limit of its own, milliseconds from acceptedAtMs: the next tick of the owner judges it. 0 is the limit of all orders.',
    },
    { name: 'signedAtMs', type: 'long', doc: "The order's own timestamp, Unix milliseconds." },
    { name: 'maker', type: address20, doc: 'The wallet whose money and tokens it moves.' },
    { name: 'signer', type: address20, doc: 'Who signed.' },
    { name: 'apiKey', type: uuid16, doc: 'The key it came in with.' },
    { name: 'builder', type: hash32, doc: 'Builder code; zero when none.' },
    {
      name: 'selfTrade',
      type: selfTrade,
      doc: 'What happens when it meets an order of the same signer.',
      default: 'CANCEL_NEWEST',
    },
  ],
} as const satisfies AvroRecord;

const cancelOrder = {
  type: 'record',
  name: 'CancelOrder',
  doc: 'Takes one order off the book if it belongs to the wallet.',
  fields: [
    { name: 'orderId', type: hash32, doc: 'The order.' },
    { name: 'signer', type: address20, doc: 'The signer whose orders the sender may cancel.' },
  ],
} as const satisfies AvroRecord;

const cancelByIds = {
  type: 'record',
  name: 'CancelByIds',
  doc: 'Takes the orders of these ids off the book that the partition has and that belong to the signer, and fences ids that it has never seen: an order of the signer under such an id is refused as `fenced` when it comes. Fenced ids have no event.',
  fields: [
    { name: 'signer', type: address20, doc: 'The signer whose orders the sender may cancel.' },
    {
      name: 'orderIds',
      type: { type: 'array', items: hash32 },
      doc: 'At most `idsPerCancelMax` orders, which may be of any partition.',
    },
    {
      name: 'acceptedAtMs',
      type: 'long',
      doc: 'When ingress took it, Unix milliseconds: an id is fenced until no order that was taken by then can be booked. 0 fences nothing.',
    },
  ],
} as const satisfies AvroRecord;

const cancelOrders = {
  type: 'record',
  name: 'CancelOrders',
  doc: 'Takes every matching order off the book: of a signer or of one API key, of one market, one token or all.',
  fields: [
    { name: 'signer', type: ['null', address20], doc: 'Orders of this signer.', default: null },
    { name: 'apiKey', type: ['null', uuid16], doc: 'Orders placed with this key.', default: null },
    { name: 'market', type: 'int', doc: 'The market, or -1 for all of the partition.' },
    { name: 'outcome', type: 'int', doc: 'The token, or -1 for both.' },
    { name: 'session', type: 'boolean', doc: 'True when a missed heartbeat asks, not a person.' },
    {
      name: 'acceptedAtMs',
      type: 'long',
      doc: 'When ingress took it, Unix milliseconds: orders it covers that were taken until then and reach the book later are refused as `fenced`. 0 fences nothing. A delayed order it covers may still trade at its release, but not rest. A cancel of a session that comes later than the age limit of the book after it is refused as `too_late`.',
      default: 0,
    },
  ],
} as const satisfies AvroRecord;

const splitPosition = {
  type: 'record',
  name: 'SplitPosition',
  doc: 'Turns USDC into as many of both tokens.',
  fields: [
    { name: 'requestId', type: hash32, doc: 'Given once; a repetition changes nothing.' },
    { name: 'wallet', type: address20, doc: 'Whose.' },
    { name: 'market', type: 'int', doc: 'The market.' },
    { name: 'sizeMicro', type: 'long', doc: 'Micro-shares of each token.' },
    { name: 'holdMicro', type: 'long', doc: 'Micro-USDC reserved for it.' },
    { name: 'generation', type: 'int', doc: 'Ledger generation of that reservation.' },
    {
      name: 'acceptedAtMs',
      type: 'long',
      doc: 'When ingress took it, Unix milliseconds: beyond the time-to-book limit it is refused, since its reservation may be released by then. 0: no limit.',
      default: 0,
    },
  ],
} as const satisfies AvroRecord;

const mergePosition = {
  type: 'record',
  name: 'MergePosition',
  doc: 'Turns as many of both tokens into USDC.',
  fields: [
    { name: 'requestId', type: hash32, doc: 'Given once; a repetition changes nothing.' },
    { name: 'wallet', type: address20, doc: 'Whose.' },
    { name: 'market', type: 'int', doc: 'The market.' },
    { name: 'sizeMicro', type: 'long', doc: 'Micro-shares of each token.' },
  ],
} as const satisfies AvroRecord;

const redeemPosition = {
  type: 'record',
  name: 'RedeemPosition',
  doc: 'Pays out all tokens a wallet has of a resolved market.',
  fields: [
    { name: 'requestId', type: hash32, doc: 'Given once; a repetition changes nothing.' },
    { name: 'wallet', type: address20, doc: 'Whose.' },
    { name: 'market', type: 'int', doc: 'The market.' },
  ],
} as const satisfies AvroRecord;

const startGeneration = {
  type: 'record',
  name: 'StartGeneration',
  doc: 'The collateral ledger starts anew: orders reserved before are refused behind this record.',
  fields: [{ name: 'generation', type: 'int', doc: 'Its number, larger than any before.' }],
} as const satisfies AvroRecord;

const setTradingMode = {
  type: 'record',
  name: 'SetTradingMode',
  doc: 'What all markets of the partition take at most; the stricter of it and the mode of a market holds.',
  fields: [
    { name: 'mode', type: marketMode, doc: 'OPEN leaves it to the markets; never RESOLVED.' },
  ],
} as const satisfies AvroRecord;

const setRules = {
  type: 'record',
  name: 'SetRules',
  doc: 'The records after this one are judged by these rules: so a log of an older version replays as it was written.',
  fields: [
    {
      name: 'version',
      type: 'int',
      doc: 'Rises. 1: the sequence of an envelope is larger than every earlier one of its run and key in the partition. 2: its signature covers the fingerprint of the schema, too. 3: the clock leaps only with a witness. 4: OPERATOR keys can be listed; they sign nothing that only the opening key may. 5: a checkpoint shows the state at the checkpoint before, and remembered ids have a limit. 6: a partition belongs to who has claimed it last, and ticks have its term. 7: a cancel by id fences the ids that the partition has never seen, an order that is known is no stale one, ticks judge the time to book, and a GTD order has a least lifetime.',
    },
  ],
} as const satisfies AvroRecord;

export const command = {
  type: 'oneOf',
  name: 'Command',
  doc: 'Exactly one of its fields is set.',
  branches: [
    placeOrder,
    cancelOrder,
    cancelOrders,
    tick,
    setMarket,
    resolveMarket,
    splitPosition,
    mergePosition,
    redeemPosition,
    setKey,
    startGeneration,
    partitionOpened,
    setTradingMode,
    setRules,
    claimPartition,
    cancelByIds,
  ],
} as const;

export const envelope = {
  type: 'record',
  name: 'Envelope',
  doc: 'Commands of one sender for one partition, and its sign-off.',
  fields: [
    {
      name: 'signature',
      type: signature64,
      doc: 'Ed25519 over the fingerprint of the writer schema and every byte of this record after the signature.',
    },
    { name: 'keyId', type: keyId8, doc: 'The key that signed.' },
    { name: 'partition', type: 'int', doc: 'The partition it is meant for.' },
    {
      name: 'sequence',
      type: 'long',
      doc: "The sender's own number for this envelope, repeated in the output; in runs of 65,536 numbers, and larger than all before it of its run and key in the partition, or the record is rejected.",
    },
    { name: 'commands', type: { type: 'array', items: command }, doc: 'In the order they apply.' },
  ],
} as const satisfies AvroRecord;

export type Command = Infer<typeof command>;
export type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;
export type PlaceOrder = CommandOf<'PlaceOrder'>;
export type Envelope = Infer<typeof envelope>;

/** Bytes of the id of an owner. */
export const ownerIdBytes = 16;

/** The owner of a partition that belongs to no process. */
export const noOwner: Buffer = Buffer.alloc(ownerIdBytes);

/** Sequences of a run: each process that sends under a key numbers its envelopes in runs of its own. */
export const sequencesPerRun = 65_536;

/** Milliseconds for which a run is named: runs that begin later have larger numbers. */
export const sequenceRunMs = 64;

/** The number of the run that a sequence is of. */
export function runOfSequence(sequence: number): number {
  return Math.floor(sequence / sequencesPerRun);
}

/** Bytes of the signature at the head of an encoded envelope; the sign-off covers what follows. */
export const envelopeSignatureBytes = 64;

/** Ids of one `CancelByIds`, so that a full envelope of such commands stays below the topic's message limit. */
export const idsPerCancelMax = 50;

/** An envelope carries no more commands, so that one record stays below the topic's message limit. */
export const envelopeCommandsMax = 512;

import { createHash } from 'node:crypto';
import { Random } from '@pm/kit/random';
import { type Codec, compileCodec } from '@pm/schemas/avro/codec';
import {
  type Command,
  type Envelope,
  envelope as envelopeSchema,
  type PlaceOrder,
} from '@pm/schemas/log/orders';
import { complementPrice, holdMicro, lotMicro, microPerUnit } from '@pm/schemas/money';
import type { PlainCommand } from './plain.ts';

/**
 * How orders of one book are put: `direct` trades token 0 only; `complement` says the same with either token by a coin,
 * so that a bid is a BUY of token 0 or a SELL of token 1 at the complement. The book, its fills and its volume are the
 * same.
 */
export type Wording = 'direct' | 'complement';

export interface EnvelopeRules {
  readonly wording: Wording;
  readonly books: number;
  readonly tick: number;
  /** Commands of one envelope. */
  readonly perEnvelope: number;
  /** The clock the orders were accepted at, Unix milliseconds; a function when it moves. */
  acceptedAtMs(): number;
  /** First order id: another one for each run on the same log. */
  readonly firstId?: number;
  /** Number of the market of the first book; the others follow. 0 when not given. */
  readonly firstMarket?: number;
}

/** Basis points of the fee curve: fees are charged as in the product. */
const feeRateBps = 200;

/** Wallets on either side: no wallet trades with itself, as the other engines have no accounts. */
const walletsPerSide = 32;
const walletCount = 2 * walletsPerSide;

/** Shares of each token every wallet gets in every market, so that no SELL is refused. */
const sharesPerWallet = 1_000_000;

const zero32 = Buffer.alloc(32);
const envelopeCodec = compileCodec(envelopeSchema) as Codec<Envelope>;

function walletBytes(index: number): Buffer {
  return createHash('sha256').update(`bench wallet ${index}`).digest().subarray(0, 20);
}

const wallets = Array.from({ length: walletCount }, (_, index) => walletBytes(index));
const apiKeys = wallets.map((wallet) => wallet.subarray(0, 16));

/** The commands that list the markets and give every wallet its tokens: before the measured part. */
export function* openingCommands(rules: EnvelopeRules): Generator<Command> {
  for (let book = 0; book < rules.books; book += 1) yield setMarket(rules, book);
  for (let book = 0; book < rules.books; book += 1) {
    for (const [index, wallet] of wallets.entries()) {
      const sizeMicro = sharesPerWallet * microPerUnit;
      const requestId = hash(`split ${book} ${index}`);
      const funds = { sizeMicro, holdMicro: sizeMicro, generation: 0, acceptedAtMs: 0 };
      yield { kind: 'SplitPosition', requestId, wallet, market: marketOf(rules, book), ...funds };
    }
  }
}

function marketOf({ firstMarket = 0 }: EnvelopeRules, book: number): number {
  return firstMarket + book;
}

function setMarket(rules: EnvelopeRules, book: number): Command {
  return {
    kind: 'SetMarket',
    market: marketOf(rules, book),
    conditionId: hash(`condition ${book}`),
    token0: hash(`token 0 of ${book}`),
    token1: hash(`token 1 of ${book}`),
    tick: rules.tick,
    minSizeMicro: 0,
    feeRateBps,
    mode: 'OPEN',
    takerDelayMs: 0,
    tickOnly: false,
  };
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Turns plain commands into those of the log. */
export class CommandWriter {
  readonly #rules: EnvelopeRules;
  readonly #firstId: number;
  readonly #random = new Random(3);
  /** By order id, for its cancel. */
  readonly #walletOf: number[] = [];

  constructor(rules: EnvelopeRules) {
    this.#rules = rules;
    this.#firstId = rules.firstId ?? 0;
  }

  write(plain: PlainCommand): Command {
    if (plain.kind === 'cancel') {
      const signer = wallets[this.#walletOf[plain.id] ?? 0] ?? zero32;
      return { kind: 'CancelOrder', orderId: orderIdBytes(this.#firstId + plain.id), signer };
    }
    const side = plain.isBid ? 0 : 1;
    const index = this.#random.below(walletsPerSide) * 2 + side;
    this.#walletOf[plain.id] = index;
    return this.#order(plain, index);
  }

  #order(plain: Exclude<PlainCommand, { kind: 'cancel' }>, index: number): PlaceOrder {
    const rules = this.#rules;
    const outcome = rules.wording === 'complement' && this.#random.chance(0.5) ? 1 : 0;
    const price = outcome === 0 ? plain.price : complementPrice(plain.price);
    const side = plain.isBid === (outcome === 0) ? 'BUY' : 'SELL';
    const amounts = { price, sizeMicro: plain.lots * lotMicro, budgetMicro: 0 };
    const wallet = wallets[index] ?? zero32;
    const acceptedAtMs = rules.acceptedAtMs();
    return {
      kind: 'PlaceOrder',
      orderId: orderIdBytes(this.#firstId + plain.id),
      market: marketOf(rules, plain.book),
      outcome,
      side,
      timeInForce: plain.kind === 'add' ? 'GTC' : 'FAK',
      postOnly: false,
      ...amounts,
      holdMicro: holdMicro({ side, ...amounts, feeRateBps }),
      generation: 0,
      expiresAtMs: 0,
      acceptedAtMs,
      ageLimitMs: 0,
      signedAtMs: acceptedAtMs,
      maker: wallet,
      signer: wallet,
      apiKey: apiKeys[index] ?? zero32,
      builder: zero32,
      selfTrade: 'CANCEL_NEWEST',
    };
  }
}

/** 32 bytes that look as random as an EIP-712 hash and are cheap to make. */
function orderIdBytes(id: number): Buffer {
  const bytes = Buffer.alloc(32);
  let mixed = (id + 1) >>> 0;
  for (let at = 0; at < 32; at += 4) {
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b) >>> 0;
    bytes.writeUInt32LE((mixed + Math.imul(at + 1, id + 0x9e3779b9)) >>> 0, at);
  }
  bytes.writeUInt32LE(id, 28);
  return bytes;
}

/** Groups of at most `size`. */
export function* groupsOf<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let group: T[] = [];
  for (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

const unsigned = { signature: Buffer.alloc(64), keyId: Buffer.alloc(8), partition: 0 };

/** The stream as the bytes of envelopes, without registry header and with a blank signature. */
export function encodeEnvelopes(stream: Iterable<PlainCommand>, rules: EnvelopeRules): Buffer[] {
  const writer = new CommandWriter(rules);
  const encoded: Buffer[] = [];
  for (const group of groupsOf(stream, rules.perEnvelope)) {
    const commands = group.map((plain) => writer.write(plain));
    encoded.push(envelopeCodec.encode({ ...unsigned, sequence: encoded.length, commands }));
  }
  return encoded;
}

export function decodeEnvelope(bytes: Buffer): Envelope {
  return envelopeCodec.decode(bytes);
}

export function envelopeOf(commands: Command[], sequence: number): Envelope {
  return { ...unsigned, sequence, commands };
}

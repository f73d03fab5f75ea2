import { createHash } from 'node:crypto';
import { assert } from '@pm/kit/assert';
import type { MarketMode } from '@pm/schemas/log/types';
import { type LastChange, MarketState } from './market-states.ts';
import type { DelayedOrder } from './order-states.ts';
import type { FrozenFeed } from './partition-feed.ts';
import { MarketIndex, WalletIndex } from './position-index.ts';
import type { FrozenTable } from './record-table.ts';
import type { BestPrices } from './snapshots.ts';

/**
 * The file of the state of a partition, numbers big-endian, memory in the order of the machine (little-endian):
 *
 *     | magic 8 | version 4 | head bytes 4 | file bytes 8 | head, JSON | cells of indexes | tables | SHA-256 32 |
 *     '---------------------------------- hashed ------------------------------------------------'
 */
const magic = Buffer.from('PMFEED\r\n', 'latin1');
/** Raised with every change of the layout or of the fold: an older state is then folded again from the log. */
const version = 2;
const at = { version: 8, headBytes: 12, fileBytes: 16, head: 24 };
const stateHashBytes = 32;

interface MarketHead {
  readonly number: number;
  readonly rules: MarketState['rules'];
  readonly best: BestPrices;
  readonly bestAt: LastChange;
  readonly rulesAt: LastChange;
  readonly bookTimeMs: number;
  readonly lasts: MarketState['lasts'];
  readonly orders: readonly [first: number, last: number];
  readonly seqs: readonly number[];
  /** Cells of its index. */
  readonly cells: number;
}

interface WalletIndexHead {
  readonly slot: number;
  readonly every: number;
  readonly cells: number;
}

interface TableHead {
  readonly count: number;
  readonly fresh: number;
  readonly freeHead: number;
  readonly pieces: number;
  /** 32-bit words of each piece. */
  readonly pieceWords: number;
}

type DelayedHead = Omit<DelayedOrder, 'orderId' | 'apiKey'> & {
  readonly orderId: string;
  readonly apiKey: string;
};

interface Head {
  readonly partition: number;
  readonly epoch: string | null;
  readonly inOffset: number;
  readonly nextOffset: number;
  readonly chain: string;
  readonly timeMs: number;
  readonly tradingMode: MarketMode;
  readonly markets: readonly MarketHead[];
  readonly indexes: readonly WalletIndexHead[];
  readonly delayed: readonly DelayedHead[];
  /** Wallets, positions, orders, keys. */
  readonly tables: readonly TableHead[];
}

/**
 * The bytes of a state before their hash, in parts. Everything that the fold changes in place is copied here; the
 * pieces of tables are those of the frozen state, valid until it is thawed.
 */
export function encodeState(frozen: FrozenFeed): readonly Uint8Array[] {
  const { wallets, orders } = frozen;
  const tables = [wallets.wallets, wallets.positions, orders.orders, orders.keys];
  const indexes = wallets.indexes.map(([slot, index]) => ({ slot, index, cells: index.cells() }));
  const marketCells = frozen.markets.map(({ index }) => index.cells());
  const text = JSON.stringify({
    ...progressHead(frozen),
    markets: frozen.markets.map((market, index) => marketHead(market, marketCells[index] ?? [])),
    indexes: indexes.map(({ slot, index, cells }) => ({
      slot,
      every: index.every,
      cells: cells.length,
    })),
    delayed: orders.delayed.map(delayedHead),
    tables: tables.map(tableHead),
  } satisfies Head);
  const head = Buffer.from(text);
  const cells = bytesOf(
    Float64Array.from([...marketCells, ...indexes.map((one) => one.cells)].flat()),
  );
  const pieces = tables.flatMap((table) => table.pieces.map(bytesOf));
  const start = Buffer.alloc(at.head);
  magic.copy(start);
  start.writeUInt32BE(version, at.version);
  start.writeUInt32BE(head.length, at.headBytes);
  const parts = [start, head, cells, ...pieces];
  const bytes = parts.reduce((sum, part) => sum + part.length, stateHashBytes);
  start.writeBigUInt64BE(BigInt(bytes), at.fileBytes);
  return parts;
}

/** The state in a file's bytes, or the reason why it cannot be used. */
export function decodeState(
  bytes: Buffer,
  expected: { readonly partition: number; readonly nextInOffset: number },
): FrozenFeed | string {
  if (bytes.length < at.head + stateHashBytes) return 'shorter than its head';
  if (!bytes.subarray(0, magic.length).equals(magic)) return 'not a state';
  if (bytes.readUInt32BE(at.version) !== version) return 'of another version';
  if (bytes.readBigUInt64BE(at.fileBytes) !== BigInt(bytes.length)) return 'of another length';
  const hashed = bytes.subarray(0, bytes.length - stateHashBytes);
  const hash = createHash('sha256').update(hashed).digest();
  if (!hash.equals(bytes.subarray(hashed.length))) return 'damaged';
  const cellsFrom = at.head + bytes.readUInt32BE(at.headBytes);
  const head: Head = JSON.parse(hashed.toString('utf8', at.head, cellsFrom));
  if (head.partition !== expected.partition) return 'of another partition';
  if (head.inOffset + 1 !== expected.nextInOffset) return 'of another offset than its name';
  return stateOf(head, new Pieces(hashed, cellsFrom));
}

function stateOf(head: Head, pieces: Pieces): FrozenFeed {
  const { epoch, inOffset, nextOffset, timeMs, tradingMode } = head;
  const chain = Buffer.from(head.chain, 'hex');
  const markets = head.markets.map((market) => marketOf(market, pieces.cells(market.cells)));
  const indexes = head.indexes.map(
    ({ slot, every, cells }) => [slot, new WalletIndex(pieces.cells(cells), every)] as const,
  );
  const [wallets, positions, orders, keys] = head.tables.map((table) => tableOf(table, pieces));
  assert(wallets && positions && orders && keys, 'a state has four tables');
  return {
    partition: head.partition,
    progress: { epoch, inOffset, nextOffset, chain, timeMs, tradingMode },
    markets,
    wallets: { wallets, positions, indexes },
    orders: { orders, keys, delayed: head.delayed.map(delayedOf) },
  };
}

/** Memory of the file, read one piece after the other into memory of its own. */
class Pieces {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, from: number) {
    this.#bytes = bytes;
    this.#at = from;
  }

  cells(count: number): readonly number[] {
    return [...new Float64Array(this.#next(count * Float64Array.BYTES_PER_ELEMENT))];
  }

  words(count: number): Int32Array {
    return new Int32Array(this.#next(count * Int32Array.BYTES_PER_ELEMENT));
  }

  #next(length: number): ArrayBuffer {
    assert(this.#at + length <= this.#bytes.length, 'a piece is in the file');
    const memory = new ArrayBuffer(length);
    Buffer.from(memory).set(this.#bytes.subarray(this.#at, this.#at + length));
    this.#at += length;
    return memory;
  }
}

function progressHead({ partition, progress }: FrozenFeed) {
  const { epoch, inOffset, nextOffset, timeMs, tradingMode } = progress;
  const chain = progress.chain?.toString('hex') ?? '';
  return { partition, epoch, inOffset, nextOffset, chain, timeMs, tradingMode };
}

function marketHead(market: MarketState, cells: readonly number[]): MarketHead {
  const { number, rules, best, bestAt, rulesAt, bookTimeMs, lasts, seqs } = market;
  const orders = [market.firstOrder, market.lastOrder] as const;
  const changes = { bestAt, rulesAt, bookTimeMs, lasts };
  return { number, rules, best, ...changes, orders, seqs, cells: cells.length };
}

function marketOf(head: MarketHead, cells: readonly number[]): MarketState {
  const market = new MarketState(head.number);
  market.rules = head.rules;
  market.best = head.best;
  market.bestAt = head.bestAt;
  market.rulesAt = head.rulesAt;
  market.bookTimeMs = head.bookTimeMs;
  market.lasts = head.lasts;
  [market.firstOrder, market.lastOrder] = head.orders;
  market.seqs.splice(0, market.seqs.length, ...head.seqs);
  market.index = new MarketIndex(cells);
  return market;
}

function delayedHead({ orderId, apiKey, ...order }: DelayedOrder): DelayedHead {
  return { ...order, orderId: orderId.toString('hex'), apiKey: apiKey.toString('hex') };
}

function delayedOf({ orderId, apiKey, ...order }: DelayedHead): DelayedOrder {
  return { ...order, orderId: Buffer.from(orderId, 'hex'), apiKey: Buffer.from(apiKey, 'hex') };
}

function tableHead({ count, fresh, freeHead, pieces }: FrozenTable): TableHead {
  const pieceWords = pieces[0]?.length ?? 0;
  return { count, fresh, freeHead, pieces: pieces.length, pieceWords };
}

function tableOf({ count, fresh, freeHead, ...memory }: TableHead, from: Pieces): FrozenTable {
  const pieces = Array.from({ length: memory.pieces }, () => from.words(memory.pieceWords));
  return { count, fresh, freeHead, pieces };
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

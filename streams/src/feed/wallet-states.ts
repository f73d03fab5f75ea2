import {
  type IndexedRecord,
  type RecordPlace,
  rowEveryMessages,
  WalletIndex,
} from './position-index.ts';
import { type FrozenTable, RecordTable, type RecordView } from './record-table.ts';
import { MadeList, type SnapshotList } from './snapshot-list.ts';

/**
 * Words of a wallet: address 5, slot + 1 of its oldest and newest order, slot + 1 of a position, then doubles: number
 * of its newest change, sums of its money, input offset and offset of its first record, input offset of its newest one.
 */
const walletAt = {
  firstOrder: 5,
  lastOrder: 6,
  firstPosition: 7,
  seq: 8,
  free: 10,
  held: 12,
  firstInOffset: 14,
  firstOffset: 16,
  lastInOffset: 18,
} as const;
const addressWords = 5;
const walletWords = 20;

/** Words of a position: slot of the wallet, market, slot + 1 of its neighbours in the list of the wallet, doubles. */
const positionAt = { wallet: 0, market: 1, next: 2, previous: 3, token0: 4, token1: 6 } as const;
const positionKeyWords = 2;
const positionWords = 8;

/** Sums of changes since the first record of the partition, micro-USDC. */
export interface Money {
  readonly freeMicro: number;
  readonly heldMicro: number;
}

/** Micro-shares of the tokens of a market. */
export interface Tokens {
  readonly token0Micro: number;
  readonly token1Micro: number;
}

export interface MarketTokens extends Tokens {
  readonly market: number;
}

/** The wallets at one moment, until `thaw`. */
export interface FrozenWallets {
  readonly wallets: FrozenTable;
  readonly positions: FrozenTable;
  /** Slot of a wallet -> its index. */
  readonly indexes: readonly (readonly [number, WalletIndex])[];
}

/**
 * The wallets of a partition with the numbers of their changes, money and positions. Wallets stay for good; a position
 * without tokens is removed.
 */
export class WalletStates {
  readonly #wallets: RecordTable;
  readonly #positions: RecordTable;
  /** Indexes of wallets with many changes, by slot of the wallet. */
  readonly #indexes: Map<number, WalletIndex>;

  constructor(frozen?: FrozenWallets) {
    this.#indexes = new Map(frozen?.indexes ?? []);
    if (frozen === undefined) {
      this.#wallets = new RecordTable(addressWords, walletWords);
      this.#positions = new RecordTable(positionKeyWords, positionWords);
    } else {
      this.#wallets = RecordTable.restore(addressWords, walletWords, frozen.wallets);
      this.#positions = RecordTable.restore(positionKeyWords, positionWords, frozen.positions);
    }
  }

  get count(): number {
    return this.#wallets.count;
  }

  get positionCount(): number {
    return this.#positions.count;
  }

  /** Slot of a wallet; -1 for one that no record changed. */
  find(address: Buffer): number {
    return this.#wallets.find(address);
  }

  intern(address: Buffer): number {
    const found = this.#wallets.find(address);
    if (found !== -1) return found;
    const wallet = this.#wallets.add();
    this.#wallets.setFloat(wallet, walletAt.lastInOffset, -1);
    return wallet;
  }

  addressOf(wallet: number): Buffer {
    return this.#wallets.keyOf(wallet);
  }

  seqOf(wallet: number): number {
    return this.#wallets.float(wallet, walletAt.seq);
  }

  /** Input offset of the record of its newest change; -1 before the first. */
  lastInOffsetOf(wallet: number): number {
    return this.#wallets.float(wallet, walletAt.lastInOffset);
  }

  /** The number of the next change of a wallet. */
  countChange(wallet: number, place: RecordPlace): number {
    const wallets = this.#wallets;
    const seq = wallets.float(wallet, walletAt.seq);
    if (wallets.float(wallet, walletAt.lastInOffset) !== place.inOffset)
      this.#mark(wallet, seq, place);
    wallets.setFloat(wallet, walletAt.seq, seq + 1);
    return seq + 1;
  }

  /** The newest indexed record of a wallet that is not after the change that follows `seq`. */
  recordBeforeSeq(wallet: number, seq: number): IndexedRecord {
    return this.#indexes.get(wallet)?.beforeSeq(seq) ?? this.#firstRecord(wallet);
  }

  recordBeforeOffset(wallet: number, inOffset: number): IndexedRecord {
    return this.#indexes.get(wallet)?.beforeOffset(inOffset) ?? this.#firstRecord(wallet);
  }

  moneyOf(wallet: number): Money {
    const freeMicro = this.#wallets.float(wallet, walletAt.free);
    return { freeMicro, heldMicro: this.#wallets.float(wallet, walletAt.held) };
  }

  addMoney(wallet: number, { freeMicro, heldMicro }: Money): void {
    const wallets = this.#wallets;
    const { free, held } = walletAt;
    wallets.setFloat(wallet, free, wallets.float(wallet, free) + freeMicro);
    wallets.setFloat(wallet, held, wallets.float(wallet, held) + heldMicro);
  }

  tokensOf(wallet: number, market: number): Tokens {
    const slot = this.#positions.findPair(wallet, market);
    return slot === -1 ? noTokens : tokensAt(this.#positions, slot);
  }

  addTokens(wallet: number, market: number, change: Tokens): void {
    const positions = this.#positions;
    const { token0, token1 } = positionAt;
    const slot = this.#positionOf(wallet, market);
    positions.setFloat(slot, token0, positions.float(slot, token0) + change.token0Micro);
    positions.setFloat(slot, token1, positions.float(slot, token1) + change.token1Micro);
    if (positions.float(slot, token0) !== 0 || positions.float(slot, token1) !== 0) return;
    this.#unlink(wallet, slot);
    positions.remove(slot);
  }

  /** Markets in which a wallet has tokens at this moment, by market. */
  positionsOf(wallet: number): SnapshotList<MarketTokens> {
    const positions = this.#positions;
    const slots: number[] = [];
    let slot = this.#wallets.int(wallet, walletAt.firstPosition) - 1;
    for (; slot !== -1; slot = positions.int(slot, positionAt.next) - 1) slots.push(slot);
    const copy = positions.copy(this.#byMarket(slots));
    return new MadeList(slots.length, (place) => ({
      market: copy.int(place, positionAt.market),
      ...tokensAt(copy, place),
    }));
  }

  /** Slots by their markets. Numbers in flat memory are sorted ten times as fast as objects. */
  #byMarket(slots: readonly number[]): readonly number[] {
    const count = slots.length;
    const keys = new Float64Array(count);
    for (let place = 0; place < count; place += 1)
      keys[place] = this.#positions.int(slots[place] as number, positionAt.market) * count + place;
    keys.sort();
    const sorted: number[] = [];
    for (const key of keys) sorted.push(slots[key % count] as number);
    return sorted;
  }

  /** Slots of the oldest and of the newest order of a wallet, -1 for none; `orders` keeps the list between them. */
  firstOrderOf(wallet: number): number {
    return this.#wallets.int(wallet, walletAt.firstOrder) - 1;
  }

  lastOrderOf(wallet: number): number {
    return this.#wallets.int(wallet, walletAt.lastOrder) - 1;
  }

  setFirstOrder(wallet: number, order: number): void {
    this.#wallets.setInt(wallet, walletAt.firstOrder, order + 1);
  }

  setLastOrder(wallet: number, order: number): void {
    this.#wallets.setInt(wallet, walletAt.lastOrder, order + 1);
  }

  freeze(): FrozenWallets {
    const indexes = [...this.#indexes];
    return { wallets: this.#wallets.freeze(), positions: this.#positions.freeze(), indexes };
  }

  thaw(): void {
    this.#wallets.thaw();
    this.#positions.thaw();
  }

  #mark(wallet: number, seq: number, place: RecordPlace): void {
    const wallets = this.#wallets;
    wallets.setFloat(wallet, walletAt.lastInOffset, place.inOffset);
    if (seq === 0) {
      wallets.setFloat(wallet, walletAt.firstInOffset, place.inOffset);
      wallets.setFloat(wallet, walletAt.firstOffset, place.offset);
      return;
    }
    // Most wallets have few changes, and need no more than their first record.
    if (seq < rowEveryMessages) return;
    let index = this.#indexes.get(wallet);
    if (index === undefined) {
      const { inOffset, offset } = this.#firstRecord(wallet);
      index = new WalletIndex([0, inOffset, offset]);
      this.#indexes.set(wallet, index);
    }
    index.mark(place, seq);
  }

  #firstRecord(wallet: number): IndexedRecord {
    const inOffset = this.#wallets.float(wallet, walletAt.firstInOffset);
    const offset = this.#wallets.float(wallet, walletAt.firstOffset);
    return { inOffset, offset, seqBefore: 0 };
  }

  #positionOf(wallet: number, market: number): number {
    const found = this.#positions.findPair(wallet, market);
    if (found !== -1) return found;
    const slot = this.#positions.add();
    const next = this.#wallets.int(wallet, walletAt.firstPosition);
    this.#positions.setInt(slot, positionAt.next, next);
    if (next !== 0) this.#positions.setInt(next - 1, positionAt.previous, slot + 1);
    this.#wallets.setInt(wallet, walletAt.firstPosition, slot + 1);
    return slot;
  }

  #unlink(wallet: number, slot: number): void {
    const positions = this.#positions;
    const next = positions.int(slot, positionAt.next);
    const previous = positions.int(slot, positionAt.previous);
    if (previous === 0) this.#wallets.setInt(wallet, walletAt.firstPosition, next);
    else positions.setInt(previous - 1, positionAt.next, next);
    if (next !== 0) positions.setInt(next - 1, positionAt.previous, previous);
  }
}

function tokensAt(positions: RecordView, slot: number): Tokens {
  const token0Micro = positions.float(slot, positionAt.token0);
  return { token0Micro, token1Micro: positions.float(slot, positionAt.token1) };
}

export const noMoney: Money = { freeMicro: 0, heldMicro: 0 };
export const noTokens: Tokens = { token0Micro: 0, token1Micro: 0 };

import { assert } from '@pm/kit/assert';
import type { MarketChannel } from './snapshots.ts';

/** A resume within so many changes is read out of the log; further back it starts with a snapshot. */
export const replayMessagesMax = 100_000;
/**
 * Largest age of a position from which a resume is read out of the log, by the clock of the partition, milliseconds;
 * further back it starts with a snapshot.
 */
export const replayAgeMaxMs = 3_600_000;

/** A row is added once a channel has so many changes after the last row. */
export const rowEveryMessages = 64;
/** Or with the first change after so many milliseconds on the clock of the partition. */
const rowEveryMs = 60_000;
/** Rows of a wallet; beyond them every second one is dropped, so that they reach back to its first change. */
const walletRowsMax = 32;

/** A record from which changes can be read again. */
export interface IndexedRecord {
  readonly inOffset: number;
  /** Offset of the record in `executions`. */
  readonly offset: number;
  /** Number of the newest change before the record. */
  readonly seqBefore: number;
}

/** The record that is applied. */
export interface RecordPlace {
  readonly inOffset: number;
  /** Its offset in `executions`. */
  readonly offset: number;
  readonly timeMs: number;
}

/** Channels that are read again change by change; of the others the newest change says everything. */
export const indexedChannels = ['book', 'trades', 'orders', 'activity'] as const;
export type IndexedChannel = (typeof indexedChannels)[number];

/** Rows of `replayMessagesMax` changes of one channel, and one a minute for an hour. */
const channelRowsMax = Math.ceil(replayMessagesMax / rowEveryMessages) + 64;
/**
 * Rows of a market: each of them comes with the changes of any channel, so that the rows of one channel alone would not
 * reach back far enough for the others.
 */
const marketRowsMax = indexedChannels.length * channelRowsMax;

export function isIndexed(channel: MarketChannel): channel is IndexedChannel {
  return channel !== 'best' && channel !== 'markets';
}

const [inOffsetCell, offsetCell, timeCell, countersCell] = [0, 1, 2, 3] as const;
const marketCells = countersCell + indexedChannels.length;

/**
 * Sparse records of a market, each with the numbers of its channels before it. Rows older than `replayAgeMaxMs` are
 * dropped, except the newest one before that time.
 */
export class MarketIndex {
  readonly #cells: number[];
  /** Cells before it are dropped. */
  #start = 0;

  /** `cells` as `cells()` returned them. */
  constructor(cells: readonly number[] = []) {
    assert(cells.length % marketCells === 0, 'rows are complete');
    this.#cells = [...cells];
  }

  /** Called before the first change of a record; `counters`: numbers of `indexedChannels` before it. */
  mark(place: RecordPlace, counters: readonly number[]): void {
    const cells = this.#cells;
    if (cells.length > this.#start && !this.#isDue(place, counters)) return;
    cells.push(place.inOffset, place.offset, place.timeMs);
    for (let at = 0; at < indexedChannels.length; at += 1) cells.push(counters[at] ?? 0);
    this.#dropOld(place.timeMs);
  }

  /** The newest row whose record is not after the change that follows `seq`; null when it was dropped or is too old. */
  beforeSeq(channel: IndexedChannel, seq: number, nowMs: number): IndexedRecord | null {
    const cell = countersCell + indexedChannels.indexOf(channel);
    return this.#found(channel, this.#lastRow(cell, seq), nowMs);
  }

  /** The newest row whose record is not after the one at `inOffset`; for an earlier one the first row of all. */
  beforeOffset(channel: IndexedChannel, inOffset: number, nowMs: number): IndexedRecord | null {
    const row = this.#lastRow(inOffsetCell, inOffset);
    return this.#found(channel, row === -1 ? this.#veryFirst() : row, nowMs);
  }

  /** For the state of the partition. */
  cells(): readonly number[] {
    return this.#cells.slice(this.#start);
  }

  #isDue(place: RecordPlace, counters: readonly number[]): boolean {
    const cells = this.#cells;
    const last = cells.length - marketCells;
    if (place.timeMs - (cells[last + timeCell] as number) >= rowEveryMs) return true;
    for (let at = 0; at < indexedChannels.length; at += 1) {
      const before = cells[last + countersCell + at] as number;
      if ((counters[at] ?? 0) - before >= rowEveryMessages) return true;
    }
    return false;
  }

  #dropOld(nowMs: number): void {
    const cells = this.#cells;
    for (let next = this.#start + marketCells; next < cells.length; next += marketCells) {
      const isOld = (cells[next + timeCell] as number) < nowMs - replayAgeMaxMs;
      if (!isOld && (cells.length - this.#start) / marketCells <= marketRowsMax) break;
      this.#start = next;
    }
    if (this.#start * 2 <= cells.length) return;
    cells.splice(0, this.#start);
    this.#start = 0;
  }

  /** The last row with a cell not above `value`, or -1; cells of one kind ascend. */
  #lastRow(cell: number, value: number): number {
    const cells = this.#cells;
    let low = this.#start / marketCells;
    let high = cells.length / marketCells;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((cells[middle * marketCells + cell] as number) <= value) low = middle + 1;
      else high = middle;
    }
    return (low - 1) * marketCells >= this.#start ? (low - 1) * marketCells : -1;
  }

  /** The first row if nothing was before it, or -1. */
  #veryFirst(): number {
    const from = this.#start + countersCell;
    const counters = this.#cells.slice(from, from + indexedChannels.length);
    return counters.length > 0 && counters.every((seq) => seq === 0) ? this.#start : -1;
  }

  #found(channel: IndexedChannel, row: number, nowMs: number): IndexedRecord | null {
    const cells = this.#cells;
    if (row === -1) return null;
    if ((cells[row + timeCell] as number) < nowMs - replayAgeMaxMs) return null;
    return {
      inOffset: cells[row + inOffsetCell] as number,
      offset: cells[row + offsetCell] as number,
      seqBefore: cells[row + countersCell + indexedChannels.indexOf(channel)] as number,
    };
  }
}

/** Row of a wallet: its number before the record, the input offset, the offset. */
const walletCells = 3;

/**
 * Sparse records of a wallet with more than `rowEveryMessages` changes, from its first change on: at most
 * `walletRowsMax`, with distances that double as the wallet has more changes.
 */
export class WalletIndex {
  readonly #cells: number[];
  #every: number;

  /** `cells` and `every` as they were returned. */
  constructor(cells: readonly number[], every: number = rowEveryMessages) {
    assert(cells.length >= walletCells && cells.length % walletCells === 0, 'rows are complete');
    this.#cells = [...cells];
    this.#every = every;
  }

  /** Changes between two rows, at least. */
  get every(): number {
    return this.#every;
  }

  /** Called before the first change of a record. */
  mark({ inOffset, offset }: RecordPlace, seqBefore: number): void {
    const cells = this.#cells;
    const last = cells[cells.length - walletCells];
    if (last !== undefined && seqBefore - last < this.#every) return;
    cells.push(seqBefore, inOffset, offset);
    if (cells.length > walletRowsMax * walletCells) this.#thin();
  }

  /** The newest row whose record is not after the change that follows `seq`; the first one for earlier changes. */
  beforeSeq(seq: number): IndexedRecord {
    return this.#lastRow(0, seq);
  }

  beforeOffset(inOffset: number): IndexedRecord {
    return this.#lastRow(1, inOffset);
  }

  cells(): readonly number[] {
    return this.#cells;
  }

  #thin(): void {
    const kept: number[] = [];
    for (let at = 0; at < this.#cells.length; at += 2 * walletCells)
      kept.push(...this.#cells.slice(at, at + walletCells));
    this.#cells.length = 0;
    this.#cells.push(...kept);
    this.#every *= 2;
  }

  #lastRow(cell: 0 | 1, value: number): IndexedRecord {
    const cells = this.#cells;
    let found = 0;
    for (let at = 0; at < cells.length && (cells[at + cell] as number) <= value; at += walletCells)
      found = at;
    const [seqBefore = 0, inOffset = 0, offset = 0] = cells.slice(found, found + walletCells);
    return { seqBefore, inOffset, offset };
  }
}

import { lotMicro } from '@pm/schemas/money';
import { askMark, priceMask } from '../book/book.ts';
import type { Output, Scratch } from '../record.ts';
import { assertTops } from '../state/invariants.ts';
import type { Market } from '../state/markets.ts';
import type { State } from '../state/state.ts';
import { writeLevel, writeMoney, writeTop } from './write-events.ts';

/** Adds the net changes of the record: levels by market, side and price; tops by market; money by first change. */
export function closeRecord(state: State, out: Output): void {
  if (state.book.touchedCount > 0) {
    assertTops(state);
    closeLevels(state, out);
    closeTops(state, out);
    state.book.endRecord();
  }
  closeMoney(state, out);
  state.accounts.sweep();
  state.builders.sweep();
}

function closeMoney(state: State, out: Output): void {
  const { wallets } = state;
  const { moved, movedCount } = wallets;
  for (let index = 0; index < movedCount; index += 1) {
    const wallet = moved[index] as number;
    const isNothing = wallets.freeChange(wallet) === 0 && wallets.heldChange(wallet) === 0;
    if (!isNothing) writeMoney(state, wallet, out);
  }
  wallets.endRecord();
}

/** The changed markets go to the front of `sortedMarkets`, by number, since each has a changed level. */
function closeLevels(state: State, out: Output): void {
  const { book, markets } = state;
  const count = sortLevels(state, out.scratch);
  const { levelKeys, sortedMarkets } = out.scratch;
  let number = -1;
  let slot = -1;
  let found = 0;
  for (let index = 0; index < count; index += 1) {
    const key = levelKeys[index] as number;
    const market = Math.floor(key / levelsPerMarket);
    if (market !== number) {
      number = market;
      slot = (markets.find(market) as Market).slot;
      sortedMarkets[found] = slot;
      found += 1;
    }
    const packed = key - market * levelsPerMarket;
    const isBid = packed < askMark;
    const price = packed & priceMask;
    writeLevel(number, isBid, price, book.levelLots(slot, isBid, price) * lotMicro, out);
  }
}

/** Puts market number x 32768 + packed level into `levelKeys`, ascending; returns how many. */
function sortLevels(state: State, scratch: Scratch): number {
  const { touchedMarkets, touchedLevels, touchedCount: count } = state.book;
  // The memory is kept between records: a new array of this size costs more than the sorting.
  if (scratch.levelKeys.length < count) scratch.levelKeys = new Float64Array(count * 2);
  const markets = state.book.toppedCount;
  if (scratch.sortedMarkets.length < markets) scratch.sortedMarkets = new Int32Array(markets * 2);
  const { levelKeys } = scratch;
  for (let index = 0; index < count; index += 1) {
    const { number } = state.markets.at(touchedMarkets[index] as number);
    levelKeys[index] = number * levelsPerMarket + (touchedLevels[index] as number);
  }
  if (count > fewLevels) levelKeys.subarray(0, count).sort();
  else sortFew(levelKeys, count);
  return count;
}

const levelsPerMarket = 2 * askMark;
const fewLevels = 32;

/** By insertion: most records change a few levels, and a call of the native sort costs more than sorting those. */
function sortFew(values: Float64Array, count: number): void {
  for (let next = 1; next < count; next += 1) {
    const value = values[next] as number;
    let place = next;
    for (; place > 0 && (values[place - 1] as number) > value; place -= 1) {
      values[place] = values[place - 1] as number;
    }
    values[place] = value;
  }
}

function closeTops(state: State, out: Output): void {
  const { book } = state;
  const { sortedMarkets } = out.scratch;
  for (let index = 0; index < book.toppedCount; index += 1) {
    const market = sortedMarkets[index] as number;
    if (book.isTopChanged(market)) writeTop(state, market, out);
  }
}

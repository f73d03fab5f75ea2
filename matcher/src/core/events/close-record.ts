import { lotMicro } from '@pm/schemas';
import { askMark, priceMask } from '../book/book.ts';
import type { Output, Scratch } from '../record.ts';
import { assertTops } from '../state/invariants.ts';
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
  for (const wallet of state.wallets.moved) {
    const freeMicro = state.wallets.freeChange(wallet);
    const heldMicro = state.wallets.heldChange(wallet);
    if (freeMicro === 0 && heldMicro === 0) continue;
    writeMoney(state, wallet, out);
  }
  state.wallets.endRecord();
  state.accounts.sweep();
  state.builders.sweep();
}

function closeLevels(state: State, out: Output): void {
  const { book, markets } = state;
  const count = sortLevels(state, out.scratch);
  const { levelKeys } = out.scratch;
  for (let index = 0; index < count; index += 1) {
    const key = levelKeys[index] as number;
    const market = Math.floor(key / levelsPerMarket);
    const packed = key - market * levelsPerMarket;
    const isBid = packed < askMark;
    const price = packed & priceMask;
    const slot = markets.find(market)?.slot as number;
    const sizeMicro = book.levelLots(slot, isBid, price) * lotMicro;
    writeLevel({ market, isBid, price, sizeMicro }, out);
  }
}

/** Puts market number x 32768 + packed level into `levelKeys`, ascending; returns how many. */
function sortLevels(state: State, scratch: Scratch): number {
  const { touchedMarkets, touchedLevels, touchedCount: count } = state.book;
  // The memory is kept between records: a new array of this size costs more than the sorting.
  if (scratch.levelKeys.length < count) scratch.levelKeys = new Float64Array(count * 2);
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
  const { book, markets } = state;
  const changed = book.toppedMarkets
    .slice(0, book.toppedCount)
    .filter((market) => book.isTopChanged(market))
    .sort((a, b) => markets.at(a).number - markets.at(b).number);
  for (const market of changed) {
    writeTop(state, market, out);
  }
}

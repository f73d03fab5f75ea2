import {
  at,
  expiryWord,
  type FrozenOrders,
  ordersByArrival,
  orderWords,
} from '../book/order-pool.ts';
import { writeBooked } from './booked-bytes.ts';
import { writeDelays } from './delay-and-fence-bytes.ts';
import { fillsDoubles } from './first-fills.ts';
import { currentState, type FrozenRest, type FrozenState } from './frozen-state.ts';
import { holdsOf } from './interned.ts';
import { type FrozenTable, slotsOf } from './key-table.ts';
import { type FrozenIds, fillsFlag, idRecord, looseFlag } from './order-results.ts';
import { amountsAt } from './positions.ts';
import { countSlots, sortSlotsByBytes } from './sort-slots.ts';
import type { State } from './state.ts';
import { rowWords, StateWriter } from './state-bytes.ts';

/**
 * The state of a partition as bytes.
 *
 * Promises: equal states give equal bytes, whatever their slots and history: keys by id, markets by number, wallets by
 * bytes, positions by market and wallet, remembered ids by minute and arrival, orders by arrival, accounts and builder
 * codes by first use, delayed orders by release, orders that a tick judges by arrival, fences by owner and scope; each
 * is named by its place in that order. Slots, hashes and unused entries are left out. Bytes that `encodeState` cannot
 * have written are refused: every number is checked, then all invariants, and the restored state must encode to the
 * same bytes.
 */
export function encodeState(state: State): Buffer {
  return encodeFrozen(currentState(state));
}

/**
 * The bytes of `encodeState` for a state that was frozen, in any thread. Rows are copied word by word, without objects.
 */
export function encodeFrozen({ facts, rest }: FrozenState): Buffer {
  const to = new StateWriter(facts.length + (rest === null ? 0 : roomFor(rest)));
  to.bytes(facts);
  if (rest === null) return to.finish();
  const positions = writePositions(rest, to);
  const orders = ordersByArrival(rest.orders);
  const ids = writeIds(rest.orderIds, looseIds(rest, orders), to);
  writeIds(rest.requestIds, [], to);
  writeOrders(rest, { orders, positions, ids }, to);
  writeDelays(rest.delays, { positions, ids }, to);
  if (rest.booked !== null) writeBooked(rest.booked, ids, to);
  to.bytes(rest.fences);
  return to.finish();
}

/** Bytes that nearly every state fits in; only address space until it is written to. */
function roomFor({ orderIds, requestIds, orders, ...rest }: FrozenRest): number {
  const ids = countIds(orderIds.minutes) + countIds(requestIds.minutes) + orders.count;
  const owners = rest.wallets.count + rest.positions.count;
  const booked = (rest.booked?.unjudged.length ?? 0) * 16 + (rest.booked?.late.length ?? 0) * 8;
  const waiting = rest.delays.rows.length * 2 + rest.fences.length + booked;
  return 65_536 + waiting + owners * 64 + ids * 96 + orders.count * 96;
}

/** Wallets, then a row per position: wallet, market, and both totals as doubles. Returns the place of each slot. */
function writePositions({ wallets, markets, positions }: FrozenRest, to: StateWriter): Int32Array {
  const used = slotsOf(wallets).filter((slot) => holdsOf(wallets, slot) > 0);
  const placeOfWallet = writeKeys(wallets, sortSlotsByBytes(used, wallets), to);
  const placeOfMarket = placesOf(markets, markets.length);
  const { ints, stride, capacity } = positions;
  const byWallet = countSlots(
    slotsOf(positions),
    used.length,
    (slot) => placeOfWallet[ints[slot * stride] as number] as number,
  );
  const sorted = countSlots(
    byWallet,
    markets.length,
    (slot) => placeOfMarket[ints[slot * stride + 1] as number] as number,
  );
  to.number(sorted.length);
  const rows = to.words(sorted.length * rowWords.position);
  for (let index = 0, row = 0; index < sorted.length; index += 1, row += rowWords.position) {
    const from = (sorted[index] as number) * stride;
    rows[row] = placeOfWallet[ints[from] as number] as number;
    rows[row + 1] = placeOfMarket[ints[from + 1] as number] as number;
    const amounts = from + amountsAt;
    for (let word = 0; word < 4; word += 1) rows[row + 2 + word] = ints[amounts + word] as number;
  }
  return placesOf(sorted, capacity);
}

/** Ids that are in no minute any more: of resting orders by arrival, then of delayed ones by release. */
function looseIds({ orderIds, orders, delays }: FrozenRest, sorted: Int32Array): number[] {
  const { flags, hasLoose } = orderIds;
  const loose: number[] = [];
  if (!hasLoose) return loose;
  markLoose(orderIds);
  const addLoose = (id: number): void => {
    if (((flags[id] as number) & looseFlag) !== 0) loose.push(id);
  };
  for (const order of sorted) addLoose(orders.ints[order * orderWords + at.memory] as number);
  for (const id of delays.memory) addLoose(id);
  return loose;
}

/** Sets the flag of ids whose minute is forgotten; of those without an order it is not read. */
function markLoose({ ints, flags, forgotten }: FrozenIds): void {
  for (const { head, count } of forgotten) {
    let slot = head;
    for (let left = count; left > 0; left -= 1) {
      flags[slot] = (flags[slot] as number) | looseFlag;
      slot = ints[slot * idRecord.words + idRecord.nextAt] as number;
    }
  }
}

/**
 * Minutes with their number of ids, and the number of those that are in none; a row per id: the id, its signer, its
 * flags; and the first fills of those that have any. Returns the place of each slot.
 */
function writeIds(ids: FrozenIds, loose: readonly number[], to: StateWriter): Int32Array {
  to.number(ids.minutes.length);
  for (const { minute, count } of ids.minutes) {
    to.number(minute);
    to.number(count);
  }
  to.number(loose.length);
  const slots = idsInOrder(ids, loose);
  const { ints, flags } = ids;
  const rows = to.words(slots.length * rowWords.id);
  const filled: number[] = [];
  for (let index = 0, row = 0; index < slots.length; index += 1, row += rowWords.id) {
    const slot = slots[index] as number;
    const from = slot * idRecord.words;
    for (let word = 0; word < rowWords.id - 1; word += 1)
      rows[row + word] = ints[from + word] as number;
    rows[row + rowWords.id - 1] = flags[slot] as number;
    if (((flags[slot] as number) & fillsFlag) !== 0)
      filled.push(ints[from + idRecord.fillsAt] as number);
  }
  writeFirstFills(ids.fills, filled, to.doubles(filled.length * fillsDoubles));
  return placesOf(slots, ids.capacity);
}

/** The slots of all ids: minute by minute in the order of their arrival, then those in no minute. */
function idsInOrder({ ints, minutes }: FrozenIds, loose: readonly number[]): Int32Array {
  const slots = new Int32Array(countIds(minutes) + loose.length);
  let index = 0;
  for (const { head, count: inMinute } of minutes) {
    let slot = head;
    for (const end = index + inMinute; index < end; index += 1) {
      slots[index] = slot;
      slot = ints[slot * idRecord.words + idRecord.nextAt] as number;
    }
  }
  slots.set(loose, index);
  return slots;
}

function countIds(minutes: FrozenIds['minutes']): number {
  return minutes.reduce((sum, { count }) => sum + count, 0);
}

function writeFirstFills(fills: Float64Array, places: readonly number[], into: Float64Array): void {
  for (let index = 0, row = 0; index < places.length; index += 1, row += fillsDoubles) {
    const from = (places[index] as number) * fillsDoubles;
    for (let field = 0; field < fillsDoubles; field += 1)
      into[row + field] = fills[from + field] as number;
  }
}

/**
 * A row per order, oldest first, so that restoring keeps their order in each queue: id, position, account, builder
 * code, price and flags, lots, expiry as a double. After them the accounts and builder codes.
 */
function writeOrders(
  { orders, ...rest }: FrozenRest,
  from: Readonly<Record<'orders' | 'positions' | 'ids', Int32Array>>,
  to: StateWriter,
): void {
  const sorted = from.orders;
  const accounts = new FirstUse(rest.accounts.capacity);
  const builders = new FirstUse(rest.builders.capacity);
  to.number(sorted.length);
  const rows = to.words(sorted.length * rowWords.order);
  for (let index = 0, row = 0; index < sorted.length; index += 1, row += rowWords.order) {
    const order = sorted[index] as number;
    rows[row] = from.ids[wordOf(orders, order, at.memory)] as number;
    rows[row + 1] = from.positions[wordOf(orders, order, at.position)] as number;
    rows[row + 2] = accounts.place(wordOf(orders, order, at.account));
    rows[row + 3] = builders.place(wordOf(orders, order, at.builder));
    rows[row + 4] = wordOf(orders, order, at.priceAndFlags);
    rows[row + 5] = orders.lots[order] as number;
    rows[row + 6] = wordOf(orders, order, expiryWord);
    rows[row + 7] = wordOf(orders, order, expiryWord + 1);
  }
  writeKeys(rest.accounts, accounts.slots, to);
  writeKeys(rest.builders, builders.slots, to);
}

function wordOf({ ints, owners }: FrozenOrders, order: number, field: number): number {
  return field < orderWords
    ? (ints[order * orderWords + field] as number)
    : (owners[order * orderWords + field - orderWords] as number);
}

/** The keys of these slots; returns the place of each slot. */
function writeKeys(
  { ints, stride, keyWords, capacity }: FrozenTable,
  slots: readonly number[] | Int32Array,
  to: StateWriter,
): Int32Array {
  to.number(slots.length);
  const keys = to.words(slots.length * keyWords);
  for (let index = 0; index < slots.length; index += 1) {
    const from = (slots[index] as number) * stride;
    for (let word = 0; word < keyWords; word += 1) {
      keys[index * keyWords + word] = ints[from + word] as number;
    }
  }
  return placesOf(slots, capacity);
}

function placesOf(slots: readonly number[] | Int32Array, capacity: number): Int32Array {
  const places = new Int32Array(capacity);
  for (let place = 0; place < slots.length; place += 1) places[slots[place] as number] = place;
  return places;
}

/** Numbers slots in the order of their first use. */
class FirstUse {
  readonly slots: number[] = [];
  /** Place plus one, 0 when it has none yet. */
  private readonly places: Int32Array;

  constructor(capacity: number) {
    this.places = new Int32Array(capacity);
  }

  place(slot: number): number {
    if (this.places[slot] === 0) this.places[slot] = this.slots.push(slot);
    return (this.places[slot] as number) - 1;
  }
}

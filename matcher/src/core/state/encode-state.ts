import { rules } from '@pm/schemas';
import { at, expiryWord } from '../book/order-pool.ts';
import type { SignOffKey } from '../rules/sign-off-keys.ts';
import { writeDelays, writeFences } from './delay-and-fence-bytes.ts';
import type { KeyTable } from './key-table.ts';
import { fillsFlag, type IdMemory, looseFlag } from './order-results.ts';
import { amountsAt } from './positions.ts';
import { countSlots, sortSlotsByBytes } from './sort-slots.ts';
import type { State } from './state.ts';
import { fillsDoubles, formats, modes, roles, rowWords, StateWriter } from './state-bytes.ts';

/**
 * The state of a partition as bytes.
 *
 * Promises: equal states give equal bytes, whatever their slots and history: keys by id, markets by number, wallets by
 * bytes, positions by market and wallet, remembered ids by minute and arrival, orders by arrival, accounts and builder
 * codes by first use, delayed orders by release, fences by owner and scope; each is named by its place in that order.
 * Slots, hashes and unused entries are left out. Bytes that `encodeState` cannot have written are refused: every number
 * is checked, then all invariants, and the restored state must encode to the same bytes.
 *
 * The partition waits while it is encoded, so rows are copied word by word from flat memory, without objects.
 */
export function encodeState(state: State): Buffer {
  const to = new StateWriter(roomFor(state));
  to.number(state.rules === 0 ? formats.withoutRules : formats.withRules);
  to.number(state.partition);
  to.number(state.opened ? 1 : 0);
  if (!state.opened) return to.finish();
  writeFacts(state, to);
  writeMarkets(state, to);
  const positions = writePositions(state, to);
  const orders = state.book.orders.byArrival();
  const ids = writeMemory(state.orderMemory, looseIds(state, orders), to);
  writeMemory(state.requestMemory, [], to);
  writeOrders(state, { orders, positions, ids }, to);
  writeDelays(state, { positions, ids }, to);
  writeFences(state.fences, to);
  return to.finish();
}

/** Bytes that nearly every state fits in; only address space until it is written to. */
function roomFor(state: State): number {
  const ids = state.orderMemory.table.count + state.requestMemory.table.count;
  const owners = state.wallets.table.count + state.positions.table.count;
  const waiting = state.delays.count + state.fences.count;
  return (
    65_536 +
    waiting * 256 +
    state.markets.list.length * 256 +
    owners * 64 +
    ids * 96 +
    state.book.orders.count * 96
  );
}

function writeFacts(state: State, to: StateWriter): void {
  to.bytes(state.operatorKey as Buffer);
  to.bytes(state.wallets.bytes(state.feeWallet));
  to.number(state.bookAgeLimitMs);
  to.number(state.orderAgeLimitMs);
  to.number(state.timeMs);
  to.number(state.generation);
  to.number(modes.indexOf(state.mode));
  if (state.rules > 0) to.number(state.rules);
  if (state.rules >= rules.witnessedClock) to.number(state.witnessMs);
  const keys = state.keys.inOrder();
  to.number(keys.length);
  for (const key of keys) {
    to.bytes(key.publicKey);
    to.number(roles.indexOf(key.role));
    to.number(key.active ? 1 : 0);
    if (state.rules > 0) writeUsed(key, to);
  }
}

function writeUsed({ used }: SignOffKey, to: StateWriter): void {
  to.number(used.floor);
  to.number(used.newest.length);
  for (const sequence of used.newest) to.number(sequence);
}

function writeMarkets(state: State, to: StateWriter): void {
  const markets = state.markets.inOrder();
  to.number(markets.length);
  for (const market of markets) {
    to.number(market.number);
    to.bytes(market.conditionId);
    to.bytes(market.token0);
    to.bytes(market.token1);
    to.number(market.tick);
    to.number(market.minSizeMicro);
    to.number(market.feeRateBps);
    to.number(modes.indexOf(market.mode));
    to.number(market.takerDelayMs);
    to.number(market.payout0);
    to.number(market.collateralMicro);
  }
}

/** Wallets, then a row per position: wallet, market, and both totals as doubles. Returns the place of each slot. */
function writePositions({ wallets, markets, positions }: State, to: StateWriter): Int32Array {
  const used = wallets.table.slots().filter((slot) => wallets.holds(slot) > 0);
  const placeOfWallet = writeKeys(wallets.table, sortSlotsByBytes(used, wallets.table), to);
  const placeOfMarket = placesOf(
    Int32Array.from(markets.inOrder(), ({ slot }) => slot),
    markets.list.length,
  );
  const { table } = positions;
  const byWallet = countSlots(
    table.slots(),
    used.length,
    (slot) => placeOfWallet[positions.wallet(slot)] as number,
  );
  const sorted = countSlots(
    byWallet,
    markets.list.length,
    (slot) => placeOfMarket[positions.market(slot)] as number,
  );
  to.number(sorted.length);
  const rows = to.words(sorted.length * rowWords.position);
  const { ints, stride } = table;
  for (let index = 0, row = 0; index < sorted.length; index += 1, row += rowWords.position) {
    const slot = sorted[index] as number;
    rows[row] = placeOfWallet[positions.wallet(slot)] as number;
    rows[row + 1] = placeOfMarket[positions.market(slot)] as number;
    const amounts = slot * stride + amountsAt;
    for (let word = 0; word < 4; word += 1) rows[row + 2 + word] = ints[amounts + word] as number;
  }
  return placesOf(sorted, table.capacity);
}

/** Ids that are in no minute any more: of resting orders by arrival, then of delayed ones by release. */
function looseIds({ orderMemory, book, delays }: State, orders: Int32Array): number[] {
  const loose: number[] = [];
  if (orderMemory.looseCount === 0) return loose;
  for (const order of orders) {
    const memory = book.orders.get(order, at.memory);
    if ((orderMemory.flags(memory) & looseFlag) !== 0) loose.push(memory);
  }
  for (const { memory } of delays.inOrder()) {
    if ((orderMemory.flags(memory) & looseFlag) !== 0) loose.push(memory);
  }
  return loose;
}

/**
 * Minutes with their number of ids, and the number of those that are in none; a row per id: the id, its signer, its
 * flags; and the first fills of those that have any. Returns the place of each slot.
 */
function writeMemory(memory: IdMemory, loose: readonly number[], to: StateWriter): Int32Array {
  const minutes = memory.inOrder();
  to.number(minutes.length);
  for (const { minute, count } of minutes) {
    to.number(minute);
    to.number(count);
  }
  to.number(loose.length);
  const rows = to.words(memory.table.count * rowWords.id);
  const placeOf = new Int32Array(memory.table.capacity);
  const filled: number[] = [];
  let place = 0;
  const write = (slot: number): void => {
    memory.copyRow(slot, rows, place * rowWords.id);
    if ((memory.flags(slot) & fillsFlag) !== 0) filled.push(slot);
    placeOf[slot] = place;
    place += 1;
  };
  for (const { head } of minutes) {
    for (let slot = head; slot !== -1; slot = memory.next(slot)) write(slot);
  }
  for (const slot of loose) write(slot);
  writeFirstFills(memory, filled, to.doubles(filled.length * fillsDoubles));
  return placeOf;
}

function writeFirstFills(memory: IdMemory, slots: readonly number[], into: Float64Array): void {
  for (let index = 0, row = 0; index < slots.length; index += 1, row += fillsDoubles) {
    const fills = memory.firstFills(slots[index] as number);
    into[row] = fills.filledMicro;
    into[row + 1] = fills.paidMicro;
    into[row + 2] = fills.offset;
    into[row + 3] = fills.first;
    into[row + 4] = fills.count;
  }
}

/**
 * A row per order, oldest first, so that restoring keeps their order in each queue: id, position, account, builder
 * code, price and flags, lots, expiry as a double. After them the accounts and builder codes.
 */
function writeOrders(
  state: State,
  from: Readonly<Record<'orders' | 'positions' | 'ids', Int32Array>>,
  to: StateWriter,
): void {
  const { orders } = state.book;
  const sorted = from.orders;
  const accounts = new FirstUse(state.accounts.table.capacity);
  const builders = new FirstUse(state.builders.table.capacity);
  to.number(sorted.length);
  const rows = to.words(sorted.length * rowWords.order);
  for (let index = 0, row = 0; index < sorted.length; index += 1, row += rowWords.order) {
    const order = sorted[index] as number;
    rows[row] = from.ids[orders.get(order, at.memory)] as number;
    rows[row + 1] = from.positions[orders.get(order, at.position)] as number;
    rows[row + 2] = accounts.place(orders.get(order, at.account));
    rows[row + 3] = builders.place(orders.get(order, at.builder));
    rows[row + 4] = orders.get(order, at.priceAndFlags);
    rows[row + 5] = orders.get(order, at.restLots);
    rows[row + 6] = orders.get(order, expiryWord);
    rows[row + 7] = orders.get(order, expiryWord + 1);
  }
  writeKeys(state.accounts.table, accounts.slots, to);
  writeKeys(state.builders.table, builders.slots, to);
}

/** The keys of these slots; returns the place of each slot. */
function writeKeys(
  { ints, stride, keyWords, capacity }: KeyTable,
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

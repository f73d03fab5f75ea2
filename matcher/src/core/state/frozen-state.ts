import type { FrozenOrders } from '../book/order-pool.ts';
import { type FrozenBooked, freezeBooked } from './booked-bytes.ts';
import { type FrozenDelays, freezeDelays, writeFences } from './delay-and-fence-bytes.ts';
import { asItIs, type CopyWords, type FrozenTable } from './key-table.ts';
import type { FrozenIds } from './order-results.ts';
import type { State } from './state.ts';
import { StateWriter } from './state-bytes.ts';
import { writeFacts, writeMarkets } from './write-facts.ts';

/**
 * The state at one moment, as another thread can encode it while this one goes on: plain data without functions.
 *
 * Small parts are encoded or copied at once. Orders and ids are in shared memory that stays as it is until `thaw`:
 * their fields that change (lots and flags) are copied, and their slots are not used again.
 */
export interface FrozenState {
  /** Everything before the wallets; all there is of a partition that is not opened. */
  readonly facts: Uint8Array;
  readonly rest: FrozenRest | null;
}

export interface FrozenRest {
  /** Slots of the markets by number. */
  readonly markets: Int32Array;
  readonly wallets: FrozenTable;
  readonly positions: FrozenTable;
  readonly accounts: FrozenTable;
  readonly builders: FrozenTable;
  readonly orders: FrozenOrders;
  readonly orderIds: FrozenIds;
  readonly requestIds: FrozenIds;
  readonly delays: FrozenDelays;
  /** Null under rules by which no tick judges orders. */
  readonly booked: FrozenBooked | null;
  readonly fences: Uint8Array;
}

/** Makes new memory for this many words. */
export type MakeWords = (count: number) => Int32Array;

/** Freezes the state until `thaw`, so that another thread may read it. `make` gives memory for what is copied. */
export function freezeState(state: State, make: MakeWords): FrozenState {
  setFrozen(state, true);
  return viewState(state, make, (words) => {
    const copy = make(words.length);
    copy.set(words);
    return copy;
  });
}

/** After this, nothing that `freezeState` gave may be read any more. */
export function thawState(state: State): void {
  setFrozen(state, false);
}

/** The state for who reads it before it changes. */
export function currentState(state: State): FrozenState {
  state.sweepIds(Number.POSITIVE_INFINITY);
  return viewState(state, (count) => new Int32Array(count), asItIs);
}

function setFrozen({ book, orderMemory, requestMemory }: State, isFrozen: boolean): void {
  book.orders.held.isFrozen = isFrozen;
  orderMemory.isFrozen = isFrozen;
  requestMemory.isFrozen = isFrozen;
}

function viewState(state: State, make: MakeWords, copy: CopyWords): FrozenState {
  const facts = new StateWriter(factsBytes + state.markets.list.length * marketBytes);
  writeFacts(state, facts);
  if (!state.opened) return { facts: facts.finish(), rest: null };
  writeMarkets(state, facts);
  const { count } = state.fences;
  const fences = new StateWriter(16 + count * fenceBytes + state.fencedIds.count * fencedIdBytes);
  writeFences(state, fences);
  const { orders } = state.book;
  const rest: FrozenRest = {
    markets: Int32Array.from(state.markets.inOrder(), ({ slot }) => slot),
    wallets: state.wallets.table.freeze(copy),
    positions: state.positions.table.freeze(copy),
    accounts: state.accounts.table.freeze(copy),
    builders: state.builders.table.freeze(copy),
    orders: orders.freeze(make(orders.slots)),
    orderIds: state.orderMemory.freeze(copy),
    requestIds: state.requestMemory.freeze(copy),
    delays: freezeDelays(state),
    booked: freezeBooked(state),
    fences: fences.finish(),
  };
  return { facts: facts.finish(), rest };
}

/** Room that is nearly always enough; the writer grows. */
const factsBytes = 8_192;
const marketBytes = 176;
const fenceBytes = 80;
const fencedIdBytes = 64;

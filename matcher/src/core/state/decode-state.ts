import { takerDelayMaxMs } from '@pm/schemas/log/executions';
import { rules } from '@pm/schemas/log/log-rules';
import { noOwner, ownerIdBytes } from '@pm/schemas/log/orders';
import {
  complementPrice,
  lotMicro,
  orderSizeMaxMicro,
  priceOne,
  tickSizes,
} from '@pm/schemas/money';
import { refusalCodes } from '@pm/schemas/refusals';
import type { Owner } from '../book/order-pool.ts';
import { runsMax, UsedSequences } from '../rules/used-sequences.ts';
import { readBooked } from './booked-bytes.ts';
import { readDelays, readFences } from './delay-and-fence-bytes.ts';
import { encodeState } from './encode-state.ts';
import { fillsDoubles } from './first-fills.ts';
import { assertState } from './invariants.ts';
import type { Market } from './markets.ts';
import {
  filledFlag,
  fillsFlag,
  type IdMemory,
  idWords,
  looseFlag,
  sellFlag,
  signerWords,
  statusMask,
} from './order-results.ts';
import { State } from './state.ts';
import {
  bits,
  formats,
  int32Max,
  MalformedState,
  modes,
  roles,
  rowWords,
  StateReader,
  safeMax,
  sound,
} from './state-bytes.ts';

/**
 * The state of these bytes, under rules up to the newest that are known. Throws `MalformedState`, or `BrokenAssumption`
 * where the parts do not fit together.
 */
export function decodeState(bytes: Buffer, newestRules: number): State {
  const from = new StateReader(bytes);
  const format = from.number(0, int32Max);
  const hasRules = format === formats.withRules;
  if (!hasRules && format !== formats.withoutRules) throw new MalformedState('another version');
  const state = new State(from.number(0, int32Max));
  state.opened = from.number(0, 1) === 1;
  if (state.opened) {
    readFacts(state, hasRules ? newestRules : 0, from);
    readMarkets(state, from);
    const positions = readPositions(state, from);
    const ids = readMemory(state.orderMemory, from);
    readMemory(state.requestMemory, from);
    readOrders(state, { positions, ids }, from);
    readDelays(state, { positions, ids }, from);
    if (state.rules >= rules.judgedByTicks) readBooked(state, ids, from);
    readFences(state, from);
    findUncleared(state);
  }
  from.end();
  state.book.endRecord();
  assertState(state);
  if (!encodeState(state).equals(bytes)) throw new MalformedState('not in canonical form');
  return state;
}

/** A layout without rules has 0 as the newest. */
function readFacts(state: State, newestRules: number, from: StateReader): void {
  const hasRules = newestRules > 0;
  state.operatorKey = from.bytes(32);
  state.feeWallet = state.wallets.intern(from.bytes(20));
  state.wallets.hold(state.feeWallet);
  state.bookAgeLimitMs = from.number(1, safeMax);
  state.orderAgeLimitMs = from.number(1, safeMax);
  state.timeMs = from.number(0, safeMax);
  state.generation = from.number(0, int32Max);
  state.mode = from.choice(modes);
  if (hasRules) state.rules = from.number(1, newestRules);
  if (state.rules >= rules.witnessedClock) state.witnessMs = from.number(0, safeMax);
  if (state.rules >= rules.ownerTerms) readOwner(state, from);
  if (state.mode === 'RESOLVED') throw new MalformedState('no such mode for all');
  for (let left = from.count(); left > 0; left -= 1) {
    const publicKey = from.bytes(32);
    const role = from.choice(roles);
    const active = from.choice(bits) === 1;
    const used = hasRules ? readUsed(from) : undefined;
    const keyId = state.keys.set(publicKey, role, active, used);
    if (keyId === null) throw new MalformedState('two keys of one id');
  }
}

function readOwner(state: State, from: StateReader): void {
  state.term = from.number(0, int32Max);
  state.owner = from.bytes(ownerIdBytes);
  if (state.term === 0 && !state.owner.equals(noOwner))
    throw new MalformedState('owner of no term');
}

function readUsed(from: StateReader): UsedSequences {
  const floor = from.number(-1, safeMax);
  const newest: number[] = [];
  for (let left = from.number(0, runsMax); left > 0; left -= 1)
    newest.push(from.number(0, safeMax));
  return new UsedSequences(floor, newest);
}

function readMarkets(state: State, from: StateReader): void {
  for (let left = from.count(); left > 0; left -= 1) {
    const number = from.number(0, int32Max);
    const [conditionId, token0, token1] = [from.bytes(32), from.bytes(32), from.bytes(32)];
    const tick = from.number(1, priceOne);
    if (!(tickSizes as readonly number[]).includes(tick)) throw new MalformedState('no such tick');
    if (state.markets.find(number) !== undefined) throw new MalformedState('market twice');
    const market: Market = {
      number,
      slot: state.book.addMarket(tick),
      conditionId,
      token0,
      token1,
      tick,
      minSizeMicro: from.number(0, orderSizeMaxMicro),
      feeRateBps: from.number(0, priceOne),
      mode: from.choice(modes),
      takerDelayMs: from.number(0, takerDelayMaxMs),
      payout0: from.number(0, priceOne),
      collateralMicro: from.number(0, safeMax),
    };
    state.markets.add(market);
  }
}

/** Lists the resolved markets that still have resting or delayed orders. */
function findUncleared({ markets, book, delays }: State): void {
  for (const market of markets.list) {
    const isEmpty = book.anyOrder(market.slot) === -1 && delays.countOf(market) === 0;
    if (market.mode === 'RESOLVED' && !isEmpty) markets.addUncleared(market);
  }
}

/** Returns the slots of the wallets. */
function readWallets({ wallets }: State, from: StateReader): Int32Array {
  const keys = readKeys(from, wallets.table.keyWords);
  wallets.table.reserve(keys.length);
  return Int32Array.from(keys, (key) => wallets.intern(key));
}

/** Returns the slots of the positions. */
function readPositions(state: State, from: StateReader): Int32Array {
  const wallets = readWallets(state, from);
  const { positions } = state;
  const slots = new Int32Array(from.count());
  const rows = from.words(slots.length * rowWords.position);
  const amounts = new Float64Array(rows.buffer, rows.byteOffset, rows.length / 2);
  positions.table.reserve(slots.length);
  for (let index = 0, row = 0; index < slots.length; index += 1, row += rowWords.position) {
    const wallet = placed(wallets, rows[row] as number);
    const market = sound(rows[row + 1] as number, 0, state.markets.list.length - 1);
    if (positions.find(wallet, market) !== -1) throw new MalformedState('position twice');
    const position = positions.open(wallet, market);
    positions.addTokens(position, 0, sound(amounts[row / 2 + 1] as number, 0, safeMax));
    positions.addTokens(position, 1, sound(amounts[row / 2 + 2] as number, 0, safeMax));
    slots[index] = position;
  }
  return slots;
}

/** Returns the slots of the ids. */
function readMemory(memory: IdMemory, from: StateReader): Int32Array {
  const minutes: { readonly minute: number; readonly count: number }[] = [];
  for (let left = from.count(); left > 0; left -= 1) {
    minutes.push({ minute: from.number(-safeMax, safeMax), count: from.count() });
  }
  const looseCount = from.count();
  const total = minutes.reduce((sum, { count }) => sum + count, looseCount);
  const rows = from.words(total * rowWords.id);
  const slots = new Int32Array(total);
  memory.table.reserve(slots.length);
  let index = 0;
  for (const { minute, count } of minutes) {
    for (const end = index + count; index < end; index += 1) {
      slots[index] = readId(memory, rows, index, minute);
    }
  }
  for (; index < slots.length; index += 1) slots[index] = readId(memory, rows, index, null);
  readFirstFills(memory, slots, from);
  return slots;
}

/** Reads an id into its minute, or into none. */
function readId(memory: IdMemory, rows: Int32Array, index: number, minute: number | null): number {
  const row = index * rowWords.id;
  memory.table.loadWords(rows, row);
  if (memory.table.find() !== -1) throw new MalformedState('id twice');
  const flags = sound(rows[row + idWords + signerWords] as number, 0, flagsMax);
  const isLoose = (flags & looseFlag) !== 0;
  if ((flags & ~knownFlags) !== 0 || isLoose !== (minute === null)) {
    throw new MalformedState('unknown flags');
  }
  const slot = minute === null ? memory.addLoose() : memory.addIn(minute);
  memory.setSignerWords(slot, rows, row + idWords);
  memory.setFlags(slot, flags);
  return slot;
}

function readFirstFills(memory: IdMemory, slots: Int32Array, from: StateReader): void {
  const filled = slots.filter((slot) => (memory.flags(slot) & fillsFlag) !== 0);
  const rows = from.doubles(filled.length * fillsDoubles);
  for (let index = 0, row = 0; index < filled.length; index += 1, row += fillsDoubles) {
    memory.setFirstFills(filled[index] as number, {
      filledMicro: sound(rows[row] as number, 1, safeMax),
      paidMicro: sound(rows[row + 1] as number, 0, safeMax),
      offset: sound(rows[row + 2] as number, 0, safeMax),
      first: sound(rows[row + 3] as number, 0, int32Max),
      count: sound(rows[row + 4] as number, 1, int32Max),
    });
  }
}

function readOrders(
  state: State,
  slots: { readonly positions: Int32Array; readonly ids: Int32Array },
  from: StateReader,
): void {
  const count = from.count();
  const rows = from.words(count * rowWords.order);
  const accounts = readAccounts(state, from);
  const builders = readBuilders(state, from);
  const doubles = new Float64Array(rows.buffer, rows.byteOffset, rows.length / 2);
  for (let row = 0; row < rows.length; row += rowWords.order) {
    const position = placed(slots.positions, rows[row + 1] as number);
    const owner = {
      memory: placed(slots.ids, rows[row] as number),
      wallet: state.positions.wallet(position),
      position,
      account: placed(accounts, rows[row + 2] as number),
      builder: placed(builders, rows[row + 3] as number),
      expiresAtMs: sound(doubles[row / 2 + 3] as number, 0, safeMax),
    };
    readOrder(state, owner, rows, row + 4);
  }
}

/** Price, flags and lots are the words at `row`. */
function readOrder(state: State, owner: Owner, rows: Int32Array, row: number): void {
  const { position } = owner;
  const packed = rows[row] as number;
  const lots = sound(rows[row + 1] as number, 1, orderSizeMaxMicro / lotMicro);
  const market = state.markets.at(state.positions.market(position));
  const price0 = sound(packed >> 2, market.tick, complementPrice(market.tick));
  if (price0 % market.tick !== 0) throw new MalformedState('order off the tick');
  const order = state.book.rest(market.slot, packed, lots);
  state.attach(order, owner);
  if (!state.isBuy(order)) state.lock(position, state.book.orders.outcome(order), lots * lotMicro);
}

/** Returns the slots of the accounts. */
function readAccounts({ accounts }: State, from: StateReader): Int32Array {
  const signerBytes = signerWords * 4;
  return Int32Array.from(readKeys(from, accounts.table.keyWords), (key) =>
    accounts.open(key.subarray(0, signerBytes), key.subarray(signerBytes)),
  );
}

function readBuilders({ builders }: State, from: StateReader): Int32Array {
  return Int32Array.from(readKeys(from, builders.table.keyWords), (key) => builders.intern(key));
}

function readKeys(from: StateReader, keyWords: number): Buffer[] {
  const count = from.count();
  const words = from.words(count * keyWords);
  const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * keyWords * 4, (index + 1) * keyWords * 4),
  );
}

function placed(slots: Int32Array, place: number): number {
  return slots[sound(place, 0, slots.length - 1)] as number;
}

const flagsMax = ((refusalCodes.length + 1) << 8) - 1;
const knownFlags = statusMask | sellFlag | filledFlag | looseFlag | fillsFlag | (~0 << 8);

import { rules } from '@pm/schemas/log/log-rules';
import type { CommandOf } from '@pm/schemas/log/orders';
import { refuseCommand } from '../events/write-events.ts';
import { expireOrders } from '../orders/expire-orders.ts';
import { releaseDue } from '../orders/release-delayed.ts';
import type { Output } from '../record.ts';
import { copyOf } from '../state/interned.ts';
import type { State } from '../state/state.ts';

/** The first command of a partition, and only that. */
export function openPartition(
  state: State,
  command: CommandOf<'OpenPartition'>,
  out: Output,
): void {
  if (state.opened) {
    refuseCommand('duplicate', out);
    return;
  }
  const isRight =
    command.partition === state.partition &&
    command.bookAgeLimitMs > 0 &&
    command.orderAgeLimitMs > 0 &&
    command.timeMs >= 0;
  if (!isRight) {
    refuseCommand('invalid_payload', out);
    return;
  }
  state.opened = true;
  state.operatorKey = copyOf(command.operatorKey);
  state.feeWallet = state.wallets.intern(command.feeWallet);
  state.wallets.hold(state.feeWallet);
  state.bookAgeLimitMs = command.bookAgeLimitMs;
  state.orderAgeLimitMs = command.orderAgeLimitMs;
  state.timeMs = command.timeMs;
  storeKey(state, { publicKey: state.operatorKey, role: 'OPERATOR', active: true }, out);
}

/** Adds, changes or retires a key. The one that opened the partition neither changes nor retires. */
export function setKey(state: State, command: CommandOf<'SetKey'>, out: Output): void {
  const isOpening = state.operatorKey?.equals(command.publicKey) ?? false;
  const isTooEarly = command.role === 'OPERATOR' && state.rules < rules.operatorKeys;
  if (isOpening || isTooEarly) {
    refuseCommand('invalid_payload', out);
    return;
  }
  storeKey(state, command, out);
}

function storeKey(
  state: State,
  key: Pick<CommandOf<'SetKey'>, 'publicKey' | 'role' | 'active'>,
  out: Output,
): void {
  const { role, active } = key;
  const keyId = state.keys.set(key.publicKey, role, active);
  if (keyId === null) {
    refuseCommand('invalid_payload', out);
    return;
  }
  out.events.push({ kind: 'KeySet', command: out.command, keyId, role, active });
}

/**
 * Begins newer rules; they never go back, since what is on the log was judged by them. It has no event: another kind of
 * event would change the bytes of every output, and no older log would replay.
 */
export function setRules(state: State, { version }: CommandOf<'SetRules'>, out: Output): void {
  if (version === state.rules) {
    refuseCommand('duplicate', out);
    return;
  }
  if (version < state.rules || version > out.newestRules) {
    refuseCommand('invalid_payload', out);
    return;
  }
  state.rules = version;
}

/**
 * Gives the partition to the process that claims it. The term has to be the next one, so a claim counts only if its
 * sender knew the owner before: one that is late finds its term taken. No event, for the reason of `setRules`.
 */
export function claimPartition(
  state: State,
  { term, owner }: CommandOf<'ClaimPartition'>,
  out: Output,
): void {
  if (state.rules < rules.ownerTerms || term > state.term + 1) {
    refuseCommand('invalid_payload', out);
    return;
  }
  if (term <= state.term) {
    refuseCommand('fenced', out);
    return;
  }
  state.term = term;
  state.owner = copyOf(owner);
}

/** Sets the mode that limits all markets; RESOLVED is a mode of single markets. */
export function setTradingMode(
  state: State,
  { mode }: CommandOf<'SetTradingMode'>,
  out: Output,
): void {
  if (mode === 'RESOLVED') {
    refuseCommand('invalid_payload', out);
    return;
  }
  state.mode = mode;
  out.events.push({ kind: 'TradingModeSet', command: out.command, mode });
}

/** Begins a generation of the ledger: orders of an older one are refused from here on. */
export function startGeneration(
  state: State,
  command: CommandOf<'StartGeneration'>,
  out: Output,
): void {
  const { generation } = command;
  if (generation <= state.generation || generation > generationMax) {
    refuseCommand('invalid_payload', out);
    return;
  }
  state.generation = generation;
  out.events.push({ kind: 'GenerationStarted', command: out.command, generation });
}

/** The largest 32-bit integer. */
const generationMax = 2 ** 31 - 1;

/**
 * Moves the clock, then expires and releases what is due by then; what is beyond the budgets waits for later records.
 * The tick of another role than an owner's only bears witness to the time. A tick of another term is that of a former
 * owner, which may stand still for any time between reading its clock and sending. What the clock did not show while it
 * stood is judged now (`rules.judgedByTicks`).
 */
export function tick(state: State, command: CommandOf<'Tick'>, out: Output): void {
  if (out.role !== 'OWNER' && state.rules >= rules.witnessedClock) {
    state.witnessMs = Math.max(state.witnessMs, command.timeMs);
    return;
  }
  if (state.rules >= rules.ownerTerms && command.term !== state.term) {
    refuseCommand(command.term < state.term ? 'fenced' : 'invalid_payload', out);
    return;
  }
  const isLater = command.timeMs > state.timeMs;
  state.moveClock(command.timeMs);
  if (state.rules >= rules.judgedByTicks) judgeTimeToBook(state, isLater);
  expireOrders(state, out);
  releaseDue(state, out);
}

/**
 * Orders held for a tick are due. Of those booked since the clock was moved last, the ones that are late by now are
 * canceled; a tick that does not move it shows nothing of them.
 */
function judgeTimeToBook(
  { delays, booked, timeMs, bookAgeLimitMs }: State,
  isLater: boolean,
): void {
  delays.endHolds(timeMs);
  if (isLater) booked.judge(timeMs - bookAgeLimitMs);
}

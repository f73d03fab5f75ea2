import type { EventOf, ExecutionEvent } from '@pm/schemas/log/executions';
import { newestRules, rules } from '@pm/schemas/log/log-rules';
import type { Command, Envelope } from '@pm/schemas/log/orders';
import { unreachable } from './assumption.ts';
import { closeRecord } from './events/close-record.ts';
import { EventWriter } from './events/event-writer.ts';
import { refuseCommand } from './events/write-events.ts';
import { cancelByIds, cancelOrder, cancelOrders } from './orders/cancel-orders.ts';
import { endDueOrders } from './orders/expire-orders.ts';
import { commandsAhead } from './orders/look-ahead.ts';
import { placeOrder } from './orders/place-order.ts';
import { movePosition } from './orders/split-merge-redeem.ts';
import { defaultLimits, type Output, Scratch } from './record.ts';
import {
  claimPartition,
  openPartition,
  setKey,
  setRules,
  setTradingMode,
  startGeneration,
  tick,
} from './rules/partition-rules.ts';
import { resolveMarket } from './rules/resolve-market.ts';
import { setMarket } from './rules/set-market.ts';
import type { SignOffKey } from './rules/sign-off-keys.ts';
import { decodeState } from './state/decode-state.ts';
import { encodeState } from './state/encode-state.ts';
import { type FrozenState, freezeState, type MakeWords, thawState } from './state/frozen-state.ts';
import { assertState } from './state/invariants.ts';
import { State } from './state/state.ts';

export type RejectReason = EventOf<'RecordRejected'>['reason'];

/** The events of one record, and the partition's clock after it. */
export class Applied {
  readonly timeMs: number;
  /** The events as bytes; valid until the next record. */
  readonly written: EventWriter;

  constructor(timeMs: number, written: EventWriter) {
    this.timeMs = timeMs;
    this.written = written;
  }

  /** The events as values, read back from the bytes; for tests and tools, before the next record. */
  get events(): readonly ExecutionEvent[] {
    return this.written.values();
  }
}

/**
 * The matching engine of one partition: a pure function of its records.
 *
 * Promises:
 *   - the same records give the same events and the same state, byte for byte, with any stops and restores between;
 *   - commands of an envelope apply in order; a refused command changes nothing but the memory of its id;
 *   - a record meets, cancels and releases a limited number of orders; the rest of a mass expiry, of a resolution or of
 *     ended delays is done at the head of the next records, and never fills until then;
 *   - the fills of one placement follow each other directly;
 *   - events are those of orders that are due, then those of each command, then once per record LevelChanged,
 *     TopChanged and MoneyMoved;
 *   - the clock moves by the `Tick` of the owner of the term alone and never backwards;
 *   - money is conserved: in a record all wallets lose exactly what the collateral of the markets gains.
 * It throws `BrokenAssumption` only, and then its state must be discarded.
 */
export class Engine {
  private state: State;
  private readonly written = new EventWriter();
  private readonly out: { -readonly [Field in keyof Output]: Output[Field] };
  /** Frozen states that another thread still reads. */
  private frozen = 0;

  /**
   * Other limits than those of the schemas are for tests: they are part of the rules. `newest` is the last version of
   * the rules that this engine knows.
   */
  constructor(partition: number, limits = defaultLimits, newest = newestRules) {
    this.state = new State(partition);
    this.out = {
      events: this.written,
      command: -1,
      role: 'INGRESS',
      limits,
      newestRules: newest,
      offset: -1,
      fillsLeft: 0,
      cancelsLeft: 0,
      releasesLeft: 0,
      scratch: new Scratch(),
    };
  }

  /** The engine whose `encodeState` gave these bytes. Throws on anything else, and for rules after `newest`. */
  static restore(bytes: Buffer, limits = defaultLimits, newest = newestRules): Engine {
    const state = decodeState(bytes, newest);
    const engine = new Engine(state.partition, limits, newest);
    engine.state = state;
    return engine;
  }

  /** Whether OpenPartition was applied. */
  get opened(): boolean {
    return this.state.opened;
  }

  /** The partition's clock, Unix milliseconds. */
  get timeMs(): number {
    return this.state.timeMs;
  }

  /** The latest time that a key other than an owner's bears witness to, Unix milliseconds. */
  get witnessMs(): number {
    return this.state.witnessMs;
  }

  /** When the next GTD order expires or the next delay ends, else Infinity; in the past while some of them are left. */
  get nextExpiryMs(): number {
    return Math.min(this.state.expiries.nextMs, this.state.delays.nextMs);
  }

  /** Whether orders are held until the next tick of the owner. */
  get awaitsTick(): boolean {
    return this.state.delays.heldCount > 0;
  }

  get openOrderCount(): number {
    return this.state.book.orders.count;
  }

  get marketCount(): number {
    return this.state.markets.list.length;
  }

  /** Version of the rules that the next record is judged by. */
  get rules(): number {
    return this.state.rules;
  }

  /** The newest version of the rules that it knows: it must be given no record under a later one. */
  get newestRules(): number {
    return this.out.newestRules;
  }

  /** Number of the claim that gave the partition to its owner; 0 before the first. */
  get term(): number {
    return this.state.term;
  }

  /** Id of the process that has claimed the partition last; `noOwner` when it belongs to none. */
  get owner(): Buffer {
    return this.state.owner;
  }

  signOffKey(keyId: Buffer): SignOffKey | null {
    return this.state.keys.find(keyId);
  }

  /** Raw public key that opened the partition. */
  operatorKey(): Buffer | null {
    return this.state.operatorKey;
  }

  /**
   * Applies an envelope whose sign-off, role and sequence the caller has checked. `inOffset` is the offset of its
   * record, which the results of repeated orders name.
   */
  apply(envelope: Envelope, inOffset: number): Applied {
    const { state, out } = this;
    const { commands } = envelope;
    this.begin(envelope, inOffset);
    const { opened, rules: version } = state;
    endDueOrders(state, out);
    for (let index = 0; index < commands.length; index += 1) {
      if (index % commandsAhead === 0) out.scratch.ahead.read(state, commands, index);
      out.command = index;
      applyCommand(state, commands[index] as Command, out);
    }
    useSequences(state, envelope, { opened, rules: version });
    closeRecord(state, out);
    state.sweepIds();
    return new Applied(state.timeMs, this.written);
  }

  private begin({ keyId }: Envelope, inOffset: number): void {
    const { out } = this;
    this.written.clear();
    out.command = -1;
    out.role = this.state.keys.find(keyId)?.role ?? 'INGRESS';
    out.offset = inOffset;
    out.fillsLeft = out.limits.fillsPerRecord;
    out.cancelsLeft = out.limits.cancelsPerRecord;
    out.releasesLeft = out.limits.releasesPerRecord;
  }

  /** The output of an input record that is rejected and changes nothing. */
  reject(reason: RejectReason): Applied {
    this.written.clear();
    this.written.push({ kind: 'RecordRejected', reason });
    return new Applied(this.state.timeMs, this.written);
  }

  /** The whole state between two records: equal states give equal bytes. */
  encodeState(): Buffer {
    return encodeState(this.state);
  }

  /**
   * The state between two records, for `encodeFrozen` in another thread while this engine goes on, until `thaw`; a
   * second one may be frozen meanwhile. `make` gives memory for what is copied.
   */
  freeze(make: MakeWords): FrozenState {
    this.frozen += 1;
    return freezeState(this.state, make);
  }

  /** Ends the use of the state that one `freeze` gave: it is not read any more. */
  thaw(): void {
    this.frozen -= 1;
    if (this.frozen === 0) thawState(this.state);
  }

  /** Throws `BrokenAssumption` unless every invariant holds; checks the whole state, for tests and tools. */
  assertInvariants(): void {
    assertState(this.state);
  }
}

/**
 * Counts the sequence as used. With the first rules of a log that was written without them, all that any key has sent
 * before counts as used: senders begin with the time, so all their earlier sequences are smaller than this one.
 */
function useSequences(
  { keys, rules: now }: State,
  { keyId, sequence }: Envelope,
  before: { readonly opened: boolean; readonly rules: number },
): void {
  if (now < rules.usedSequences) return;
  if (before.opened && before.rules < rules.usedSequences) keys.useAll(sequence);
  else keys.use(keyId, sequence);
}

/** One case for each kind: a new kind of command does not compile without one. */
function applyCommand(state: State, command: Command, out: Output): void {
  if (!state.opened && needsOpening[command.kind]) {
    refuseCommand('partition_not_ready', out);
    return;
  }
  switch (command.kind) {
    case 'PlaceOrder':
      placeOrder(state, command, out);
      break;
    case 'CancelOrder':
      cancelOrder(state, command, out);
      break;
    case 'CancelByIds':
      cancelByIds(state, command, out);
      break;
    case 'CancelOrders':
      cancelOrders(state, command, out);
      break;
    case 'SplitPosition':
    case 'MergePosition':
    case 'RedeemPosition':
      movePosition(state, command, out);
      break;
    case 'Tick':
      tick(state, command, out);
      break;
    case 'OpenPartition':
      openPartition(state, command, out);
      break;
    case 'SetKey':
      setKey(state, command, out);
      break;
    case 'SetMarket':
      setMarket(state, command, out);
      break;
    case 'ResolveMarket':
      resolveMarket(state, command, out);
      break;
    case 'SetTradingMode':
      setTradingMode(state, command, out);
      break;
    case 'StartGeneration':
      startGeneration(state, command, out);
      break;
    case 'SetRules':
      setRules(state, command, out);
      break;
    case 'ClaimPartition':
      claimPartition(state, command, out);
      break;
    default:
      unreachable(command);
  }
}

/** Orders and their cancels need none: an unopened partition has no markets and no orders, which refuses them. */
const needsOpening: Readonly<Record<Command['kind'], boolean>> = {
  PlaceOrder: false,
  CancelOrder: false,
  CancelByIds: true,
  OpenPartition: false,
  CancelOrders: true,
  SplitPosition: true,
  MergePosition: true,
  RedeemPosition: true,
  Tick: true,
  SetKey: true,
  SetMarket: true,
  ResolveMarket: true,
  SetTradingMode: true,
  StartGeneration: true,
  SetRules: true,
  ClaimPartition: true,
};

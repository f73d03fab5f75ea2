import type { Command, Envelope, EventOf, ExecutionEvent } from '@pm/schemas';
import { closeRecord } from './events/close-record.ts';
import { EventWriter } from './events/event-writer.ts';
import { cancelOrder, cancelOrders } from './orders/cancel-orders.ts';
import { sweep } from './orders/expire-orders.ts';
import { placeOrder } from './orders/place-order.ts';
import { movePosition } from './orders/split-merge-redeem.ts';
import {
  openPartition,
  refuseCommand,
  resolveMarket,
  setKey,
  setMarket,
  setTradingMode,
  startGeneration,
  tick,
} from './rules/partition-rules.ts';
import type { SignOffKey } from './rules/sign-off-keys.ts';
import { decodeState } from './state/decode-state.ts';
import { encodeState } from './state/encode-state.ts';
import { assertState } from './state/invariants.ts';
import { defaultLimits, type Limits, type Output, State } from './state/state.ts';

export type RejectReason = EventOf<'RecordRejected'>['reason'];

/** What one record did, and the partition's clock after it. */
export class Applied {
  readonly timeMs: number;
  /** The events as they go out; valid until the next record. */
  readonly written: EventWriter;

  constructor(timeMs: number, written: EventWriter) {
    this.timeMs = timeMs;
    this.written = written;
  }

  /** The same as values, read back from the bytes before the next record; not for the path of orders. */
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
 *   - a record meets, cancels and releases a limited number of orders; what is left of a mass expiry, of a resolution or of
 *     ended delays is done at the head of the records behind, and never fills until then;
 *   - the fills of one placement stand directly behind each other;
 *   - events come from the sweep, then per command, then once per record LevelChanged, TopChanged and MoneyMoved;
 *   - the clock moves by `Tick` alone and never backwards;
 *   - money is conserved: what all wallets lose in a record is what the collateral of the markets gains.
 * It throws `BrokenAssumption` only, and then its state must be thrown away.
 */
export class Engine {
  private state: State;
  private readonly limits: Limits;
  private readonly written = new EventWriter();

  /** Other limits than those of the schemas are for tests: they are part of the rules. */
  constructor(partition: number, limits = defaultLimits) {
    this.state = new State(partition);
    this.limits = limits;
  }

  /** The engine whose `encodeState` gave these bytes. Throws on anything else. */
  static restore(bytes: Buffer, limits = defaultLimits): Engine {
    const state = decodeState(bytes);
    const engine = new Engine(state.partition, limits);
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

  /** When the next GTD order expires or the next delay ends, else Infinity; the owner ticks then. In the past while some are left. */
  get nextExpiryMs(): number {
    return Math.min(this.state.expiries.nextMs, this.state.delays.nextMs);
  }

  get openOrderCount(): number {
    return this.state.book.orders.count;
  }

  get marketCount(): number {
    return this.state.markets.list.length;
  }

  signOffKey(keyId: Buffer): SignOffKey | null {
    return this.state.keys.find(keyId);
  }

  operatorKey(): Buffer | null {
    return this.state.operatorKey;
  }

  /**
   * Applies an envelope whose sign-off and role the caller has checked. The offset is that of the record: answers to
   * repetitions name it.
   */
  apply(envelope: Envelope, inOffset: number): Applied {
    const role = this.state.keys.find(envelope.keyId)?.role ?? 'INGRESS';
    this.written.clear();
    const out: Output = {
      events: this.written,
      command: -1,
      role,
      limits: this.limits,
      offset: inOffset,
      fillsLeft: this.limits.fillsPerRecord,
      cancelsLeft: this.limits.cancelsPerRecord,
      releasesLeft: this.limits.releasesPerRecord,
    };
    sweep(this.state, out);
    for (const command of envelope.commands) {
      out.command += 1;
      applyCommand(this.state, command, out);
    }
    closeRecord(this.state, out);
    return new Applied(this.state.timeMs, this.written);
  }

  /** The input record is unusable and changes nothing. */
  reject(reason: RejectReason): Applied {
    this.written.clear();
    this.written.push({ kind: 'RecordRejected', reason });
    return new Applied(this.state.timeMs, this.written);
  }

  /** The whole state between two records: equal states give equal bytes. */
  encodeState(): Buffer {
    return encodeState(this.state);
  }

  /** Throws `BrokenAssumption` unless every invariant holds; looks at everything, for tests and tools. */
  assertInvariants(): void {
    assertState(this.state);
  }
}

function applyCommand(state: State, command: Command, out: Output): void {
  switch (command.kind) {
    case 'PlaceOrder':
      placeOrder(state, command, out);
      break;
    case 'CancelOrder':
      cancelOrder(state, command, out);
      break;
    case 'OpenPartition':
      openPartition(state, command, out);
      break;
    default:
      if (state.opened) applyRest(state, command, out);
      else refuseCommand('partition_not_ready', out);
  }
}

function applyRest(
  state: State,
  command: Exclude<Command, { kind: 'PlaceOrder' | 'CancelOrder' | 'OpenPartition' }>,
  out: Output,
): void {
  switch (command.kind) {
    case 'CancelOrders':
      cancelOrders(state, command, out);
      break;
    case 'Tick':
      tick(state, command, out);
      break;
    case 'SetMarket':
      setMarket(state, command, out);
      break;
    case 'ResolveMarket':
      resolveMarket(state, command, out);
      break;
    case 'SetKey':
      setKey(state, command, out);
      break;
    case 'StartGeneration':
      startGeneration(state, command, out);
      break;
    case 'SetTradingMode':
      setTradingMode(state, command, out);
      break;
    default:
      movePosition(state, command, out);
  }
}

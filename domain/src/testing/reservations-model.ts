import type { OrderId, WalletAddress } from '@pm/schemas/ids';
import {
  orphansPerCallMax,
  type ReservationKind,
  type ReserveOutcome,
  type ReserveResult,
  type Send,
  sendersMax,
} from '../ledger/ledger.ts';

/** Balance of a wallet, micro-USDC. */
export interface Money {
  free: number;
  held: number;
  pending: number;
}

/** A pending reservation. `answers` counts the results on the log of its records, however many senders there are. */
export interface PendingReservation {
  readonly id: string;
  readonly wallet: WalletAddress;
  readonly partition: number;
  readonly kind: ReservationKind;
  readonly market: number;
  amountMicro: number;
  acceptedAtMs: number;
  answers: number;
  readonly senders: Set<string>;
}

/** A reservation as it is asked for. */
type Reserved = Omit<PendingReservation, 'answers' | 'senders'>;

/** The reservations of `LedgerModel` without a result on the log. They move only the pending money of their wallets. */
export class ReservationsModel {
  readonly #pending = new Map<string, PendingReservation>();
  readonly #moneyOf: (wallet: WalletAddress) => Money;
  #sends = 0;

  constructor(moneyOf: (wallet: WalletAddress) => Money) {
    this.#moneyOf = moneyOf;
  }

  find(id: string): PendingReservation | undefined {
    return this.#pending.get(id);
  }

  /**
   * When the newest reservation of this partition accepted before was accepted, Unix milliseconds; null without one.
   */
  newest(partition: number, beforeMs: number): number | null {
    const isOld = (one: PendingReservation) =>
      one.partition === partition && one.acceptedAtMs < beforeMs;
    const times = [...this.#pending.values()].filter(isOld).map((held) => held.acceptedAtMs);
    return times.length === 0 ? null : Math.max(...times);
  }

  /** Holds money, or joins as a further sender; `generation` is the one the ledger is open under. */
  reserve(facts: Reserved, generation: number): Omit<ReserveResult, 'mark'> {
    const held = this.#pending.get(facts.id);
    const outcome = this.#outcomeOf(facts, held);
    if (outcome !== 'reserved' && outcome !== 'already') return { outcome, generation, sender: '' };
    const sender = `s${this.#sends++}`;
    if (held === undefined) {
      this.#pending.set(facts.id, { ...facts, answers: 0, senders: new Set([sender]) });
      this.#moneyOf(facts.wallet).pending += facts.amountMicro;
      return { outcome, generation, sender };
    }
    held.senders.add(sender);
    held.acceptedAtMs = Math.max(held.acceptedAtMs, facts.acceptedAtMs);
    if (outcome === 'reserved') {
      held.amountMicro = facts.amountMicro;
      this.#moneyOf(facts.wallet).pending += facts.amountMicro;
    }
    return { outcome, generation, sender };
  }

  /** Removes a sender whose record was never sent; false when there is none of this name. */
  cancel({ id, partition, sender }: Send): boolean {
    const held = this.#pending.get(id);
    if (held?.partition !== partition || !held.senders.delete(sender)) return false;
    this.#releaseIfAnswered(held);
    return true;
  }

  /** The log has a result for one record of an order. */
  answer(orderId: OrderId, partition: number): void {
    const held = this.#pending.get(orderId);
    if (held?.partition !== partition) return;
    held.answers += 1;
    this.#releaseIfAnswered(held);
  }

  /** Releases a reservation when no record is in flight: each has a result or was never sent. */
  #releaseIfAnswered(held: PendingReservation): void {
    if (held.answers >= held.senders.size) this.release(held);
  }

  release({ id, wallet, amountMicro }: PendingReservation): void {
    this.#pending.delete(id);
    this.#moneyOf(wallet).pending -= amountMicro;
  }

  /** Oldest first; of the same age by id, as a Redis sorted set has it. Returns how many. */
  releaseOrphans(partition: number, beforeMs: number): number {
    const before = this.#pending.size;
    [...this.#pending.values()]
      .filter((one) => one.partition === partition && one.acceptedAtMs < beforeMs)
      .sort((a, b) => a.acceptedAtMs - b.acceptedAtMs || (a.id < b.id ? -1 : 1))
      .slice(0, orphansPerCallMax)
      .forEach((orphan) => {
        this.release(orphan);
      });
    return before - this.#pending.size;
  }

  #outcomeOf(facts: Reserved, held: PendingReservation | undefined): ReserveOutcome {
    if (held !== undefined && !isSame(held, facts)) return 'conflict';
    if (held !== undefined && held.senders.size >= sendersMax) return 'busy';
    if (held !== undefined && (held.amountMicro > 0 || facts.amountMicro === 0)) return 'already';
    const { free, pending } = this.#moneyOf(facts.wallet);
    const isShort = facts.amountMicro > 0 && free - pending < facts.amountMicro;
    return isShort ? 'insufficient' : 'reserved';
  }
}

/** Whether both are the same reservation; a record that holds nothing agrees with any amount. */
function isSame(a: Reserved, b: Reserved): boolean {
  const isAmount = a.amountMicro === b.amountMicro || a.amountMicro === 0 || b.amountMicro === 0;
  const isPlace = a.wallet === b.wallet && a.partition === b.partition;
  return isAmount && isPlace && a.kind === b.kind && a.market === b.market;
}

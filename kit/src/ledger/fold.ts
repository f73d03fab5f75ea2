import type { OrderId, WalletAddress } from '@pm/schemas';
import { Fault } from '../fault/index.ts';
import {
  type ApplyOutcome,
  type Balance,
  type ExecutionsPiece,
  type LedgerState,
  type LedgerTopic,
  type LedgerTransfer,
  type Move,
  orphanMarginMs,
  orphansPerCallMax,
  type RebuildPlan,
  type Reservation,
  type ReserveResult,
  type TransfersPiece,
  type WithdrawalReservation,
  type WithdrawalResult,
  withdrawalsLane,
} from './ledger.ts';
import { sumMoves } from './parts.ts';

interface Money {
  free: number;
  held: number;
  pending: number;
}

/**
 * The rule of the ledger without Redis: what the scripts are checked against by random histories, and what tests of other
 * rooms use in its place. Same names, same answers, no waiting.
 */
export class LedgerFold {
  readonly #wallets = new Map<WalletAddress, Money>();
  readonly #pending = new Map<OrderId, Reservation>();
  readonly #marks = new Map<string, number>();
  readonly #transfers = new Set<string>();
  readonly #generations = new Map<string, number>();
  #plan: RebuildPlan | null = null;
  #state: LedgerState = { generation: 0, ready: false };

  reserve(reservation: Reservation): ReserveResult {
    const { generation, ready } = this.#state;
    if (!ready) return { outcome: 'not_ready', generation: 0 };
    const { orderId, wallet, amountMicro } = reservation;
    if (this.#pending.has(orderId)) return { outcome: 'already', generation };
    const { availableMicro } = this.balance(wallet);
    if (amountMicro > 0 && availableMicro < amountMicro)
      return { outcome: 'insufficient', generation };
    this.#pending.set(orderId, reservation);
    this.#money(wallet).pending += amountMicro;
    return { outcome: 'reserved', generation };
  }

  cancelReservation(orderId: OrderId): boolean {
    const reservation = this.#pending.get(orderId);
    if (reservation === undefined) return false;
    this.#release(reservation);
    return true;
  }

  applyExecutions(piece: ExecutionsPiece): ApplyOutcome {
    const { partition, clockMs, bookAgeLimitMs } = piece;
    if (this.#isRepeated('executions', partition, piece)) return 'repeated';
    const moves = sumMoves(piece.moves);
    for (const move of moves) this.#assertExact(move);
    for (const move of moves) this.#move(move.wallet, move.freeMicro, move.heldMicro);
    for (const orderId of piece.answered) {
      const reservation = this.#pending.get(orderId);
      if (reservation?.partition === partition) this.#release(reservation);
    }
    this.#releaseOrphans(partition, clockMs - bookAgeLimitMs - orphanMarginMs);
    this.#begin(`executions:${partition}`, piece.generation);
    this.#marks.set(`executions:${partition}`, piece.toOffset);
    return 'applied';
  }

  applyTransfers(piece: TransfersPiece): ApplyOutcome {
    if (this.#isRepeated('transfers', 0, piece)) return 'repeated';
    const valid = this.#validTransfers(piece.transfers);
    const fresh = new Map(valid.toReversed().map((one) => [one.transferId, one] as const));
    for (const transferId of this.#transfers) fresh.delete(transferId);
    const moves = [...fresh.values()].map((one) => ({
      wallet: one.wallet,
      freeMicro: one.amountMicro,
      heldMicro: 0,
    }));
    for (const move of sumMoves(moves)) this.#assertExact(move);
    for (const move of moves) this.#move(move.wallet, move.freeMicro, 0);
    for (const transferId of fresh.keys()) this.#transfers.add(transferId);
    for (const { transferId } of piece.transfers) {
      const reservation = this.#pending.get(transferId as OrderId);
      if (reservation?.partition === withdrawalsLane) this.#release(reservation);
    }
    this.#marks.set('transfers:0', piece.toOffset);
    return 'applied';
  }

  reserveWithdrawal({ transferId, ...withdrawal }: WithdrawalReservation): WithdrawalResult {
    if (this.#transfers.has(transferId)) return { outcome: 'applied', generation: 0 };
    const orderId = transferId as OrderId;
    return this.reserve({ orderId, ...withdrawal, partition: withdrawalsLane });
  }

  releaseWithdrawals(beforeMs: number): number {
    const before = this.#pending.size;
    this.#releaseOrphans(withdrawalsLane, beforeMs);
    return before - this.#pending.size;
  }

  balance(wallet: WalletAddress): Balance {
    const { free, held, pending } = this.#wallets.get(wallet) ?? { free: 0, held: 0, pending: 0 };
    return {
      freeMicro: free,
      heldMicro: held,
      pendingMicro: pending,
      availableMicro: free - pending,
    };
  }

  mark(topic: LedgerTopic, partition: number): number {
    return this.#marks.get(`${topic}:${partition}`) ?? 0;
  }

  generation(topic: LedgerTopic, partition: number): number {
    return this.#generations.get(`${topic}:${partition}`) ?? 0;
  }

  state(): LedgerState {
    return this.#state;
  }

  close(): void {
    this.#plan = null;
    this.#state = { ...this.#state, ready: false };
  }

  planRebuild(plan: RebuildPlan): RebuildPlan | null {
    if (this.#state.ready) return null;
    this.#plan ??= plan;
    return this.#plan;
  }

  open({ id, generation }: RebuildPlan, partitions: readonly number[]): boolean {
    const places = ['transfers:0', ...partitions.map((partition) => `executions:${partition}`)];
    const hasBegun = places.every((place) => (this.#generations.get(place) ?? 0) >= generation);
    if (this.#plan?.id !== id || !hasBegun) return false;
    this.#plan = null;
    this.#state = { generation, ready: true };
    return true;
  }

  /** All but fences, and withdrawals that a fence before them makes void. */
  #validTransfers(transfers: readonly LedgerTransfer[]): readonly LedgerTransfer[] {
    return transfers.filter(({ amountMicro, generation }) => {
      if (amountMicro === 0) this.#begin('transfers:0', generation);
      const isTimely = generation >= this.generation('transfers', 0);
      return amountMicro > 0 || (amountMicro < 0 && isTimely);
    });
  }

  #begin(place: string, generation: number): void {
    this.#generations.set(place, Math.max(generation, this.#generations.get(place) ?? 0));
  }

  #isRepeated(
    topic: LedgerTopic,
    partition: number,
    { fromOffset, toOffset }: { fromOffset: number; toOffset: number },
  ): boolean {
    const mark = this.mark(topic, partition);
    if (toOffset <= mark) return true;
    if (fromOffset === mark) return false;
    const facts = { topic, partition, mark, fromOffset, toOffset };
    throw new Fault('ledger_gap', 'release', { facts });
  }

  #assertExact({ wallet, freeMicro, heldMicro }: Move): void {
    const { free, held } = this.#money(wallet);
    const exact = Number.isSafeInteger(free + freeMicro) && Number.isSafeInteger(held + heldMicro);
    if (!exact) throw new Fault('ledger_overflow', 'stop');
  }

  #money(wallet: WalletAddress): Money {
    const known = this.#wallets.get(wallet);
    if (known !== undefined) return known;
    const money = { free: 0, held: 0, pending: 0 };
    this.#wallets.set(wallet, money);
    return money;
  }

  #move(wallet: WalletAddress, freeMicro: number, heldMicro: number): void {
    const money = this.#money(wallet);
    money.free += freeMicro;
    money.held += heldMicro;
  }

  #release({ orderId, wallet, amountMicro }: Reservation): void {
    this.#pending.delete(orderId);
    this.#money(wallet).pending -= amountMicro;
  }

  /** Oldest first; of the same age by id, as a Redis sorted set has it. */
  #releaseOrphans(partition: number, beforeMs: number): void {
    [...this.#pending.values()]
      .filter((one) => one.partition === partition && one.acceptedAtMs < beforeMs)
      .sort((a, b) => a.acceptedAtMs - b.acceptedAtMs || (a.orderId < b.orderId ? -1 : 1))
      .slice(0, orphansPerCallMax)
      .forEach((orphan) => {
        this.#release(orphan);
      });
  }
}

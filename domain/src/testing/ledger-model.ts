import { Fault } from '@pm/kit/fault';
import type { WalletAddress } from '@pm/schemas/ids';
import { withdrawalLateMs } from '@pm/schemas/log/accounts';
import type { FoldedPlace } from '../executions/execution-order.ts';
import {
  type AppliedTransfer,
  type ApplyResult,
  type Balance,
  type ExecutionsPiece,
  insolventPerCallMax,
  type LedgerState,
  type LedgerTopic,
  type LedgerTransfer,
  type MarketBreach,
  type Move,
  orphanMarginMs,
  type RebuildPlan,
  type Reservation,
  type ReserveResult,
  type Send,
  type TransfersPiece,
  type TransfersResult,
  type UnpaidWithdrawal,
  type VoidWithdrawal,
  type WithdrawalReservation,
  type WithdrawalResult,
  withdrawalsLane,
} from '../ledger/ledger.ts';
import { sumMoves } from '../ledger/parts.ts';
import { MarketsModel } from './markets-model.ts';
import { type Money, ReservationsModel } from './reservations-model.ts';

/**
 * The rules of the ledger without Redis. Random histories compare the scripts with it, and tests of other rooms use
 * it instead of Redis. Same methods and results, without promises.
 */
export class LedgerModel {
  readonly #wallets = new Map<WalletAddress, Money>();
  readonly #pending = new ReservationsModel((wallet) => this.#money(wallet));
  readonly #marks = new Map<string, number>();
  /** Clock of each partition of `executions` at its mark, Unix milliseconds. */
  readonly #clocks = new Map<number, number>();
  readonly #transfers = new Map<string, AppliedTransfer>();
  readonly #generations = new Map<string, number>();
  readonly #markets = new MarketsModel();
  readonly #insolvent = new Set<WalletAddress>();
  /** Wallets below zero while the ledger is closed; those that are left when it opens are insolvent. */
  readonly #passing = new Set<WalletAddress>();
  #plan: RebuildPlan | null = null;
  #state: LedgerState = { generation: 0, ready: false };
  /** The newest time of a fence on `transfers`. */
  #fenceMs = 0;

  reserve({ orderId, ...facts }: Reservation): ReserveResult {
    const { ready } = this.#state;
    const mark = ready ? this.mark('executions', facts.partition) : 0;
    return { ...this.#reserve({ id: orderId, ...facts }), mark };
  }

  cancelReservation(send: Send): boolean {
    return this.#pending.cancel(send);
  }

  applyExecutions(piece: ExecutionsPiece): ApplyResult {
    const { partition, clockMs, bookAgeLimitMs } = piece;
    if (this.#isRepeated('executions', partition, piece)) return 'repeated';
    const moves = sumMoves(piece.moves);
    for (const move of moves) this.#assertExact(move);
    for (const move of moves) this.#move(move.wallet, move.freeMicro, move.heldMicro);
    for (const orderId of piece.answered) this.#pending.answer(orderId, partition);
    this.#pending.releaseOrphans(partition, clockMs - bookAgeLimitMs - orphanMarginMs);
    for (const change of piece.markets)
      this.#markets.apply(change, `${partition}:${piece.toOffset}`);
    this.#begin(`executions:${partition}`, piece.generation);
    this.#marks.set(`executions:${partition}`, piece.toOffset);
    this.#clocks.set(partition, clockMs);
    return 'applied';
  }

  applyTransfers(piece: TransfersPiece): TransfersResult {
    if (this.#isRepeated('transfers', 0, piece))
      return { outcome: 'repeated', unpaid: [], voided: [] };
    const { valid, voided } = this.#sorted(piece.transfers);
    const applied = this.#applied(valid);
    for (const [transferId, transfer] of applied) {
      this.#move(transfer.wallet, transfer.movedMicro, 0);
      this.#transfers.set(transferId, transfer);
    }
    for (const { transferId } of valid) {
      const held = this.#pending.find(transferId);
      if (held?.kind === 'withdrawal') this.#pending.release(held);
    }
    this.#marks.set('transfers:0', piece.toOffset);
    const unpaid = [...applied]
      .filter(([, { amountMicro, movedMicro }]) => amountMicro !== movedMicro)
      .map(([transferId, transfer]): UnpaidWithdrawal => ({ transferId, ...transfer }));
    return { outcome: 'applied', unpaid, voided };
  }

  reserveWithdrawal({ transferId, ...facts }: WithdrawalReservation): WithdrawalResult {
    const done = this.#transfers.get(transferId);
    if (done === undefined) {
      const isNew = this.#pending.find(transferId) === undefined;
      if (this.#state.ready && isNew && this.#hasFinding(facts.wallet))
        return { outcome: 'frozen', generation: 0, sender: '', paidMicro: 0 };
      const lane = { partition: withdrawalsLane, kind: 'withdrawal', market: 0 } as const;
      return { ...this.#reserve({ id: transferId, ...facts, ...lane }), paidMicro: 0 };
    }
    const nothing = { generation: 0, sender: '' };
    const isSame = done.wallet === facts.wallet && done.amountMicro === -facts.amountMicro;
    if (!isSame) return { ...nothing, outcome: 'conflict', paidMicro: 0 };
    return { ...nothing, outcome: 'applied', paidMicro: Math.abs(done.movedMicro) };
  }

  appliedTransfer(transferId: string): AppliedTransfer | null {
    return this.#transfers.get(transferId) ?? null;
  }

  insolventWallets(): readonly WalletAddress[] {
    return this.#state.ready ? [...this.#insolvent].slice(0, insolventPerCallMax) : [];
  }

  acknowledgeInsolvent(wallet: WalletAddress): void {
    this.#insolvent.delete(wallet);
  }

  marketBreaches(): readonly MarketBreach[] {
    return this.#markets.breaches();
  }

  acknowledgeBreach(breach: MarketBreach): void {
    this.#markets.acknowledge(breach);
  }

  newestWithdrawal(beforeMs: number): number | null {
    return this.#pending.newest(withdrawalsLane, beforeMs);
  }

  releaseWithdrawals(beforeMs: number): number {
    return this.#pending.releaseOrphans(withdrawalsLane, beforeMs);
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

  place(partition: number): FoldedPlace {
    const timeMs = this.#clocks.get(partition) ?? 0;
    return { offset: this.mark('executions', partition), timeMs };
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
    for (const wallet of this.#passing) this.#insolvent.add(wallet);
    this.#passing.clear();
    return true;
  }

  /**
   * Applies the fences, and splits the other transfers into valid ones and withdrawals that an earlier fence makes
   * void.
   */
  #sorted(transfers: readonly LedgerTransfer[]) {
    const valid: LedgerTransfer[] = [];
    const voided: VoidWithdrawal[] = [];
    for (const one of transfers) {
      const { transferId, wallet, amountMicro } = one;
      if (amountMicro === 0) this.#takeFence(one);
      else if (amountMicro > 0 || !this.#isVoid(one)) valid.push(one);
      else voided.push({ transferId, wallet, amountMicro });
    }
    return { valid, voided };
  }

  #takeFence({ generation, timeMs }: LedgerTransfer): void {
    if (generation > 0) this.#begin('transfers:0', generation);
    else this.#fenceMs = Math.max(this.#fenceMs, timeMs);
  }

  #isVoid({ generation, timeMs }: LedgerTransfer): boolean {
    const isLate = timeMs < this.#fenceMs - withdrawalLateMs;
    return isLate || generation < this.generation('transfers', 0);
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
    const notes = this.#state.ready ? this.#insolvent : this.#passing;
    if (money.free < 0) notes.add(wallet);
    else this.#passing.delete(wallet);
  }

  #reserve(facts: Parameters<ReservationsModel['reserve']>[0]): Omit<ReserveResult, 'mark'> {
    const { generation, ready } = this.#state;
    if (!ready) return { outcome: 'not_ready', generation: 0, sender: '' };
    return this.#pending.reserve(facts, generation);
  }

  /** Whether the solvency check has something to deal with that may concern the wallet. */
  #hasFinding(wallet: WalletAddress): boolean {
    return this.#insolvent.has(wallet) || this.#markets.breaches().length > 0;
  }

  /** The movement of each transfer that is not applied yet; nothing is changed before all are checked. */
  #applied(transfers: readonly LedgerTransfer[]): ReadonlyMap<string, AppliedTransfer> {
    const applied = new Map<string, AppliedTransfer>();
    const free = new Map<WalletAddress, number>();
    for (const one of transfers) {
      const { transferId, wallet, amountMicro } = one;
      if (this.#transfers.has(transferId) || applied.has(transferId)) continue;
      const before = free.get(wallet) ?? this.#money(wallet).free;
      const movedMicro = this.#movedBy(one, before);
      if (!Number.isSafeInteger(before + movedMicro)) throw new Fault('ledger_overflow', 'stop');
      free.set(wallet, before + movedMicro);
      applied.set(transferId, { wallet, amountMicro, movedMicro });
    }
    return applied;
  }

  /** While the ledger is open a withdrawal pays at most its reservation and at most the wallet's free money. */
  #movedBy({ transferId, wallet, amountMicro }: LedgerTransfer, freeMicro: number): number {
    if (amountMicro >= 0 || !this.#state.ready) return amountMicro;
    const held = this.#pending.find(transferId);
    const isOwn = held?.kind === 'withdrawal' && held.wallet === wallet;
    const holdMicro = isOwn ? held.amountMicro : 0;
    return 0 - Math.min(-amountMicro, holdMicro, Math.max(0, freeMicro));
  }
}

import { Fault } from '@pm/kit/fault';
import { type OrderId, type WalletAddress, withdrawalLateMs } from '@pm/schemas';
import {
  type AppliedTransfer,
  type ApplyOutcome,
  type Balance,
  type ExecutionsPiece,
  insolventPerCallMax,
  type LedgerState,
  type LedgerTopic,
  type LedgerTransfer,
  type Move,
  orphanMarginMs,
  orphansPerCallMax,
  type RebuildPlan,
  type Reservation,
  type ReservationKind,
  type ReserveOutcome,
  type ReserveResult,
  type Send,
  sendersMax,
  type TransfersOutcome,
  type TransfersPiece,
  type UnpaidWithdrawal,
  type VoidWithdrawal,
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

/** A pending reservation. `answers` counts what the log has said of its records, however many senders there are. */
interface Held {
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

/**
 * The rule of the ledger without Redis: what the scripts are checked against by random histories, and what tests of other
 * rooms use in its place. Same names, same answers, no waiting.
 */
export class LedgerFold {
  readonly #wallets = new Map<WalletAddress, Money>();
  readonly #pending = new Map<string, Held>();
  readonly #marks = new Map<string, number>();
  readonly #transfers = new Map<string, AppliedTransfer>();
  readonly #generations = new Map<string, number>();
  readonly #insolvent = new Set<WalletAddress>();
  /** Wallets below zero while the ledger is closed; those that are left when it opens are insolvent. */
  readonly #passing = new Set<WalletAddress>();
  #plan: RebuildPlan | null = null;
  #state: LedgerState = { generation: 0, ready: false };
  #sends = 0;
  /** The newest time of a fence on `transfers`. */
  #fenceMs = 0;

  reserve({ orderId, ...facts }: Reservation): ReserveResult {
    return this.#reserve({ id: orderId, ...facts });
  }

  cancelReservation({ id, partition, sender }: Send): boolean {
    const held = this.#pending.get(id);
    if (held?.partition !== partition || !held.senders.delete(sender)) return false;
    this.#releaseIfAnswered(held);
    return true;
  }

  applyExecutions(piece: ExecutionsPiece): ApplyOutcome {
    const { partition, clockMs, bookAgeLimitMs } = piece;
    if (this.#isRepeated('executions', partition, piece)) return 'repeated';
    const moves = sumMoves(piece.moves);
    for (const move of moves) this.#assertExact(move);
    for (const move of moves) this.#move(move.wallet, move.freeMicro, move.heldMicro);
    for (const orderId of piece.answered) this.#answer(orderId, partition);
    this.#releaseOrphans(partition, clockMs - bookAgeLimitMs - orphanMarginMs);
    this.#begin(`executions:${partition}`, piece.generation);
    this.#marks.set(`executions:${partition}`, piece.toOffset);
    return 'applied';
  }

  applyTransfers(piece: TransfersPiece): TransfersOutcome {
    if (this.#isRepeated('transfers', 0, piece))
      return { outcome: 'repeated', unpaid: [], voided: [] };
    const { valid, voided } = this.#sorted(piece.transfers);
    const applied = this.#applied(valid);
    for (const [transferId, transfer] of applied) {
      this.#move(transfer.wallet, transfer.movedMicro, 0);
      this.#transfers.set(transferId, transfer);
    }
    for (const { transferId } of valid) {
      const held = this.#pending.get(transferId);
      if (held?.kind === 'withdrawal') this.#release(held);
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

  newestWithdrawal(beforeMs: number): number | null {
    const isOld = ({ partition, acceptedAtMs }: Held) =>
      partition === withdrawalsLane && acceptedAtMs < beforeMs;
    const times = [...this.#pending.values()].filter(isOld).map((held) => held.acceptedAtMs);
    return times.length === 0 ? null : Math.max(...times);
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
    for (const wallet of this.#passing) this.#insolvent.add(wallet);
    this.#passing.clear();
    return true;
  }

  /** Takes the fences; of the others those that count, and the withdrawals that a fence before them makes void. */
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

  #reserve(facts: Omit<Held, 'answers' | 'senders'>): ReserveResult {
    const { generation, ready } = this.#state;
    if (!ready) return { outcome: 'not_ready', generation: 0, sender: '' };
    const held = this.#pending.get(facts.id);
    const outcome = this.#outcomeOf(facts, held);
    if (outcome !== 'reserved' && outcome !== 'already') return { outcome, generation, sender: '' };
    const sender = `s${this.#sends++}`;
    if (held === undefined) {
      this.#pending.set(facts.id, { ...facts, answers: 0, senders: new Set([sender]) });
      this.#money(facts.wallet).pending += facts.amountMicro;
      return { outcome, generation, sender };
    }
    held.senders.add(sender);
    held.acceptedAtMs = Math.max(held.acceptedAtMs, facts.acceptedAtMs);
    if (outcome === 'reserved') {
      held.amountMicro = facts.amountMicro;
      this.#money(facts.wallet).pending += facts.amountMicro;
    }
    return { outcome, generation, sender };
  }

  #outcomeOf(facts: Omit<Held, 'answers' | 'senders'>, held: Held | undefined): ReserveOutcome {
    if (held !== undefined && !isSame(held, facts)) return 'conflict';
    if (held !== undefined && held.senders.size >= sendersMax) return 'busy';
    if (held !== undefined && (held.amountMicro > 0 || facts.amountMicro === 0)) return 'already';
    const { availableMicro } = this.balance(facts.wallet);
    const isShort = facts.amountMicro > 0 && availableMicro < facts.amountMicro;
    return isShort ? 'insufficient' : 'reserved';
  }

  /** What each transfer that is not applied yet will move; nothing is changed before all of it is known to fit. */
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

  /** While the ledger is open a withdrawal pays what its reservation holds, and nothing that the wallet does not have. */
  #movedBy({ transferId, wallet, amountMicro }: LedgerTransfer, freeMicro: number): number {
    if (amountMicro >= 0 || !this.#state.ready) return amountMicro;
    const held = this.#pending.get(transferId);
    const isOwn = held?.kind === 'withdrawal' && held.wallet === wallet;
    const holdMicro = isOwn ? held.amountMicro : 0;
    return 0 - Math.min(-amountMicro, holdMicro, Math.max(0, freeMicro));
  }

  #answer(orderId: OrderId, partition: number): void {
    const held = this.#pending.get(orderId);
    if (held?.partition !== partition) return;
    held.answers += 1;
    this.#releaseIfAnswered(held);
  }

  /** No record that could still be booked is on its way: each was answered or never sent. */
  #releaseIfAnswered(held: Held): void {
    if (held.answers >= held.senders.size) this.#release(held);
  }

  #release({ id, wallet, amountMicro }: Held): void {
    this.#pending.delete(id);
    this.#money(wallet).pending -= amountMicro;
  }

  /** Oldest first; of the same age by id, as a Redis sorted set has it. */
  #releaseOrphans(partition: number, beforeMs: number): void {
    [...this.#pending.values()]
      .filter((one) => one.partition === partition && one.acceptedAtMs < beforeMs)
      .sort((a, b) => a.acceptedAtMs - b.acceptedAtMs || (a.id < b.id ? -1 : 1))
      .slice(0, orphansPerCallMax)
      .forEach((orphan) => {
        this.#release(orphan);
      });
  }
}

/** Whether both are for the same; a record that holds nothing goes with any amount. */
function isSame(a: Omit<Held, 'answers' | 'senders'>, b: typeof a): boolean {
  const isAmount = a.amountMicro === b.amountMicro || a.amountMicro === 0 || b.amountMicro === 0;
  const isPlace = a.wallet === b.wallet && a.partition === b.partition;
  return isAmount && isPlace && a.kind === b.kind && a.market === b.market;
}

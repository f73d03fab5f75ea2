import {
  conditionIdFromBytes,
  type OrderId,
  orderIdFromBytes,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas/ids';
import { bytesOf, seeded } from '../../../kit/test/seeded.ts';
import type {
  ExecutionsPiece,
  MarketChange,
  Move,
  RebuildPlan,
  Reservation,
  TransfersPiece,
  WithdrawalReservation,
} from '../../src/ledger/ledger.ts';

export function walletOf(index: number): WalletAddress {
  return walletFromBytes(bytesOf(20, index));
}

export function orderOf(index: number): OrderId {
  return orderIdFromBytes(bytesOf(32, index));
}

export function transferOf(index: number): string {
  return conditionIdFromBytes(bytesOf(32, index));
}

export type Step =
  | { readonly kind: 'reserve'; readonly reservation: Reservation }
  | { readonly kind: 'withdraw'; readonly withdrawal: WithdrawalReservation }
  | { readonly kind: 'release'; readonly beforeMs: number }
  /** The sender of an earlier reservation, by its number. */
  | { readonly kind: 'cancel'; readonly reservation: number }
  | { readonly kind: 'executions'; readonly piece: ExecutionsPiece }
  | { readonly kind: 'transfers'; readonly piece: TransfersPiece }
  | { readonly kind: 'close' }
  | { readonly kind: 'plan'; readonly plan: RebuildPlan }
  | { readonly kind: 'open'; readonly plan: RebuildPlan };

const partitions = 2;
const wallets = 4;

/** Usual amount of the withdrawal with this id. */
function amountOf(id: number): number {
  return 1 + ((id * 37) % 200);
}

/** Reservations, answers, repetitions, gaps, overlaps, orphans and rebuilds in a random order. */
export class History {
  readonly #next: (below: number) => number;
  readonly #ends = [0, 0];
  #transfersEnd = 0;
  #clockMs = 100_000;
  #reservations = 0;

  constructor(seed: number) {
    this.#next = seeded(seed);
  }

  step(): Step {
    this.#clockMs += this.#next(400);
    const dice = this.#next(20);
    if (dice > 17) return { kind: 'cancel', reservation: this.#next(this.#reservations + 1) };
    if (dice === 17) return this.#next(3) === 0 ? { kind: 'close' } : this.step();
    if (dice > 13) return { kind: dice === 14 ? 'plan' : 'open', plan: this.#plan() };
    if (dice === 13) return { kind: 'release', beforeMs: this.#clockMs - 5_000 };
    if (dice > 10) return { kind: 'withdraw', withdrawal: this.#withdrawal() };
    if (dice < 6) return { kind: 'reserve', reservation: this.#reservation() };
    if (dice < 9) return { kind: 'executions', piece: this.#executions() };
    return { kind: 'transfers', piece: this.#transfers() };
  }

  /** Mostly one meaning an id, so that senders come together; now and then another one. */
  #reservation(): Reservation {
    this.#reservations += 1;
    const id = this.#next(30);
    const other = this.#next(6) === 0 ? 1 : 0;
    return {
      orderId: orderOf(id),
      wallet: walletOf((id + other * this.#next(2)) % wallets),
      amountMicro: this.#next(4) === 0 ? 0 : 20 + (id % 3) * 50 + other * this.#next(2),
      partition: (id + other * this.#next(2)) % partitions,
      kind: other * this.#next(2) === 1 ? 'split' : 'order',
      market: id + other * this.#next(2),
      acceptedAtMs: this.#clockMs - this.#next(2_000),
    };
  }

  /** Ids come again, and generations are small, so that some plans can be opened. */
  #plan(): RebuildPlan {
    return { id: `plan-${this.#next(2)}`, generation: 1 + this.#next(4) };
  }

  #withdrawal(): WithdrawalReservation {
    this.#reservations += 1;
    const id = this.#next(40);
    return {
      transferId: transferOf(id),
      wallet: walletOf(this.#next(5) === 0 ? this.#next(wallets) : id % wallets),
      amountMicro: amountOf(id) + (this.#next(5) === 0 ? 1 : 0),
      acceptedAtMs: this.#clockMs - this.#next(2_000),
    };
  }

  #executions(): ExecutionsPiece {
    const partition = this.#next(partitions);
    const span = this.#span(this.#ends[partition] ?? 0);
    if (span.follows) this.#ends[partition] = span.toOffset;
    const moves: Move[] = Array.from({ length: this.#next(4) }, () => ({
      wallet: walletOf(this.#next(wallets)),
      freeMicro: this.#next(100) - 50,
      heldMicro: this.#next(100) - 50,
    }));
    const answered = Array.from({ length: this.#next(5) }, () => orderOf(this.#next(30)));
    const generation = this.#next(3) === 0 ? this.#next(5) : 0;
    const markets = Array.from({ length: this.#next(3) }, () => this.#marketChange());
    const clock = { clockMs: this.#clockMs, bookAgeLimitMs: 2_000 };
    return { ...span, ...clock, partition, answered, moves, markets, generation };
  }

  /** Mostly a balanced one; a resolution now and then. */
  #marketChange(): MarketChange {
    const lots = (this.#next(200) - 100) * 10_000;
    const isEven = this.#next(4) > 0;
    return {
      market: String(this.#next(3)),
      token0Micro: lots,
      token1Micro: isEven ? lots : lots + 10_000,
      lockedMicro: isEven ? lots : lots - this.#next(2) * 10_000,
      payout0: this.#next(40) === 0 ? this.#next(3) * 5_000 : null,
      suspects: isEven ? [] : [walletOf(this.#next(wallets)), walletOf(this.#next(wallets))],
    };
  }

  #transfers(): TransfersPiece {
    const span = this.#span(this.#transfersEnd);
    if (span.follows) this.#transfersEnd = span.toOffset;
    const transfers = Array.from({ length: span.toOffset - span.fromOffset }, () => {
      const id = this.#next(40);
      const isDeposit = this.#next(3) === 0;
      return {
        transferId: transferOf(isDeposit ? 40 + this.#next(1_000) : id),
        wallet: walletOf(isDeposit || this.#next(5) === 0 ? this.#next(wallets) : id % wallets),
        amountMicro: this.#next(12) === 0 ? 0 : isDeposit ? this.#next(1_000) : -amountOf(id),
        generation: this.#next(4),
        timeMs: this.#clockMs - this.#next(60_000),
      };
    });
    return { ...span, transfers };
  }

  /** Mostly what follows; sometimes what came before, an overlap or a gap. */
  #span(end: number): { fromOffset: number; toOffset: number; follows: boolean } {
    const length = 1 + this.#next(3);
    const dice = this.#next(8);
    if (dice > 2 || end < 5) return { fromOffset: end, toOffset: end + length, follows: true };
    const fromOffset = dice === 0 ? end - 4 : dice === 1 ? end - 1 : end + 1;
    return { fromOffset, toOffset: fromOffset + length, follows: false };
  }
}

import type { OrderId, WalletAddress } from '@pm/schemas/ids';

/** The topics the ledger is folded from. */
export type LedgerTopic = 'executions' | 'transfers';

/** Purpose of a reservation. */
export type ReservationKind = 'order' | 'split' | 'withdrawal';

/**
 * A reservation of money. It is identified by all its facts: id, wallet, amount, partition, kind and purpose
 * (decisions.md, "A reservation is identified by everything that it covers").
 */
export interface Reservation {
  /** The order id, or the request id of a split. */
  readonly orderId: OrderId;
  readonly wallet: WalletAddress;
  /**
   * The amount that the record holds; 0 is stored too. A record that holds nothing, which only asks the matcher for
   * the result of an order, agrees with any amount under the same id; a later record with money raises the hold.
   */
  readonly amountMicro: number;
  /** Partition of `orders` the record goes to. */
  readonly partition: number;
  readonly kind: Exclude<ReservationKind, 'withdrawal'>;
  /** The market of the order or split. */
  readonly market: number;
  /** `acceptedAtMs` of the record, Unix milliseconds. */
  readonly acceptedAtMs: number;
}

/**
 * `reserved`: held now. `already`: the same reservation is pending, nothing was held again. `conflict`: the id is
 * pending for something else. `busy`: `sendersMax` records under this id are in flight. `insufficient`: not enough
 * free money. `not_ready`: the ledger is being rebuilt; retry later.
 */
export type ReserveOutcome =
  | 'reserved'
  | 'already'
  | 'conflict'
  | 'busy'
  | 'insufficient'
  | 'not_ready';

export interface ReserveResult {
  readonly outcome: ReserveOutcome;
  /** Ledger generation of the hold, which goes into the record; 0 when not ready. */
  readonly generation: number;
  /** Names the record that may now be sent, for `cancelReservation`. */
  readonly sender: string;
  /**
   * Next offset of `executions` in the partition of the reservation that the ledger applies: the outcome knows all
   * records before it. A refusal counts only for who has read as far. 0 when not ready.
   */
  readonly mark: number;
}

/** A record with a reservation. */
export interface Send {
  /** The id of the reservation. */
  readonly id: string;
  /** Its partition; of a withdrawal `withdrawalsLane`. */
  readonly partition: number;
  readonly sender: string;
}

export interface WithdrawalReservation {
  /** 0x-text; given once, the id of the transfer to come. */
  readonly transferId: string;
  readonly wallet: WalletAddress;
  /** Above 0. */
  readonly amountMicro: number;
  /** Unix milliseconds. */
  readonly acceptedAtMs: number;
}

export interface WithdrawalResult {
  /**
   * `frozen`: it is new, and the solvency check has a finding about the wallet, or about a market, that is not dealt
   * with yet.
   */
  readonly outcome: ReserveOutcome | 'applied' | 'frozen';
  /** Ledger generation of the hold, which goes into the transfer; 0 when not ready. */
  readonly generation: number;
  /** Names the record that may now be sent, for `cancelReservation`. */
  readonly sender: string;
  /** Amount paid by an applied withdrawal, micro-USDC; 0 otherwise. */
  readonly paidMicro: number;
}

/** A transfer as the ledger applied it. */
export interface AppliedTransfer {
  readonly wallet: WalletAddress;
  /** As its record says, micro-USDC; negative is a withdrawal. */
  readonly amountMicro: number;
  /** Change of the wallet's free money, micro-USDC. */
  readonly movedMicro: number;
}

/** Movements of money in the records [fromOffset, toOffset) of one partition of `executions`. */
export interface ExecutionsPiece {
  readonly partition: number;
  readonly fromOffset: number;
  readonly toOffset: number;
  /** Clock of the partition after the last record, Unix milliseconds. */
  readonly clockMs: number;
  /** Time-to-book limit of the partition: no order accepted longer ago than this can still be booked. */
  readonly bookAgeLimitMs: number;
  /** Orders that have a result in these records. */
  readonly answered: readonly OrderId[];
  readonly moves: readonly Move[];
  readonly markets: readonly MarketChange[];
  /** The newest generation that begins in them; 0 when none does. */
  readonly generation: number;
}

/** The change of what a market has. */
export interface MarketChange {
  /** Its number; of money that no market accounts for the name of the partition. */
  readonly market: string;
  /** Micro-shares that wallets have more than before. */
  readonly token0Micro: number;
  readonly token1Micro: number;
  /** Micro-USDC that is locked for them more than before. */
  readonly lockedMicro: number;
  /** Payout of token 0 from here on, 1/10000 USDC; null while no payout is stated. */
  readonly payout0: number | null;
  /** Wallets to suspect if the market has a gap after this, at most `suspectsMax`. */
  readonly suspects: readonly WalletAddress[];
}

/** Wallets of one change that are named beside a gap. */
export const suspectsMax = 20;

/** A market whose tokens and locked USDC differ. */
export interface MarketBreach {
  readonly market: string;
  /** Token 0 or, after the resolution, all payouts less what is locked, micro; never 0 at once with `gap1Micro`. */
  readonly gap0Micro: number;
  readonly gap1Micro: number;
  /** "partition:offset" of `executions` after the piece with the breach. */
  readonly place: string;
  readonly suspects: readonly WalletAddress[];
  /** The entry, for `acknowledgeBreach`. */
  readonly entry: string;
}

/** A movement of a wallet's money. */
export interface Move {
  readonly wallet: WalletAddress;
  readonly freeMicro: number;
  readonly heldMicro: number;
}

/** The records [fromOffset, toOffset) of `transfers`: as many transfers, in their order. */
export interface TransfersPiece {
  readonly fromOffset: number;
  readonly toOffset: number;
  readonly transfers: readonly LedgerTransfer[];
}

export interface LedgerTransfer {
  /** 0x-text; given once. */
  readonly transferId: string;
  readonly wallet: WalletAddress;
  /** Positive is a deposit, negative a withdrawal; 0 is a fence, which begins its generation. */
  readonly amountMicro: number;
  /** When it was accepted, Unix milliseconds; of a fence its own time. */
  readonly timeMs: number;
  /** Ledger generation that a withdrawal was reserved under; deposits have none. */
  readonly generation: number;
}

/** `repeated`: the piece had been applied before and changed nothing. */
export type ApplyResult = 'applied' | 'repeated';

export interface TransfersResult {
  readonly outcome: ApplyResult;
  /** Withdrawals of the piece that were not paid in full. */
  readonly unpaid: readonly UnpaidWithdrawal[];
  /** Withdrawals of the piece that a fence before them makes void. */
  readonly voided: readonly VoidWithdrawal[];
}

export type VoidWithdrawal = Pick<LedgerTransfer, 'transferId' | 'wallet' | 'amountMicro'>;

/** A withdrawal whose record asks for more than its reservation held. */
export interface UnpaidWithdrawal extends AppliedTransfer {
  readonly transferId: string;
}

export interface Balance {
  readonly freeMicro: number;
  readonly heldMicro: number;
  readonly pendingMicro: number;
  /** free - pending: what can be reserved. */
  readonly availableMicro: number;
}

/** The plan to open a ledger that is new or was lost. */
export interface RebuildPlan {
  /** Id of the plan; lost with everything else when Redis is emptied again. */
  readonly id: string;
  /** Newer than any under which the ledger was ever open. */
  readonly generation: number;
}

export interface LedgerState {
  /** 0 before the ledger was ever ready. */
  readonly generation: number;
  readonly ready: boolean;
}

/**
 * Results and movements of one call of the script, so that Redis is never blocked for long (about 10 ms). A piece
 * beyond it must be a single record and is applied in parts.
 */
export const ledgerCallItemsMax = 2_000;

/** Orphan holds released by one call. */
export const orphansPerCallMax = 500;

/** Records under one id that may be in flight at once; each retry sent before the first result is one. */
export const sendersMax = 16;

/** Wallets below zero, or markets with a gap, that one call lists. */
export const insolventPerCallMax = 100;

/** Number of the pseudo-partition of withdrawals' reservations: no partition of the log has it. */
export const withdrawalsLane = 1_000_000;

/**
 * Added to the time-to-book limit before a hold counts as orphaned: clocks of ingress and matcher may differ by
 * milliseconds.
 */
export const orphanMarginMs = 1_000;

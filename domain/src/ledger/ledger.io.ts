import type { WalletAddress } from '@pm/schemas/ids';
import type { FoldedPlace } from '../executions/execution-order.ts';
import type {
  AppliedTransfer,
  ApplyResult,
  Balance,
  ExecutionsPiece,
  LedgerState,
  LedgerTopic,
  MarketBreach,
  RebuildPlan,
  Reservation,
  ReserveResult,
  Send,
  TransfersPiece,
  TransfersResult,
  WithdrawalReservation,
  WithdrawalResult,
} from './ledger.ts';

/**
 * The collateral ledger. Per wallet `free` and `held` follow from the log alone; `pending` is an overlay:
 * reservations whose orders have no result on the log yet. What can be reserved is free - pending. All amounts are
 * micro-USDC and safe integers. (Rule: architecture.md, Money.)
 */
export interface Ledger {
  /**
   * Holds money for an order or a split before it is sent. One atomic step. A repeated reservation holds nothing
   * more: its caller joins as a further sender. A different reservation under a pending id is a `conflict`.
   */
  reserve(reservation: Reservation): Promise<ReserveResult>;
  /**
   * Removes a sender whose record was certainly never sent; a repetition changes nothing. The hold is released with
   * the last sender that has no result on the log. True when the sender existed.
   */
  cancelReservation(send: Send): Promise<boolean>;
  /**
   * Applies a piece of `executions`. Throws the `Fault` `ledger_gap` (release) when the piece does not start at the
   * mark and is no exact repetition, `ledger_restoring` (release) while an image is written, `ledger_overflow` (stop)
   * when a balance would leave 2^53, `ledger_batch_too_large` (stop) when a piece of several records is beyond
   * `ledgerCallItemsMax`.
   */
  applyExecutions(piece: ExecutionsPiece): Promise<ApplyResult>;
  /**
   * Applies a piece of `transfers` by the same rule; a transfer id that the log repeats counts once, and replaces its
   * reservation. A withdrawal of an older generation than the last fence before it, or accepted `withdrawalLateMs`
   * before the time of one, is void and leaves every reservation as it is. While the ledger is open a withdrawal pays
   * no more than its own reservation holds and never below zero; what it lacks is returned, since only a record that
   * this rule forbids can lack anything.
   */
  applyTransfers(piece: TransfersPiece): Promise<TransfersResult>;
  /**
   * Holds money for a withdrawal before its record is written. `applied`: the ledger has it already; `conflict` also
   * when a transfer of another wallet or amount was applied under the id.
   */
  reserveWithdrawal(withdrawal: WithdrawalReservation): Promise<WithdrawalResult>;
  /** The applied transfer of an id; null while there is none. */
  appliedTransfer(transferId: string): Promise<AppliedTransfer | null>;
  /** Acceptance time of the newest held withdrawal accepted before `beforeMs`, Unix milliseconds; null without one. */
  newestWithdrawal(beforeMs: number): Promise<number | null>;
  /**
   * Releases holds of withdrawals accepted before (Unix milliseconds), at most `orphansPerCallMax`; returns how many.
   * Only for a caller that knows that the ledger has applied a fence which makes their late records void.
   */
  releaseWithdrawals(beforeMs: number): Promise<number>;
  balance(wallet: WalletAddress): Promise<Balance>;
  /**
   * Wallets whose free money was below zero while the ledger was open and that no caller has acknowledged since, at
   * most `insolventPerCallMax`; none while it is closed, because a rebuild passes through such balances.
   */
  insolventWallets(): Promise<readonly WalletAddress[]>;
  /** The caller has dealt with the wallet; it is listed again at its next move below zero. */
  acknowledgeInsolvent(wallet: WalletAddress): Promise<void>;
  /** Markets whose tokens and locked USDC have come to differ and that no caller has acknowledged since. */
  marketBreaches(): Promise<readonly MarketBreach[]>;
  /** The caller has dealt with the breach; the market is listed again when its gap changes. */
  acknowledgeBreach(breach: MarketBreach): Promise<void>;
  /** Next offset to apply; 0 when nothing was applied yet. */
  mark(topic: LedgerTopic, partition: number): Promise<number>;
  /** The mark of a partition of `executions`, with its clock there. */
  place(partition: number): Promise<FoldedPlace>;
  /** The marks of partitions of `executions`, as `mark` returns them. */
  marks(partitions: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** The newest generation whose beginning has been applied there; 0 before the first. */
  generation(topic: LedgerTopic, partition: number): Promise<number>;
  state(): Promise<LedgerState>;
  /** Closes it for reservations and drops the plan of a rebuild, since data may be lost. */
  close(): Promise<void>;
  /** Plans the rebuild of a closed ledger, or returns the existing plan; null when the ledger is open. */
  planRebuild(plan: RebuildPlan): Promise<RebuildPlan | null>;
  /**
   * Opens it for reservations under the generation of the plan. False, with nothing done, unless the plan is still
   * current and its generation has begun in the applied log of `transfers` and of all these partitions of
   * `executions`.
   */
  open(plan: RebuildPlan, partitions: readonly number[]): Promise<boolean>;
  /** Whether it was opened in an earlier life of Redis as primary; writes may be lost since (`ledger-lua.ts`). */
  isOfEarlierLife(): Promise<boolean>;
}

import type { Clock } from '@pm/kit/clock';
import type {
  AuditRecord,
  BindingResult,
  CatalogEntry,
  CatalogMarket,
  Transfer,
  WalletAddress,
  WalletStatusKind,
} from '@pm/schemas';
import type { AuditEntry, AuditTrail } from '../../core/audit-trail.ts';
import type { CatalogIndex } from '../../core/catalog-index.ts';
import type { Keccak } from '../../core/order-hash.ts';
import type { BindFailure, Binding, WalletOwners } from '../../core/wallet-owners.ts';
import type { ListedStatus } from '../../core/wallet-statuses.ts';
import type { ListedFreeze } from '../../core/withdrawal-freezes.ts';
import type { CommentDesk } from '../comments/desks.ts';
import type { CommandLog, Reservations, TransferWrites, WithdrawalFreezeView } from '../ports.ts';
import type { CatalogTurns } from './catalog-turns.ts';
import type { Swept } from './sweep-orders.ts';

/** Writes of the operator; each resolves when it is durable and rejects with a `Fault`. */
export interface OperatorWrites {
  writeRoutes(markets: readonly CatalogMarket[]): Promise<void>;
  writeEntries(entries: readonly CatalogEntry[]): Promise<void>;
  writeTransfers(transfers: readonly Transfer[]): Promise<void>;
}

/** What operators asked for and what came of it. */
export interface OperatorAudit {
  /** Resolves when the record is durable; rejects with a `Fault`. */
  append(record: AuditRecord): Promise<void>;
  /** The outcome of a request could not be written after it. */
  onLost(record: AuditRecord, error: unknown): void;
  page(asked: Parameters<AuditTrail['page']>[0]): readonly AuditEntry[];
}

/** What wallets may do. */
export interface WalletStatusDesk {
  find(wallet: WalletAddress): ListedStatus | undefined;
  restricted(max: number): readonly ListedStatus[];
  /** Resolves when it is durable; rejects with a `Fault`. */
  set(
    wallet: WalletAddress,
    change: { readonly status: WalletStatusKind; readonly reason: string },
  ): Promise<ListedStatus>;
}

/** Whose withdrawals are frozen. */
export interface WithdrawalFreezeDesk extends WithdrawalFreezeView {
  find(wallet: WalletAddress): ListedFreeze | undefined;
  frozen(max: number): readonly ListedFreeze[];
  /** Resolves when it is durable; rejects with a `Fault`. */
  set(
    wallet: WalletAddress,
    change: { readonly frozen: boolean; readonly reason: string; readonly freeMicro: number },
  ): Promise<ListedFreeze>;
}

/** Where wallets are bound to owners. */
export interface WalletBinder {
  /** One result per binding, in order, when the records are durable and were read back. Rejects with a `Fault`. */
  bind(
    bindings: readonly Binding[],
    boundBy: string,
  ): Promise<readonly BindingResult[] | BindFailure>;
}

/** Everything the operator's routes need. */
export interface OperatorPorts {
  readonly clock: Clock;
  readonly keccak: Keccak;
  /** The token that opens these routes. */
  readonly token: string;
  readonly catalog: CatalogIndex;
  readonly partitions: number;
  /** Commands signed with the operator's key. */
  readonly log: CommandLog;
  readonly writes: OperatorWrites;
  /** Those of everything that changes the catalog in this process. */
  readonly turns: CatalogTurns;
  readonly audit: OperatorAudit;
  readonly ledger: Pick<
    Reservations,
    'reserveWithdrawal' | 'cancelReservation' | 'appliedTransfer' | 'balance'
  >;
  readonly freezes: WithdrawalFreezeDesk;
  readonly transfers: TransferWrites;
  readonly walletStatus: WalletStatusDesk;
  readonly owners: Pick<WalletOwners, 'find' | 'isReserved' | 'judge' | 'takesDeposits'>;
  readonly bindings: WalletBinder;
  /** Takes the orders of a wallet and of its owner off all books. */
  sweep(wallet: WalletAddress): Promise<Swept>;
  readonly comments: CommentDesk;
  status(): object;
}

import type { Clock } from '@pm/kit/clock';
import type {
  BindingResult,
  CatalogEntry,
  CatalogMarket,
  Transfer,
  WalletAddress,
  WalletStatusKind,
} from '@pm/schemas';
import type { BindFailure, Binding, WalletOwners } from '../accounts/wallet-owners.ts';
import type { ListedStatus } from '../accounts/wallet-statuses.ts';
import type { ListedFreeze } from '../accounts/withdrawal-freezes.ts';
import type { Swept } from '../cancels/sweep.io.ts';
import type { CatalogIndex } from '../catalog/catalog-index.ts';
import type { CatalogTurns } from '../catalog/catalog-locks.io.ts';
import type {
  CommandLog,
  Reservations,
  TransferWrites,
  WithdrawalFreezeView,
} from '../door/ports.io.ts';
import type { Keccak } from '../orders/hash.ts';
import type { CommentDesk } from '../social/desks.ts';
import type { OperatorAudit } from './audit-trail.io.ts';

/** Writes of the operator; each resolves when it is durable and rejects with a `Fault`. */
export interface OperatorWrites {
  writeRoutes(markets: readonly CatalogMarket[]): Promise<void>;
  writeEntries(entries: readonly CatalogEntry[]): Promise<void>;
  writeTransfers(transfers: readonly Transfer[]): Promise<void>;
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

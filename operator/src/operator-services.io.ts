import type { TransferWriter } from '@pm/domain/commands/transfer-writer.io';
import type { Balance } from '@pm/domain/ledger/ledger';
import type { Reservations } from '@pm/domain/orders/reservation.io';
import type { Comments } from '@pm/domain/social/comments.io';
import type { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import type { StatusFacts, WalletStatuses } from '@pm/domain/wallets/wallet-statuses.io';
import type { WalletWriter } from '@pm/domain/wallets/wallet-table.io';
import type { FreezeFacts, WithdrawalFreezes } from '@pm/domain/wallets/withdrawal-freezes.io';
import type { Clock } from '@pm/kit/clock';
import type { WalletAddress } from '@pm/schemas/ids';
import type { Approvals } from './approvals.io.ts';
import type { OperatorAudit } from './audit-trail.io.ts';
import type { CatalogWriter } from './catalog/catalog-writer.io.ts';
import type { CatalogServices } from './catalog/matcher-market.io.ts';
import type { Operators } from './operators.io.ts';
import type { Resolutions } from './resolutions.io.ts';
import type { Swept } from './sweep.io.ts';
import type { WalletBindings } from './wallet-bindings.io.ts';

/** Dependencies of requests that need a second person. */
export interface ApprovalServices {
  readonly approvals: Approvals;
  readonly clock: Clock;
}

/** Dependencies of deposits and withdrawals by the operator. */
export interface OperatorMoneyServices extends ApprovalServices {
  readonly clock: Clock;
  readonly writer: Pick<CatalogWriter, 'writeTransfers'>;
  readonly ledger: Pick<
    Reservations,
    'reserveWithdrawal' | 'cancelReservation' | 'appliedTransfer'
  > & { balance(wallet: WalletAddress): Promise<Pick<Balance, 'freeMicro' | 'heldMicro'>> };
  readonly transfers: Pick<TransferWriter, 'write'>;
  readonly freezes: Pick<WithdrawalFreezes, 'isFrozen'>;
  readonly owners: Pick<WalletOwners, 'judge' | 'takesDeposits'>;
  readonly bindings: Pick<WalletBindings, 'bind'>;
}

/** Dependencies of the routes that say what a wallet may do and whose it is. */
export interface OperatorWalletServices {
  readonly walletStatus: Pick<WalletStatuses, 'find' | 'restricted'>;
  readonly freezes: Pick<WithdrawalFreezes, 'find' | 'frozen'>;
  readonly write: {
    readonly status: Pick<WalletWriter<StatusFacts>, 'set'>;
    readonly freeze: Pick<WalletWriter<FreezeFacts>, 'set'>;
  };
  readonly ledger: Pick<Reservations, 'balance'>;
  readonly owners: Pick<WalletOwners, 'find' | 'isReserved' | 'judge'>;
  readonly bindings: Pick<WalletBindings, 'bind'>;
  /** Takes the orders of a wallet and of its owner off all books. */
  sweep(wallet: WalletAddress): Promise<Swept>;
}

/** Dependencies of the operator's routes, by domain. */
export interface OperatorServices extends ApprovalServices {
  readonly operators: Pick<Operators, 'find'>;
  readonly resolutions: Resolutions;
  readonly audit: OperatorAudit;
  readonly catalog: CatalogServices;
  readonly money: OperatorMoneyServices;
  readonly wallets: OperatorWalletServices;
  readonly comments: Pick<Comments, 'threads' | 'write'>;
  status(): object;
}

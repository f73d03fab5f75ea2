import type { AgentActivity } from '@pm/domain/accounts/agent-activity.io';
import type { AgentDirectory } from '@pm/domain/accounts/agent-directory';
import type { KeyDirectory } from '@pm/domain/accounts/key-directory';
import type { KeyVerifier } from '@pm/domain/accounts/key-verifier';
import type { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import type { CommandSender } from '@pm/domain/commands/command-channel.io';
import type { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import type { TransferWriter } from '@pm/domain/commands/transfer-writer.io';
import type { OrderHasher } from '@pm/domain/orders/eip712';
import type { Reservations } from '@pm/domain/orders/reservation.io';
import type { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import type { WithdrawalFreezes } from '@pm/domain/wallets/withdrawal-freezes.io';
import type { Clock } from '@pm/kit/clock';
import type { NewMarkets } from '../catalog/new-markets.io.ts';
import type { Authentication } from '../http/authentication.io.ts';
import type { IdempotencyMemory } from '../http/idempotency.io.ts';
import type { RepetitionServices } from '../http/replayed-requests.io.ts';
import type { SignaturePool } from '../orders/signature-pool.io.ts';
import type { UnfundedRequests } from '../orders/unfunded-requests.io.ts';
import type { Agents } from './agents.io.ts';
import type { ApiKeys } from './api-keys.io.ts';
import type { NotificationMarks } from './notification-marks.io.ts';
import type { ReadOnlyKeys } from './read-only-keys.io.ts';

/** Dependencies of the routes for keys, agents and notifications; each route takes its part. */
export interface AccountServices {
  readonly authentication: Authentication;
  /** Proves a builder's key. */
  readonly verifyBuilder: KeyVerifier;
  readonly signatures: Pick<SignaturePool, 'attest'>;
  /** Finds a wallet's own signatures that were used before. */
  readonly repetitions: Pick<RepetitionServices, 'usedProofs' | 'counts'>;
  readonly keys: ApiKeys;
  readonly keyDirectory: Pick<KeyDirectory, 'find'>;
  readonly readOnlyKeys: ReadOnlyKeys;
  readonly agents: Agents;
  /** The agents by their keys. */
  readonly agentDirectory: AgentDirectory;
  readonly activity: Pick<AgentActivity, 'mark' | 'seen'>;
  readonly owners: Pick<WalletOwners, 'isReserved'>;
  readonly notificationMarks: NotificationMarks;
}

/** Dependencies of splits, merges, redemptions and withdrawals. */
export interface MoneyServices {
  readonly authentication: Authentication;
  readonly clock: Clock;
  readonly idempotencyKeys: IdempotencyMemory;
  readonly markets: Pick<CatalogIndex, 'findCondition'>;
  readonly newMarkets: NewMarkets;
  readonly owners: Pick<WalletOwners, 'isOwnedBy'>;
  readonly hashes: Pick<OrderHasher, 'keccak'>;
  readonly partitions: Pick<PartitionLiveness, 'isReady'>;
  readonly ledger: Omit<Reservations, 'balance'>;
  readonly commands: Pick<CommandSender, 'run'>;
  readonly transfers: Pick<TransferWriter, 'write'>;
  readonly freezes: Pick<WithdrawalFreezes, 'isFrozen'>;
  readonly unfunded: Pick<UnfundedRequests, 'waitSeconds' | 'refused'>;
}

import type { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import type { CommandChannel } from '@pm/domain/commands/command-channel.io';
import { isSomeReady, partitionFacts, silentCount } from '@pm/domain/commands/partition-facts';
import type { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import type { RecentResults } from '@pm/domain/commands/recent-results-cache';
import type { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import type { Readiness, Serving } from '@pm/kit/health';
import type { ApiKeys } from './accounts/api-keys.io.ts';
import type { SignOffProof } from './log/sign-off-proof.io.ts';
import type { IngressGauges } from './metrics.ts';
import type { SignaturePool } from './orders/signature-pool.io.ts';
import type { UnconfirmedOrders } from './orders/unconfirmed-orders.io.ts';

/** The parts that status, readiness and gauges look at. They exist only once they are caught up. */
export interface StatusParts {
  readonly nowMs: () => number;
  readonly partitions: Pick<PartitionLiveness, 'numbers' | 'at' | 'isReady'>;
  readonly ledgerWatch: { isReady(): boolean };
  readonly signatures: Pick<SignaturePool, 'queued'>;
  readonly channel: Pick<CommandChannel, 'envelopes' | 'waiters'>;
  readonly recentResults: Pick<RecentResults, 'size'>;
  readonly unconfirmed: Pick<UnconfirmedOrders, 'size'>;
  readonly keys: Pick<ApiKeys, 'size'>;
  readonly owners: Pick<WalletOwners, 'boundCount'>;
  readonly catalog: Pick<CatalogIndex, 'marketCount'>;
  readonly sessions: { facts(): object };
  readonly signOff: Pick<SignOffProof, 'isProven' | 'rejecting'>;
  /** See `TopicsClient`. */
  notFollowed(): readonly string[];
}

/** Parts of the process that readiness depends on. */
type HealthParts = Pick<StatusParts, 'partitions' | 'ledgerWatch' | 'signOff' | 'notFollowed'>;

/**
 * Ready while money can be reserved, at least one partition works and takes what this process signs, and none rejects
 * it; single silent ones refuse their own orders.
 */
export function readinessOf(parts: HealthParts): Readiness {
  const { partitions, ledgerWatch, signOff } = parts;
  const reasons = [
    ...(ledgerWatch.isReady() ? [] : ['ledger']),
    ...(isSomeReady(partitions) ? [] : ['executions']),
    ...(signOff.isProven ? [] : ['sign-off-key']),
    ...parts.notFollowed(),
  ];
  return { ready: reasons.length === 0, reasons };
}

/**
 * Serves while it follows a log that takes what it signs: without the ledger orders are refused, but cancels and
 * heartbeats need the log only, and while no partition has an owner clients learn when to come back. Without the log
 * another process may still have it.
 */
export function servingOf(parts: HealthParts): Serving {
  const serving = parts.notFollowed().length === 0 && parts.signOff.isProven;
  return { serving, reasons: readinessOf(parts).reasons };
}

/** Entries in memory. */
export function heldBy(parts: StatusParts): Readonly<Record<string, number>> {
  return {
    markets: parts.catalog.marketCount,
    api_keys: parts.keys.size,
    bound_wallets: parts.owners.boundCount,
    results: parts.recentResults.size,
    unconfirmed_orders: parts.unconfirmed.size,
  };
}

/** The status of ingress, and the same values as gauges. */
export function statusOf(parts: StatusParts): { facts(): object; readonly gauges: IngressGauges } {
  const { partitions, channel } = parts;
  const queued = (partition: number) => channel.envelopes.queued(partition);
  const gauges: IngressGauges = {
    queuedSignatures: () => parts.signatures.queued,
    queuedCommands: () => partitions.numbers.reduce((sum, partition) => sum + queued(partition), 0),
    waitingCommands: () => channel.waiters.count,
    rememberedResults: () => parts.recentResults.size,
    silentPartitions: () => silentCount(partitions),
    silences: () =>
      partitionFacts(partitions, queued, parts.nowMs()).flatMap(({ partition, silentMs }) =>
        silentMs === null ? [] : [{ partition, silentMs }],
      ),
  };
  return {
    gauges,
    facts: () => ({
      readiness: readinessOf(parts),
      markets: parts.catalog.marketCount,
      keys: parts.keys.size,
      boundWallets: parts.owners.boundCount,
      answersKept: gauges.rememberedResults(),
      queuedSignatures: gauges.queuedSignatures(),
      waitingCommands: gauges.waitingCommands(),
      unconfirmedOrders: parts.unconfirmed.size,
      sessions: parts.sessions.facts(),
      signOffKey: { proven: parts.signOff.isProven, rejectedBy: parts.signOff.rejecting },
      partitions: partitionFacts(partitions, queued, parts.nowMs()),
    }),
  };
}

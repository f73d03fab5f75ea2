import type { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import type { CommandChannel } from '@pm/domain/commands/command-channel.io';
import { isSomeReady, partitionFacts, silentCount } from '@pm/domain/commands/partition-facts';
import type { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import type { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import type { Readiness, Serving } from '@pm/kit/health';
import { type Metrics, measureHeld } from '@pm/kit/metrics';
import { operatorReadings } from './metrics.ts';

/** The parts that status, readiness and gauges of the operator's process look at. */
export interface OperatorStatusParts {
  readonly nowMs: () => number;
  readonly partitions: Pick<PartitionLiveness, 'numbers' | 'at' | 'isReady'>;
  readonly channel: Pick<CommandChannel, 'envelopes' | 'waiters'>;
  readonly catalog: Pick<CatalogIndex, 'marketCount' | 'numberedCount'>;
  /** See `CatalogServices`. */
  readonly marketsMax: number;
  readonly owners: Pick<WalletOwners, 'boundCount'>;
  /** See `TopicsClient`. */
  notFollowed(): readonly string[];
}

/** Ready while at least one partition works. Halts need no ledger, so its loss is no reason to get no requests. */
export function readinessOf({
  partitions,
  notFollowed,
}: Pick<OperatorStatusParts, 'partitions' | 'notFollowed'>): Readiness {
  const reasons = [...(isSomeReady(partitions) ? [] : ['executions']), ...notFollowed()];
  return { ready: reasons.length === 0, reasons };
}

/** It has what operators decided in memory, so it answers their reads whatever is away. */
export function servingOf(parts: Parameters<typeof readinessOf>[0]): Serving {
  return { serving: true, reasons: readinessOf(parts).reasons };
}

/** The status of the operator's process. */
export function operatorFacts(parts: OperatorStatusParts) {
  const { partitions, channel, catalog, owners, marketsMax } = parts;
  const queued = (partition: number) => channel.envelopes.queued(partition);
  return {
    readiness: readinessOf(parts),
    markets: catalog.marketCount,
    marketsMax,
    boundWallets: owners.boundCount,
    waitingCommands: channel.waiters.count,
    partitions: partitionFacts(partitions, queued, parts.nowMs()),
  };
}

/** The gauges of the operator's process; those of HTTP are the kit's. */
export function measureOperator(metrics: Metrics, parts: OperatorStatusParts): void {
  const { partitions, channel, catalog, owners } = parts;
  measureHeld(metrics, () => ({ markets: catalog.marketCount, bound_wallets: owners.boundCount }));
  const { queuedCommands, waitingCommands, silentPartitions, markets, marketsMax } =
    operatorReadings;
  metrics.gauge({
    ...queuedCommands,
    read: () =>
      partitions.numbers.reduce((sum, partition) => sum + channel.envelopes.queued(partition), 0),
  });
  metrics.gauge({ ...waitingCommands, read: () => channel.waiters.count });
  metrics.gauge({ ...markets, read: () => catalog.numberedCount });
  metrics.gauge({ ...marketsMax, read: () => parts.marketsMax });
  metrics.gauge({ ...silentPartitions, read: () => silentCount(partitions) });
}

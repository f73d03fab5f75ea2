import type { Metrics } from '@pm/kit/metrics';
import type { RefusalCode } from '@pm/schemas';

const countBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];

/** Every metric of the matcher. Durations in seconds, sizes in records, commands or bytes. */
export function openMatcherMetrics(metrics: Metrics) {
  const partition = ['partition'] as const;
  return {
    commands: metrics.counter({
      name: 'pm_matcher_commands_total',
      help: 'Commands applied live, ticks included.',
      labels: partition,
    }),
    fills: metrics.counter({
      name: 'pm_matcher_fills_total',
      help: 'Fills of a taker with a maker.',
      labels: partition,
    }),
    refusals: metrics.counter({
      name: 'pm_matcher_refusals_total',
      help: 'Orders, cancels and other commands refused, by refusal code.',
      labels: ['code'],
    }),
    rejected: metrics.counter({
      name: 'pm_matcher_rejected_records_total',
      help: 'Input records that changed nothing and went to the dead letters, by reason.',
      labels: ['partition', 'reason'],
    }),
    batchRecords: metrics.histogram({
      name: 'pm_matcher_batch_records',
      help: 'Input records whose outputs were sent together.',
      buckets: countBuckets,
    }),
    batchCommands: metrics.histogram({
      name: 'pm_matcher_batch_commands',
      help: 'Commands whose outputs were sent together.',
      buckets: countBuckets,
    }),
    applySeconds: metrics.histogram({
      name: 'pm_matcher_apply_seconds',
      help: 'Time from the bytes of a batch to the bytes of its outputs.',
      buckets: [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5],
    }),
    storeSeconds: metrics.histogram({
      name: 'pm_matcher_store_seconds',
      help: 'Time from the bytes of outputs to their acknowledgement by the log.',
    }),
    replayedRecords: metrics.counter({
      name: 'pm_matcher_replayed_records_total',
      help: 'Input records replayed while partitions were restored.',
      labels: partition,
    }),
    snapshotSeconds: metrics.histogram({
      name: 'pm_matcher_snapshot_seconds',
      help: 'Time from a state to its file on the disk.',
    }),
    snapshotFailures: metrics.counter({
      name: 'pm_matcher_snapshot_failures_total',
      help: 'Snapshots that were not written, and files that could not be used.',
      labels: ['partition', 'what'],
    }),
    copies: metrics.counter({
      name: 'pm_matcher_copies_total',
      help: 'Outputs that a replaced owner stored once more between those of this one.',
      labels: partition,
    }),
    faults: metrics.counter({
      name: 'pm_matcher_partition_faults_total',
      help: 'Faults that stopped a partition, by code.',
      labels: ['partition', 'code'],
    }),
    state: metrics.gauge({
      name: 'pm_matcher_partition_state',
      help: 'One for the state a partition is in: restoring, live, failed or released.',
      labels: ['partition', 'state'],
    }),
    lagRecords: metrics.gauge({
      name: 'pm_matcher_lag_records',
      help: 'Input records not yet processed.',
      labels: partition,
    }),
  };
}

export type MatcherMetrics = ReturnType<typeof openMatcherMetrics>;

/** Counts the fills and refusals of a record. */
export function countEvents(
  metrics: Pick<MatcherMetrics, 'fills' | 'refusals'>,
  partition: number,
  { fills, refusals }: { readonly fills: number; readonly refusals: readonly RefusalCode[] },
): void {
  for (const code of refusals) metrics.refusals.add(1, { code });
  if (fills > 0) metrics.fills.add(fills, { partition });
}

import {
  type MetricDeclarations,
  type Metrics,
  measureHeld,
  type OpenedMetrics,
} from '@pm/kit/metrics';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { PartitionStatus } from './partition/lifecycle.ts';

const countBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];

/** Below a second with a standby, and until a machine was repaired. */
const standstillBuckets = [0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 60, 300];

/** Every metric of the matcher. Durations in seconds, sizes in records, commands or bytes. */
export const matcherMetrics = {
  commands: {
    type: 'counter',
    name: 'pm_matcher_commands_total',
    help: 'Commands applied as the owner of their partition, ticks included.',
    labels: ['partition'],
  },
  fills: {
    type: 'counter',
    name: 'pm_matcher_fills_total',
    help: 'Fills of a taker with a maker.',
    labels: ['partition'],
  },
  refusals: {
    type: 'counter',
    name: 'pm_matcher_refusals_total',
    help: 'Orders, cancels and other commands refused, by refusal code.',
    labels: ['code'],
  },
  rejected: {
    type: 'counter',
    name: 'pm_matcher_rejected_records_total',
    help: 'Input records that changed nothing and went to the dead letters, by reason.',
    labels: ['partition', 'reason'],
  },
  batchRecords: {
    type: 'histogram',
    name: 'pm_matcher_batch_records',
    help: 'Input records whose outputs were sent together.',
    buckets: countBuckets,
  },
  batchCommands: {
    type: 'histogram',
    name: 'pm_matcher_batch_commands',
    help: 'Commands whose outputs were sent together.',
    buckets: countBuckets,
  },
  applySeconds: {
    type: 'histogram',
    name: 'pm_matcher_apply_seconds',
    help: 'Time from the bytes of a batch to the bytes of its outputs.',
    buckets: [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5],
  },
  storeSeconds: {
    type: 'histogram',
    name: 'pm_matcher_store_seconds',
    help: 'Time from the bytes of outputs to their acknowledgement by the log.',
  },
  restoreSeconds: {
    type: 'histogram',
    name: 'pm_matcher_restore_seconds',
    help: 'Time from an assignment, or from a fault, to a live replica.',
    buckets: standstillBuckets,
  },
  takeoverSeconds: {
    type: 'histogram',
    name: 'pm_matcher_takeover_seconds',
    help: 'Time a partition stood still: from its clock in the log to an owner that writes again.',
    buckets: standstillBuckets,
  },
  claims: {
    type: 'counter',
    name: 'pm_matcher_claims_total',
    help: 'Claims of a partition that were sent, by whom it belonged to: none, an owner that had resigned, another process (elsewhere).',
    labels: ['partition', 'ownership'],
  },
  owner: {
    type: 'gauge',
    name: 'pm_matcher_owner',
    help: 'One where this process writes the outputs of a partition, zero where it is the standby.',
    labels: ['partition'],
  },
  term: {
    type: 'gauge',
    name: 'pm_matcher_term',
    help: 'Number of the claim that gave a partition to its owner; it rises with each takeover.',
    labels: ['partition'],
  },
  replayedRecords: {
    type: 'counter',
    name: 'pm_matcher_replayed_records_total',
    help: 'Input records replayed while partitions were restored.',
    labels: ['partition'],
  },
  snapshotSeconds: {
    type: 'histogram',
    name: 'pm_matcher_snapshot_seconds',
    help: 'Time from a state to its file on the disk.',
  },
  snapshotFailures: {
    type: 'counter',
    name: 'pm_matcher_snapshot_failures_total',
    help: 'Snapshots that were not written, and files that could not be used.',
    labels: ['partition', 'what'],
  },
  signaturePoolLate: {
    type: 'counter',
    name: 'pm_matcher_signature_pool_late_total',
    help: 'Times that checks of signatures waited too long for the thread pool: files or look-ups of names hang in it.',
    labels: [],
  },
  copies: {
    type: 'counter',
    name: 'pm_matcher_copies_total',
    help: 'Outputs that a former owner stored once more.',
    labels: ['partition'],
  },
  faults: {
    type: 'counter',
    name: 'pm_matcher_partition_faults_total',
    help: 'Faults that stopped a partition, by code.',
    labels: ['partition', 'code'],
  },
  state: {
    type: 'gauge',
    name: 'pm_matcher_partition_state',
    help: 'One for the state a partition is in: restoring, live, stalled, failed or released.',
    labels: ['partition', 'state'],
  },
  lagRecords: {
    type: 'gauge',
    name: 'pm_matcher_lag_records',
    help: 'Input records not yet processed.',
    labels: ['partition'],
  },
} as const satisfies MetricDeclarations;

export type MatcherMetrics = OpenedMetrics<typeof matcherMetrics>;

/** Gauges of each partition of this process that is live or stalled, read at each scrape. */
export const matcherReadings = {
  lagSeconds: {
    type: 'gauge',
    name: 'pm_matcher_lag_seconds',
    help: 'Age of the clock of a live partition: about the time between two ticks while nothing waits.',
    labels: ['partition'],
  },
  clockAheadSeconds: {
    type: 'gauge',
    name: 'pm_matcher_clock_ahead_seconds',
    help: 'By how much the clock of a partition is ahead of the one of its owner; the other direction is the lag.',
    labels: ['partition'],
  },
  tickAgeSeconds: {
    type: 'gauge',
    name: 'pm_matcher_tick_age_seconds',
    help: 'Since the newest tick that the owner of a partition read again was sent: proves that it reads and applies.',
    labels: ['partition'],
  },
  openOrders: {
    type: 'gauge',
    name: 'pm_matcher_open_orders',
    help: 'Orders in the books of a partition that this process owns.',
    labels: ['partition'],
  },
  markets: {
    type: 'gauge',
    name: 'pm_matcher_markets',
    help: 'Markets of a partition that this process owns.',
    labels: ['partition'],
  },
  unopened: {
    type: 'gauge',
    name: 'pm_matcher_partitions_unopened',
    help: 'Partitions of the topics that are placed here and that set-up has not opened.',
    labels: [],
  },
  unseenOutputs: {
    type: 'gauge',
    name: 'pm_matcher_unseen_outputs',
    help: 'Outputs of a standby whose copies in the log it has not seen yet.',
    labels: ['partition'],
  },
  slicesQueued: {
    type: 'gauge',
    name: 'pm_matcher_slices_queued',
    help: 'Slices of outputs that are not durable yet; at the limit processing waits.',
    labels: ['partition'],
  },
} as const satisfies MetricDeclarations;

type Reading = Pick<
  PartitionStatus,
  | 'partition'
  | 'state'
  | 'role'
  | 'timeMs'
  | 'tickAgeMs'
  | 'openOrders'
  | 'markets'
  | 'slicesQueued'
  | 'unseenOutputs'
>;

/** Opens the gauges that are read: `partitions` is called for each of them at each scrape. */
export function readPartitions(
  metrics: Metrics,
  {
    partitions,
    unopened,
    nowMs,
  }: { partitions(): readonly Reading[]; unopened(): number; nowMs(): number },
): void {
  metrics.gauge({ ...matcherReadings.unopened, read: unopened });
  measureHeld(metrics, () => ({
    markets: sumOf(partitions(), ({ markets }) => markets),
    open_orders: sumOf(partitions(), ({ openOrders }) => openOrders),
  }));
  const read = (
    gauge: (typeof matcherReadings)[keyof typeof matcherReadings],
    numberOf: (status: Reading) => number,
    counts: (status: Reading) => boolean = ({ role }) => role === 'owner',
  ) =>
    metrics.gauge({
      ...gauge,
      readAll: () =>
        partitions()
          .filter(({ state }) => state === 'live' || state === 'stalled')
          .filter(counts)
          .map((status) => ({ labels: { partition: status.partition }, value: numberOf(status) })),
    });
  // The clock of another machine may be ahead of this one.
  const lagOf = ({ timeMs }: Reading) => Math.max(0, nowMs() - timeMs) / 1_000;
  read(matcherReadings.lagSeconds, lagOf, () => true);
  read(matcherReadings.clockAheadSeconds, ({ timeMs }) => Math.max(0, timeMs - nowMs()) / 1_000);
  read(matcherReadings.tickAgeSeconds, ({ tickAgeMs }) => tickAgeMs / 1_000);
  const unseenOf = ({ unseenOutputs }: Reading) => unseenOutputs;
  read(matcherReadings.unseenOutputs, unseenOf, ({ role }) => role === 'standby');
  read(matcherReadings.openOrders, ({ openOrders }) => openOrders);
  read(matcherReadings.markets, ({ markets }) => markets);
  read(matcherReadings.slicesQueued, ({ slicesQueued }) => slicesQueued);
}

function sumOf(statuses: readonly Reading[], numberOf: (status: Reading) => number): number {
  return statuses.reduce((sum, status) => sum + numberOf(status), 0);
}

/** Opens them, but those that are read (`readPartitions`). */
export function openMatcherMetrics(metrics: Metrics): MatcherMetrics {
  return metrics.open(matcherMetrics);
}

/** Counts the fills and refusals of a record. */
export function countEvents(
  metrics: Pick<MatcherMetrics, 'fills' | 'refusals'>,
  partition: number,
  { fills, refusals }: { readonly fills: number; readonly refusals: readonly RefusalCode[] },
): void {
  for (const code of refusals) metrics.refusals.add(1, { code });
  if (fills > 0) metrics.fills.add(fills, { partition });
}

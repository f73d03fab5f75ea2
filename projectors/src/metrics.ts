import type { MetricDeclarations, Metrics, OpenedMetrics } from '@pm/kit/metrics';

/** The metrics of this service. */
export const declaredMetrics = {
  records: {
    type: 'counter',
    name: 'pm_projector_records_total',
    help: 'Projected records of the log.',
    labels: ['view'],
  },
  faults: {
    type: 'counter',
    name: 'pm_projector_faults_total',
    help: 'Faults of a partition by view and code.',
    labels: ['view', 'code'],
  },
  lagRecords: {
    type: 'gauge',
    name: 'pm_projector_lag_records',
    help: 'Records of the partition that are not projected yet.',
    labels: ['view', 'partition'],
  },
  lastTimeMs: {
    type: 'gauge',
    name: 'pm_projector_clock_ms',
    help: 'Clock of the partition at the last projected record, Unix milliseconds.',
    labels: ['view', 'partition'],
  },
  held: {
    type: 'gauge',
    name: 'pm_projector_held',
    help: 'One while no batch may begin because the tables are held for an exchange (`npm run rebuild`).',
    labels: ['partition'],
  },
  rows: {
    type: 'counter',
    name: 'pm_projector_rows_total',
    help: 'Rows inserted into tables.',
    labels: ['table'],
  },
  insertSeconds: {
    type: 'histogram',
    name: 'pm_projector_insert_seconds',
    help: 'Time to insert one batch into all tables.',
  },
  insertRetries: {
    type: 'counter',
    name: 'pm_projector_insert_retries_total',
    help: 'Retries of inserts because the tables could not be reached.',
  },
  books: {
    type: 'counter',
    name: 'pm_projector_books_total',
    help: 'Books written to Redis.',
  },
  solvencyBreaches: {
    type: 'counter',
    name: 'pm_solvency_breach_total',
    help: 'Wallets below zero and markets that do not add up; withdrawals are frozen.',
  },
  unpaidWithdrawals: {
    type: 'counter',
    name: 'pm_withdrawals_unpaid_total',
    help: 'Withdrawals whose record asks for more than their reservation.',
  },
  voidWithdrawals: {
    type: 'counter',
    name: 'pm_withdrawals_void_total',
    help: 'Withdrawals that came after a fence that makes them void.',
  },
  checkpoints: {
    type: 'counter',
    name: 'pm_projector_checkpoints_total',
    help: 'Checkpoints of ledger and books that were taken, that failed, and stored ones that could not be used.',
    labels: ['outcome'],
  },
} as const satisfies MetricDeclarations;

/** Gauges of each view, read at each scrape. */
export const declaredReadings = {
  lagSeconds: {
    type: 'gauge',
    name: 'pm_projector_lag_seconds',
    help: 'Age of the newest record that is stored, in seconds; 0 when all known records are.',
    labels: ['view', 'partition'],
  },
  partitions: {
    type: 'gauge',
    name: 'pm_projector_partitions',
    help: 'Partitions of a view in a phase: restoring, running or halted.',
    labels: ['view', 'phase'],
  },
} as const satisfies MetricDeclarations;

/** How late each view is in each partition, and its partitions by phase. */
interface ViewReadings {
  lags(
    nowMs: number,
  ): readonly { readonly view: string; readonly partition: number; readonly lagMs: number }[];
  phases(): readonly { readonly view: string; readonly phase: string; readonly count: number }[];
}

/** Opens the gauges that are read. */
export function readViews(
  metrics: Metrics,
  { progress, nowMs }: { readonly progress: ViewReadings; readonly nowMs: () => number },
): void {
  metrics.gauge({
    ...declaredReadings.lagSeconds,
    readAll: () =>
      progress.lags(nowMs()).map(({ lagMs, ...labels }) => ({ labels, value: lagMs / 1_000 })),
  });
  metrics.gauge({
    ...declaredReadings.partitions,
    readAll: () => progress.phases().map(({ count, ...labels }) => ({ labels, value: count })),
  });
}

export type ProjectorMetrics = OpenedMetrics<typeof declaredMetrics>;

export function projectorMetrics(metrics: Metrics): ProjectorMetrics {
  return metrics.open(declaredMetrics);
}

import type { CounterMetric, GaugeMetric, HistogramMetric, Metrics } from '@pm/kit/metrics';

export interface ProjectorMetrics {
  readonly records: CounterMetric<'view'>;
  readonly faults: CounterMetric<'view' | 'code'>;
  readonly lagRecords: GaugeMetric<'view' | 'partition'>;
  readonly lastTimeMs: GaugeMetric<'view' | 'partition'>;
  readonly rows: CounterMetric<'table'>;
  readonly insertSeconds: HistogramMetric<never>;
  readonly insertRetries: CounterMetric<never>;
  readonly books: CounterMetric<never>;
  readonly solvencyBreaches: CounterMetric<never>;
  readonly unpaidWithdrawals: CounterMetric<never>;
  readonly voidWithdrawals: CounterMetric<never>;
}

/** The metrics of this service. */
export function projectorMetrics(metrics: Metrics): ProjectorMetrics {
  return {
    records: metrics.counter({
      name: 'pm_projector_records_total',
      help: 'Projected records of the log.',
      labels: ['view'],
    }),
    faults: metrics.counter({
      name: 'pm_projector_faults_total',
      help: 'Faults of a partition by view and code.',
      labels: ['view', 'code'],
    }),
    lagRecords: metrics.gauge({
      name: 'pm_projector_lag_records',
      help: 'Records of the partition that are not projected yet.',
      labels: ['view', 'partition'],
    }),
    lastTimeMs: metrics.gauge({
      name: 'pm_projector_clock_ms',
      help: 'Clock of the partition at the last projected record, Unix milliseconds.',
      labels: ['view', 'partition'],
    }),
    rows: metrics.counter({
      name: 'pm_projector_rows_total',
      help: 'Rows inserted into tables.',
      labels: ['table'],
    }),
    insertSeconds: metrics.histogram({
      name: 'pm_projector_insert_seconds',
      help: 'Time to insert one batch into all tables.',
    }),
    insertRetries: metrics.counter({
      name: 'pm_projector_insert_retries_total',
      help: 'Retries of inserts because the tables could not be reached.',
    }),
    books: metrics.counter({
      name: 'pm_projector_books_total',
      help: 'Books written to Redis.',
    }),
    solvencyBreaches: metrics.counter({
      name: 'pm_solvency_breach_total',
      help: 'Wallets below zero and markets that do not add up; withdrawals are frozen.',
    }),
    unpaidWithdrawals: metrics.counter({
      name: 'pm_withdrawals_unpaid_total',
      help: 'Withdrawals whose record asks for more than their reservation.',
    }),
    voidWithdrawals: metrics.counter({
      name: 'pm_withdrawals_void_total',
      help: 'Withdrawals that came after a fence that makes them void.',
    }),
  };
}

import type { Panel } from './dashboard.ts';
import { p99, rate } from './panel-queries.ts';

/** Owners of partitions, their lag and their faults. */
export const partitionPanels: readonly Panel[] = [
  {
    title: 'Partitions with an owner',
    unit: 'short',
    description: 'Below the number of partitions some refuse orders with 425.',
    kind: 'stat',
    queries: [{ expr: 'sum(pm_matcher_owner)', legend: 'owned' }],
  },
  {
    title: 'Owners by process',
    unit: 'short',
    description:
      'Partitions whose outputs a matcher writes; of the others that are live it is the standby.',
    queries: [{ expr: 'sum by (instance) (pm_matcher_owner)', legend: '{{instance}}' }],
  },
  {
    title: 'Claims of partitions',
    unit: 'short',
    description:
      'By whom the partition belonged to before: elsewhere is a takeover from an owner that was silent.',
    queries: [
      {
        expr: 'sum by (ownership) (increase(pm_matcher_claims_total[$__rate_interval]))',
        legend: '{{ownership}}',
      },
    ],
  },
  {
    title: 'Silence of partitions',
    unit: 's',
    description:
      'Time since ingress read the last execution: two seconds and more are refused with 425.',
    queries: [
      { expr: 'max by (partition) (pm_ingress_silent_seconds)', legend: 'partition {{partition}}' },
    ],
  },
  {
    title: 'Lag of matchers',
    unit: 's',
    description:
      'Age of the clock of each partition: the time between two ticks while nothing waits.',
    queries: [
      { expr: 'max by (partition) (pm_matcher_lag_seconds)', legend: 'partition {{partition}}' },
    ],
  },
  {
    title: 'Ticks that came back',
    unit: 's',
    description:
      'Since the newest tick that the owner of a partition read again was sent: above five seconds it is stalled.',
    queries: [
      {
        expr: 'max by (partition) (pm_matcher_tick_age_seconds)',
        legend: 'partition {{partition}}',
      },
    ],
  },
  {
    title: 'Takeovers',
    unit: 's',
    description:
      'How long partitions stood still before they were live again, and how long the restore took.',
    queries: [
      { expr: p99('pm_matcher_takeover_seconds', ''), legend: 'stood still, p99' },
      { expr: p99('pm_matcher_restore_seconds', ''), legend: 'restore, p99' },
    ],
  },
  {
    title: 'Commands by partition',
    unit: 'ops',
    description: 'Ticks included.',
    queries: [
      {
        expr: `sum by (partition) (${rate('pm_matcher_commands_total')})`,
        legend: 'partition {{partition}}',
      },
    ],
  },
  {
    title: 'Time to apply and to store, p99',
    unit: 's',
    description:
      'From bytes of inputs to bytes of outputs, and from these to the acknowledgement of the log.',
    queries: [
      { expr: p99('pm_matcher_apply_seconds', ''), legend: 'apply' },
      { expr: p99('pm_matcher_store_seconds', ''), legend: 'store' },
      { expr: p99('pm_matcher_snapshot_seconds', ''), legend: 'snapshot' },
    ],
  },
  {
    title: 'Outputs that are not durable',
    unit: 'short',
    description: 'Slices by partition; at the limit of eight, processing waits for the log.',
    queries: [
      { expr: 'max by (partition) (pm_matcher_slices_queued)', legend: 'partition {{partition}}' },
    ],
  },
  {
    title: 'Faults of partitions',
    unit: 'short',
    description: 'In an hour, by partition and code; copies of a replaced owner; rejected records.',
    queries: [
      {
        expr: 'sum by (partition, code) (increase(pm_matcher_partition_faults_total[1h]))',
        legend: '{{partition}} {{code}}',
      },
      { expr: 'sum(increase(pm_matcher_copies_total[1h]))', legend: 'copies' },
      {
        expr: 'sum by (reason) (increase(pm_matcher_rejected_records_total[1h]))',
        legend: 'rejected: {{reason}}',
      },
    ],
  },
];

import type { MetricDeclarations } from '@pm/kit/metrics';

/** Gauges of the operator's process, read at each scrape. */
export const operatorReadings = {
  queuedCommands: {
    type: 'gauge',
    name: 'pm_operator_commands_queued',
    help: 'Commands not durable yet.',
  },
  waitingCommands: {
    type: 'gauge',
    name: 'pm_operator_commands_waiting',
    help: 'Commands without a result yet.',
  },
  silentPartitions: {
    type: 'gauge',
    name: 'pm_operator_partitions_silent',
    help: 'Partitions without a sign of life.',
  },
  markets: {
    type: 'gauge',
    name: 'pm_operator_markets',
    help: 'Markets of the catalog, resolved ones included.',
  },
  marketsMax: {
    type: 'gauge',
    name: 'pm_operator_markets_max',
    help: 'Markets that may be listed (`PM_MARKETS_MAX`); a listing beyond them is refused.',
  },
  resolutionsDue: {
    type: 'gauge',
    name: 'pm_operator_resolutions_due',
    help: 'Resolutions whose challenge window has ended and that are not carried out.',
  },
} as const satisfies MetricDeclarations;

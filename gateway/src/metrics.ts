import type { CounterMetric, MetricDeclarations, Metrics } from '@pm/kit/metrics';
import type { Target } from './forward.ts';

/** Requests that the gateway answered itself; the others are counted by the HTTP layer. */
export const gatewayMetrics = {
  refused: {
    type: 'counter',
    name: 'pm_gateway_refused_total',
    help: 'Requests answered 503 by the gateway: their service is unreachable, or all turns there are used up.',
    labels: ['target', 'reason'],
  },
} as const satisfies MetricDeclarations;

/** Read at each scrape; the groups are orders, reserve (cancels and heartbeats) and reads. */
export const gatewayReadings = {
  running: {
    type: 'gauge',
    name: 'pm_gateway_requests_running',
    help: 'Requests that a service works on, by group of turns.',
    labels: ['group'],
  },
  waiting: {
    type: 'gauge',
    name: 'pm_gateway_requests_waiting',
    help: 'Requests that wait for a turn of their client or with the process, by group of turns.',
    labels: ['group'],
  },
  clients: {
    type: 'gauge',
    name: 'pm_gateway_clients',
    help: 'Addresses with a request at a service or waiting, by group of turns.',
    labels: ['group'],
  },
} as const satisfies MetricDeclarations;

/** Read at each scrape. */
export const gatewayStreamReadings = {
  streams: {
    type: 'gauge',
    name: 'pm_gateway_streams',
    help: 'Upgraded connections that are forwarded to the streams.',
  },
} as const satisfies MetricDeclarations;

/** Turns of clients, and of all clients with each process. */
export type Turns = Required<Pick<Target, 'turns' | 'processTurns'>>;

export type TurnGroups = Readonly<Record<'orders' | 'reserve' | 'reads', Turns>>;

/** Counts what the gateway answers itself, and reads the turns at each scrape. */
export function measureGateway(
  metrics: Metrics,
  groups: TurnGroups,
): CounterMetric<'target' | 'reason'> {
  const gauge = (
    declared: (typeof gatewayReadings)[keyof typeof gatewayReadings],
    numberOf: (turns: Turns) => number,
  ) =>
    metrics.gauge({
      ...declared,
      readAll: () =>
        Object.entries(groups).map(([group, turns]) => ({
          labels: { group },
          value: numberOf(turns),
        })),
    });
  gauge(gatewayReadings.running, ({ processTurns }) => processTurns.running);
  gauge(gatewayReadings.waiting, ({ turns, processTurns }) => turns.waiting + processTurns.waiting);
  gauge(gatewayReadings.clients, ({ turns }) => turns.size);
  return metrics.open(gatewayMetrics).refused;
}

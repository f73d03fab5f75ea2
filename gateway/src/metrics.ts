import type { CounterMetric, MetricDeclarations, Metrics } from '@pm/kit/metrics';
import type { Target } from './forward.ts';

/** Requests that the gateway answered itself; the others are counted by the HTTP layer. */
export const gatewayMetrics = {
  refused: {
    type: 'counter',
    name: 'pm_gateway_refused_total',
    help: 'Requests answered 503 by the gateway: their service is unreachable, or all slots there are used up.',
    labels: ['target', 'reason'],
  },
} as const satisfies MetricDeclarations;

/** Read at each scrape; the groups are orders, reserve (cancels and heartbeats) and reads. */
export const gatewayReadings = {
  running: {
    type: 'gauge',
    name: 'pm_gateway_requests_running',
    help: 'Requests that a service works on, by group of slots.',
    labels: ['group'],
  },
  waiting: {
    type: 'gauge',
    name: 'pm_gateway_requests_waiting',
    help: 'Requests that wait for a slot of their client or with the process, by group of slots.',
    labels: ['group'],
  },
  clients: {
    type: 'gauge',
    name: 'pm_gateway_clients',
    help: 'Addresses with a request at a service or waiting, by group of slots.',
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

/** Slots of clients, and of all clients with each process. */
export type Slots = Required<Pick<Target, 'slots' | 'processSlots'>>;

export type SlotGroups = Readonly<Record<'orders' | 'reserve' | 'reads', Slots>>;

/** Counts what the gateway answers itself, and reads the slots at each scrape. */
export function measureGateway(
  metrics: Metrics,
  groups: SlotGroups,
): CounterMetric<'target' | 'reason'> {
  const gauge = (
    declared: (typeof gatewayReadings)[keyof typeof gatewayReadings],
    numberOf: (slots: Slots) => number,
  ) =>
    metrics.gauge({
      ...declared,
      readAll: () =>
        Object.entries(groups).map(([group, slots]) => ({
          labels: { group },
          value: numberOf(slots),
        })),
    });
  gauge(gatewayReadings.running, ({ processSlots }) => processSlots.running);
  gauge(gatewayReadings.waiting, ({ slots, processSlots }) => slots.waiting + processSlots.waiting);
  gauge(gatewayReadings.clients, ({ slots }) => slots.size);
  return metrics.open(gatewayMetrics).refused;
}

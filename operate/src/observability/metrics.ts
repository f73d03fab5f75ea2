import { unprovenMetrics } from '@pm/domain/authority/unproven-records.io';
import { foreignMetrics } from '@pm/domain/commands/open-channel.io';
import { cryptoMetrics } from '@pm/domain/orders/order-crypto.io';
import { limitMetrics, limitReadings } from '@pm/domain/ratelimit/route-plans.io';
import { gatewayMetrics, gatewayReadings, gatewayStreamReadings } from '@pm/gateway/metrics';
import {
  ingressReadings,
  placementMetrics,
  repetitionMetrics,
  retryMetrics,
  sessionMetrics,
  sessionReadings,
  silenceReadings,
} from '@pm/ingress/metrics';
import { httpMetrics, httpReadings, shedMetrics } from '@pm/kit/http';
import { readerMetrics } from '@pm/kit/kafka';
import {
  heldReadings,
  type MetricDeclaration,
  type MetricDeclarations,
  memoryReadings,
} from '@pm/kit/metrics';
import { redisMetrics } from '@pm/kit/redis';
import { traceMetrics } from '@pm/kit/traces';
import { matcherMetrics, matcherReadings } from '@pm/matcher/metrics';
import { operatorReadings } from '@pm/operator/metrics';
import { declaredMetrics, declaredReadings } from '@pm/projectors/metrics';
import { freshnessReadings, queryMetrics, queryReadings } from '@pm/query-api/metrics';
import { dialectMetrics, followMetrics, readerReadings, streamsMetrics } from '@pm/streams/metrics';

/** The metrics of the program or layer that counts them. */
export interface MetricSection {
  readonly title: string;
  /** Values of the label `service`. */
  readonly services: readonly string[];
  readonly metrics: readonly MetricDeclaration[];
}

const httpServices = ['ingress', 'query-api'] as const;

const section = (
  title: string,
  services: readonly string[],
  ...declared: readonly MetricDeclarations[]
): MetricSection => ({
  title,
  services,
  metrics: declared.flatMap((one) => Object.values(one)),
});

/** Every metric of this exchange, besides those of Node (`process_*`, `nodejs_*`). */
export const metricSections: readonly MetricSection[] = [
  section(
    'HTTP listeners',
    [...httpServices, 'operator', 'gateway', 'mcp'],
    httpMetrics,
    httpReadings,
  ),
  section(
    'What clients hold',
    [...httpServices, 'streams', 'operator', 'gateway', 'mcp'],
    shedMetrics,
  ),
  section(
    'Memory',
    [...httpServices, 'matcher', 'operator', 'projectors', 'streams', 'gateway', 'mcp'],
    memoryReadings,
  ),
  section(
    'Entries in memory',
    [...httpServices, 'matcher', 'operator', 'projectors', 'streams'],
    heldReadings,
  ),
  section('Rate limits', httpServices, limitMetrics, limitReadings),
  section('Sealed topics', [...httpServices, 'operator', 'projectors', 'streams'], unprovenMetrics),
  section(
    'Readers of the log',
    [...httpServices, 'matcher', 'operator', 'projectors', 'streams'],
    readerMetrics,
  ),
  section('Redis', ['ingress', 'projectors'], redisMetrics),
  section(
    'Traces, where they are on',
    [...httpServices, 'gateway', 'matcher', 'projectors', 'streams'],
    traceMetrics,
  ),
  section('gateway', ['gateway'], gatewayMetrics, gatewayReadings, gatewayStreamReadings),
  section(
    'ingress',
    ['ingress'],
    placementMetrics,
    cryptoMetrics,
    ingressReadings,
    silenceReadings,
    sessionMetrics,
    sessionReadings,
    repetitionMetrics,
    retryMetrics,
    { foreign: foreignMetrics.ingress },
  ),
  section('operator', ['operator'], operatorReadings, { foreign: foreignMetrics.operator }),
  section('matcher', ['matcher'], matcherMetrics, matcherReadings),
  section('projectors', ['projectors'], declaredMetrics, declaredReadings),
  section('query-api', ['query-api'], queryMetrics, queryReadings, freshnessReadings),
  section('streams', ['streams'], streamsMetrics, readerReadings, dialectMetrics, followMetrics),
];

/** Series of Node's own metrics that dashboards and rules use; prom-client declares them. */
const nodeSeries = [
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_heap_size_used_bytes',
] as const;

/** Names of the series that Prometheus stores for these metrics; `up` is its own. */
export function seriesNames(): ReadonlySet<string> {
  const names = metricSections.flatMap(({ metrics }) =>
    metrics.flatMap(({ name, type }) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  return new Set([...names, ...nodeSeries, 'up']);
}

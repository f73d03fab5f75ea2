import { completeThroughMs, type Progress } from '@pm/domain/status/progress';
import type { MetricDeclarations, Metrics } from '@pm/kit/metrics';

/** Records that this version cannot read. */
export const queryMetrics = {
  skipped: {
    type: 'counter',
    name: 'pm_query_records_skipped_total',
    help: 'Records of compacted topics that could not be read.',
    labels: ['topic'],
  },
} as const satisfies MetricDeclarations;

/** Facts measured besides requests, which the HTTP layer counts itself; all are read at each scrape. */
export const queryReadings = {
  markets: { type: 'gauge', name: 'pm_query_catalog_markets', help: 'Markets in the catalog.' },
  apiKeys: { type: 'gauge', name: 'pm_query_api_keys', help: 'API keys known.' },
  cachedBooks: {
    type: 'gauge',
    name: 'pm_query_cached_books',
    help: 'Books and quotes kept in memory.',
  },
  isCoherent: {
    type: 'gauge',
    name: 'pm_query_cache_coherent',
    help: 'Whether invalidations of cached books arrive.',
  },
  recentRows: {
    type: 'gauge',
    name: 'pm_query_recent_rows',
    help: 'Rows of the newest records kept in memory until the tables have them.',
  },
} as const satisfies MetricDeclarations;

/** Freshness of what is read, and whether its stores answer. */
export const freshnessReadings = {
  age: {
    type: 'gauge',
    name: 'pm_query_complete_age_seconds',
    help: 'Age of the moment through which a projection is complete, as readers see it; grows while it is not known.',
    labels: ['projection'],
  },
  engineUp: {
    type: 'gauge',
    name: 'pm_query_engine_up',
    help: 'Whether an engine answered the last ping of query-api.',
    labels: ['engine'],
  },
} as const satisfies MetricDeclarations;

/** The values of the gauges; a flag is 1 or 0. */
export type MeasuredParts = Readonly<Record<keyof typeof queryReadings, () => number>>;

/** Counters that parts add to. */
export interface QueryApiMetrics {
  /** A record of a compacted topic that could not be read. */
  skipped(topic: string): void;
}

export function measure(metrics: Metrics, parts: MeasuredParts): QueryApiMetrics {
  const names = Object.keys(queryReadings) as (keyof typeof queryReadings)[];
  for (const name of names) metrics.gauge({ ...queryReadings[name], read: parts[name] });
  const { skipped } = metrics.open(queryMetrics);
  return { skipped: (topic) => skipped.add(1, { topic }) };
}

/** Whether the engines answered the last ping. */
export function measureEngines(
  metrics: Metrics,
  engines: { redisUp(): boolean; clickhouseUp(): boolean },
): void {
  metrics.gauge({
    ...freshnessReadings.engineUp,
    readAll: () => [
      { labels: { engine: 'redis' }, value: engines.redisUp() ? 1 : 0 },
      { labels: { engine: 'clickhouse' }, value: engines.clickhouseUp() ? 1 : 0 },
    ],
  });
}

/** The age of each projection: a store that is silent still has what it had. */
export function measureFreshness(
  metrics: Metrics,
  { progress, nowMs }: { readonly progress: () => Progress; readonly nowMs: () => number },
): void {
  const newest = new Map<string, number>();
  metrics.gauge({
    ...freshnessReadings.age,
    readAll: () => {
      const { ends, projections } = progress();
      for (const { projection, partitions } of projections) {
        const throughMs = partitions === null ? null : completeThroughMs(partitions, ends);
        if (throughMs !== null) newest.set(projection, throughMs);
      }
      return [...newest].map(([projection, throughMs]) => ({
        labels: { projection },
        value: Math.max(0, nowMs() - throughMs) / 1_000,
      }));
    },
  });
}

import type { Metrics } from '@pm/kit/metrics';

/** Facts measured besides requests, which the HTTP layer counts itself; all are read at each scrape. */
export interface MeasuredParts {
  markets(): number;
  apiKeys(): number;
  cachedBooks(): number;
  isCoherent(): boolean;
  recentRows(): number;
}

/** Counters that parts add to. */
export interface QueryApiMetrics {
  /** A record of a compacted topic that could not be read. */
  skipped(topic: string): void;
}

export function measure(metrics: Metrics, parts: MeasuredParts): QueryApiMetrics {
  metrics.gauge({
    name: 'pm_query_catalog_markets',
    help: 'Markets in the catalog.',
    read: parts.markets,
  });
  metrics.gauge({ name: 'pm_query_api_keys', help: 'API keys known.', read: parts.apiKeys });
  metrics.gauge({
    name: 'pm_query_cached_books',
    help: 'Books and quotes kept in memory.',
    read: parts.cachedBooks,
  });
  metrics.gauge({
    name: 'pm_query_cache_coherent',
    help: 'Whether invalidations of cached books arrive.',
    read: () => (parts.isCoherent() ? 1 : 0),
  });
  metrics.gauge({
    name: 'pm_query_recent_rows',
    help: 'Rows of the newest records kept in memory until the tables have them.',
    read: parts.recentRows,
  });
  const skipped = metrics.counter({
    name: 'pm_query_records_skipped_total',
    help: 'Records of compacted topics that could not be read.',
    labels: ['topic'],
  });
  return { skipped: (topic) => skipped.add(1, { topic }) };
}

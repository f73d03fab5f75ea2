import type { Metrics } from '@pm/kit/metrics';
import type { StreamCloseName } from '@pm/schemas';

/** Facts that are read at each scrape. */
export interface MeasuredStreams {
  connections(): number;
  subscriptions(): number;
  queuedBytes(): number;
  messages(): number;
  lagRecords(): number;
}

/** Counters that parts add to. */
export interface StreamsMetrics {
  /** A record of a followed topic that could not be read. */
  skipped(topic: string): void;
  /** A connection was closed, or its client left. */
  closed(reason: StreamCloseName | 'left'): void;
}

export function measureStreams(metrics: Metrics, parts: MeasuredStreams): StreamsMetrics {
  metrics.gauge({
    name: 'pm_streams_connections',
    help: 'Open connections.',
    read: parts.connections,
  });
  metrics.gauge({
    name: 'pm_streams_subscriptions',
    help: 'Keys that connections are subscribed to.',
    read: parts.subscriptions,
  });
  metrics.gauge({
    name: 'pm_streams_queued_bytes',
    help: 'Bytes that wait for slow readers.',
    read: parts.queuedBytes,
  });
  metrics.gauge({
    name: 'pm_streams_messages',
    help: 'Messages rendered since the start, each for all its readers.',
    read: parts.messages,
  });
  metrics.gauge({
    name: 'pm_streams_lag_records',
    help: 'Records of the log that are not taken yet.',
    read: parts.lagRecords,
  });
  const skipped = metrics.counter({
    name: 'pm_streams_records_skipped_total',
    help: 'Records of followed topics that could not be read.',
    labels: ['topic'],
  });
  const closed = metrics.counter({
    name: 'pm_streams_closed_total',
    help: 'Connections that ended, by reason.',
    labels: ['reason'],
  });
  return {
    skipped: (topic) => skipped.add(1, { topic }),
    closed: (reason) => closed.add(1, { reason }),
  };
}

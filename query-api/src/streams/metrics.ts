import type { Metrics } from '@pm/kit/metrics';
import { type StreamCloseName, streamCloses } from '@pm/schemas';
import type { PartitionStatus } from './feed/feed.io.ts';
import type { ResumeOutcome } from './protocol/beginnings.io.ts';

/** Connections of one dialect. */
interface MeasuredHub {
  readonly connections: number;
  readonly subscriptions: number;
  readonly messages: number;
}

/** Facts that are read at each scrape, or once a second where they have labels. */
export interface MeasuredStreams {
  /** By dialect: `v1` or `family`; none before the service listens. */
  hubs(): Readonly<Record<string, MeasuredHub>>;
  partitions(): readonly PartitionStatus[];
  /** Bytes that wait for readers, and deltas that were merged for them. */
  readonly queued: { readonly bytes: number; readonly merged: number };
  readonly room: { readonly bytes: number };
  readonly places: { readonly taken: number; readonly waiting: number };
  readonly openings: { readonly size: number };
}

/** Counters that parts add to. */
export interface StreamsMetrics {
  /** A record of a followed topic that could not be read. */
  skipped(topic: string): void;
  /** A connection was closed, or its client left. */
  closed(reason: StreamCloseName | 'left'): void;
  /** A subscription was to be resumed. */
  resumed(outcome: ResumeOutcome): void;
  /** Once a second: sets what has labels. */
  observe(): void;
}

export function measureStreams(metrics: Metrics, parts: MeasuredStreams): StreamsMetrics {
  readGauges(metrics, parts);
  const skipped = metrics.counter({
    name: 'pm_streams_records_skipped_total',
    help: 'Records of followed topics that could not be read.',
    labels: ['topic'],
  });
  const closed = metrics.counter({
    name: 'pm_streams_closed_total',
    help: 'Connections that ended, by reason and code.',
    labels: ['reason', 'code'],
  });
  const resumed = metrics.counter({
    name: 'pm_streams_resumes_total',
    help: 'Resumed subscriptions, by how they began.',
    labels: ['outcome'],
  });
  return {
    skipped: (topic) => skipped.add(1, { topic }),
    closed: (reason) => closed.add(1, { reason, code: codeOf(reason) }),
    resumed: (outcome) => resumed.add(1, { outcome }),
    observe: observer(metrics, parts),
  };
}

/** A client that left has sent no code of ours. */
const codeOf = (reason: StreamCloseName | 'left'): string =>
  reason === 'left' ? 'none' : String(streamCloses[reason].code);

function readGauges(metrics: Metrics, { queued, room, places, openings }: MeasuredStreams): void {
  metrics.gauge({
    name: 'pm_streams_queued_bytes',
    help: 'Bytes that wait for slow readers.',
    read: () => queued.bytes,
  });
  metrics.gauge({
    name: 'pm_streams_room_bytes',
    help: 'Memory that connections and their subscriptions count with; half of the largest heap is their bound.',
    read: () => room.bytes,
  });
  metrics.gauge({
    name: 'pm_streams_merged_deltas',
    help: 'Deltas that were merged into others for slow readers since the start.',
    read: () => queued.merged,
  });
  metrics.gauge({
    name: 'pm_streams_replays',
    help: 'Replays and large snapshots that are being sent.',
    read: () => places.taken,
  });
  metrics.gauge({
    name: 'pm_streams_replays_waiting',
    help: 'Connections whose replay or large snapshot waits for a place.',
    read: () => places.waiting,
  });
  metrics.gauge({
    name: 'pm_streams_openings',
    help: 'Connections whose subscriptions have something to begin with.',
    read: () => openings.size,
  });
}

/** Gauges with labels: what is gone is 0. */
function observer(metrics: Metrics, { hubs, partitions }: MeasuredStreams): () => void {
  const ofDialect = (name: string, help: string) =>
    metrics.gauge({ name, help, labels: ['dialect'] });
  const connections = ofDialect('pm_streams_connections', 'Open connections.');
  const subscriptions = ofDialect(
    'pm_streams_subscriptions',
    'Keys that connections are subscribed to.',
  );
  const messages = ofDialect(
    'pm_streams_messages',
    'Messages rendered since the start, each for all its readers.',
  );
  const lag = metrics.gauge({
    name: 'pm_streams_lag_records',
    help: 'Records of the log that are not taken yet.',
    labels: ['partition'],
  });
  const fault = metrics.gauge({
    name: 'pm_streams_fault_seconds',
    help: 'Time for which the log could not be followed.',
    labels: ['partition'],
  });
  return () => {
    for (const [dialect, hub] of Object.entries(hubs())) {
      connections.set(hub.connections, { dialect });
      subscriptions.set(hub.subscriptions, { dialect });
      messages.set(hub.messages, { dialect });
    }
    for (const { partition, lagRecords, faultMs } of partitions()) {
      lag.set(lagRecords, { partition });
      fault.set(faultMs / 1_000, { partition });
    }
  };
}

import type { MetricDeclarations, Metrics } from '@pm/kit/metrics';
import { type StreamCloseName, streamCloses } from '@pm/schemas/streams/codes';
import type { PartitionStatus } from './feed/feed.io.ts';
import type { ResumeResult } from './protocol/subscription-starter.io.ts';

/** Counted as it happens. */
export const streamsMetrics = {
  skipped: {
    type: 'counter',
    name: 'pm_streams_records_skipped_total',
    help: 'Records of followed topics that could not be read.',
    labels: ['topic'],
  },
  closed: {
    type: 'counter',
    name: 'pm_streams_closed_total',
    help: 'Connections that ended, by reason and code.',
    labels: ['reason', 'code'],
  },
  resumed: {
    type: 'counter',
    name: 'pm_streams_resumes_total',
    help: 'Resumed subscriptions, by how they began.',
    labels: ['outcome'],
  },
} as const satisfies MetricDeclarations;

/** Queues and memory of readers, read at each scrape. */
export const readerReadings = {
  queuedBytes: {
    type: 'gauge',
    name: 'pm_streams_queued_bytes',
    help: 'Bytes that wait for slow readers.',
  },
  roomBytes: {
    type: 'gauge',
    name: 'pm_streams_room_bytes',
    help: 'Memory that connections and their subscriptions count with; half of the largest heap is their bound.',
  },
  mergedDeltas: {
    type: 'gauge',
    name: 'pm_streams_merged_deltas',
    help: 'Deltas that were merged into others for slow readers since the start.',
  },
  replays: {
    type: 'gauge',
    name: 'pm_streams_replays',
    help: 'Replays and large snapshots that are being sent.',
  },
  replaysWaiting: {
    type: 'gauge',
    name: 'pm_streams_replays_waiting',
    help: 'Connections whose replay or large snapshot waits for a place.',
  },
  openings: {
    type: 'gauge',
    name: 'pm_streams_openings',
    help: 'Connections whose subscriptions have something to begin with.',
  },
} as const satisfies MetricDeclarations;

/** By dialect, set once a second. */
export const dialectMetrics = {
  connections: {
    type: 'gauge',
    name: 'pm_streams_connections',
    help: 'Open connections.',
    labels: ['dialect'],
  },
  subscriptions: {
    type: 'gauge',
    name: 'pm_streams_subscriptions',
    help: 'Keys that connections are subscribed to.',
    labels: ['dialect'],
  },
  messages: {
    type: 'gauge',
    name: 'pm_streams_messages',
    help: 'Messages rendered since the start, each for all its readers.',
    labels: ['dialect'],
  },
} as const satisfies MetricDeclarations;

/** By partition of the log, set once a second. */
export const followMetrics = {
  lagRecords: {
    type: 'gauge',
    name: 'pm_streams_lag_records',
    help: 'Records of the log that are not taken yet.',
    labels: ['partition'],
  },
  lagSeconds: {
    type: 'gauge',
    name: 'pm_streams_lag_seconds',
    help: 'Age of the newest record that is taken, in seconds; 0 when all known records are.',
    labels: ['partition'],
  },
  faultSeconds: {
    type: 'gauge',
    name: 'pm_streams_fault_seconds',
    help: 'Time for which the log could not be followed.',
    labels: ['partition'],
  },
} as const satisfies MetricDeclarations;

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
  nowMs(): number;
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
  resumed(outcome: ResumeResult): void;
  /** Once a second: sets what has labels. */
  observe(): void;
}

export function measureStreams(metrics: Metrics, parts: MeasuredStreams): StreamsMetrics {
  readGauges(metrics, parts);
  const { skipped, closed, resumed } = metrics.open(streamsMetrics);
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
  const values: Readonly<Record<keyof typeof readerReadings, () => number>> = {
    queuedBytes: () => queued.bytes,
    roomBytes: () => room.bytes,
    mergedDeltas: () => queued.merged,
    replays: () => places.taken,
    replaysWaiting: () => places.waiting,
    openings: () => openings.size,
  };
  const names = Object.keys(readerReadings) as (keyof typeof readerReadings)[];
  for (const name of names) metrics.gauge({ ...readerReadings[name], read: values[name] });
}

/** Gauges with labels: what is gone is 0. */
function observer(metrics: Metrics, { hubs, partitions, nowMs }: MeasuredStreams): () => void {
  const { connections, subscriptions, messages } = metrics.open(dialectMetrics);
  const { lagRecords: lag, lagSeconds, faultSeconds } = metrics.open(followMetrics);
  return () => {
    for (const [dialect, hub] of Object.entries(hubs())) {
      connections.set(hub.connections, { dialect });
      subscriptions.set(hub.subscriptions, { dialect });
      messages.set(hub.messages, { dialect });
    }
    for (const { partition, lagRecords, timeMs, faultMs } of partitions()) {
      lag.set(lagRecords, { partition });
      const ageMs = lagRecords === 0 || timeMs === 0 ? 0 : Math.max(0, nowMs() - timeMs);
      lagSeconds.set(ageMs / 1_000, { partition });
      faultSeconds.set(faultMs / 1_000, { partition });
    }
  };
}

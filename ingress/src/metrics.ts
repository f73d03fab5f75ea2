import type { MetricDeclarations, Metrics } from '@pm/kit/metrics';

export type Stage = 'check' | 'signature' | 'reserve' | 'result';

/** Placements by stage and outcome; metrics of HTTP are the kit's. */
export const placementMetrics = {
  seconds: {
    type: 'histogram',
    name: 'pm_ingress_stage_seconds',
    help: 'Time of one stage of a placement.',
    labels: ['stage'],
  },
  refusals: {
    type: 'counter',
    name: 'pm_ingress_refused_total',
    help: 'Refused orders by code.',
    labels: ['code'],
  },
  placements: {
    type: 'counter',
    name: 'pm_ingress_placed_total',
    help: 'Placed orders by their status.',
    labels: ['status'],
  },
} as const satisfies MetricDeclarations;

/** Requests that were sent again. */
export const repetitionMetrics = {
  repeated: {
    type: 'counter',
    name: 'pm_ingress_repeated_total',
    help: 'Signed requests refused because their proof was used before.',
  },
  unnoted: {
    type: 'counter',
    name: 'pm_ingress_proofs_unnoted_total',
    help: 'Signed requests carried out although their proof could not be noted.',
  },
} as const satisfies MetricDeclarations;

export const retryMetrics = {
  full: {
    type: 'counter',
    name: 'pm_ingress_retries_full_total',
    help: 'Retry keys for which there was no room: in the part of their wallet, or in all.',
    labels: ['kind', 'of'],
  },
} as const satisfies MetricDeclarations;

/** Seconds from the last heartbeat to empty books; 15 are promised. */
const endSeconds = [11, 12, 13, 13.5, 14, 15, 17, 20, 25, 30, 60, 300];

export const sessionMetrics = {
  beats: {
    type: 'counter',
    name: 'pm_ingress_heartbeats_total',
    help: 'Heartbeats by outcome.',
    labels: ['outcome'],
  },
  misses: {
    type: 'counter',
    name: 'pm_ingress_sessions_missed_total',
    help: 'Sessions whose silence this process wrote down.',
  },
  revived: {
    type: 'counter',
    name: 'pm_ingress_sessions_revived_total',
    help: 'Misses revoked because no heartbeat could be taken before them.',
  },
  ended: {
    type: 'histogram',
    name: 'pm_ingress_session_end_seconds',
    help: 'Time from the last heartbeat to the last cancel.',
    buckets: endSeconds,
  },
} as const satisfies MetricDeclarations;

export const sessionReadings = {
  live: {
    type: 'gauge',
    name: 'pm_ingress_sessions_live',
    help: 'Sessions with heartbeats.',
  },
  ending: {
    type: 'gauge',
    name: 'pm_ingress_sessions_ending',
    help: 'Missed, not canceled yet.',
  },
} as const satisfies MetricDeclarations;

/** Queues of ingress and what it sees of the partitions, read at each scrape. */
export const ingressReadings = {
  queuedSignatures: {
    type: 'gauge',
    name: 'pm_ingress_signatures_queued',
    help: 'Signatures not checked yet.',
  },
  queuedCommands: {
    type: 'gauge',
    name: 'pm_ingress_commands_queued',
    help: 'Commands not durable yet.',
  },
  waitingCommands: {
    type: 'gauge',
    name: 'pm_ingress_commands_waiting',
    help: 'Commands without a result yet.',
  },
  rememberedResults: {
    type: 'gauge',
    name: 'pm_ingress_answers_kept',
    help: 'Results kept for repeated orders.',
  },
  silentPartitions: {
    type: 'gauge',
    name: 'pm_ingress_partitions_silent',
    help: 'Partitions without a sign of life.',
  },
} as const satisfies MetricDeclarations;

export const silenceReadings = {
  silentSeconds: {
    type: 'gauge',
    name: 'pm_ingress_silent_seconds',
    help: 'Time since the last execution of a partition was read; absent before the first.',
    labels: ['partition'],
  },
} as const satisfies MetricDeclarations;

/** Counters and times of placements. */
export interface IngressMetrics {
  stage(stage: Stage, ms: number): void;
  refused(code: string): void;
  placed(status: string): void;
}

/** Values that are read at each scrape. */
export interface IngressGauges
  extends Readonly<Record<keyof typeof ingressReadings, () => number>> {
  /** Milliseconds since the last execution of each partition that has one. */
  silences(): readonly { readonly partition: number; readonly silentMs: number }[];
}

/** Opens the metrics of placements and the gauges. */
export function openIngressMetrics(metrics: Metrics, gauges: IngressGauges): IngressMetrics {
  const { seconds, refusals, placements } = metrics.open(placementMetrics);
  const names = Object.keys(ingressReadings) as (keyof typeof ingressReadings)[];
  for (const name of names) metrics.gauge({ ...ingressReadings[name], read: gauges[name] });
  metrics.gauge({
    ...silenceReadings.silentSeconds,
    readAll: () =>
      gauges
        .silences()
        .map(({ partition, silentMs }) => ({ labels: { partition }, value: silentMs / 1_000 })),
  });
  return {
    stage: (stage: Stage, ms: number) => seconds.observe(ms / 1000, { stage }),
    refused: (code) => refusals.add(1, { code }),
    placed: (status) => placements.add(1, { status }),
  };
}

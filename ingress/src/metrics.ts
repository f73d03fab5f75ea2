import type { Metrics } from '@pm/kit/metrics';

export type Stage = 'check' | 'signature' | 'reserve' | 'result';

/** Counters and times of placements. */
export interface IngressMetrics {
  stage(stage: Stage, ms: number): void;
  refused(code: string): void;
  placed(status: string): void;
}

/** Values that are read at each scrape. */
export interface IngressGauges {
  queuedSignatures(): number;
  queuedCommands(): number;
  waitingCommands(): number;
  rememberedResults(): number;
  silentPartitions(): number;
}

/** The metrics of ingress; those of HTTP are the kit's. */
export function openIngressMetrics(metrics: Metrics, gauges: IngressGauges): IngressMetrics {
  const seconds = metrics.histogram({
    name: 'pm_ingress_stage_seconds',
    help: 'Time of one stage of a placement.',
    labels: ['stage'],
  });
  const refusals = metrics.counter({
    name: 'pm_ingress_refused_total',
    help: 'Refused orders by code.',
    labels: ['code'],
  });
  const placements = metrics.counter({
    name: 'pm_ingress_placed_total',
    help: 'Placed orders by their status.',
    labels: ['status'],
  });
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gauge({ name, help, read });
  gauge('pm_ingress_signatures_queued', 'Signatures not checked yet.', gauges.queuedSignatures);
  gauge('pm_ingress_commands_queued', 'Commands not durable yet.', gauges.queuedCommands);
  gauge('pm_ingress_commands_waiting', 'Commands without a result yet.', gauges.waitingCommands);
  gauge('pm_ingress_answers_kept', 'Results kept for repeated orders.', gauges.rememberedResults);
  gauge(
    'pm_ingress_partitions_silent',
    'Partitions without a sign of life.',
    gauges.silentPartitions,
  );
  return {
    stage: (stage: Stage, ms: number) => seconds.observe(ms / 1000, { stage }),
    refused: (code) => refusals.add(1, { code }),
    placed: (status) => placements.add(1, { status }),
  };
}

import type { Log } from '@pm/kit/log';
import type { MetricDeclarations, Metrics } from '@pm/kit/metrics';
import type { UnprovenReason } from './seal-check.ts';

/** A record of a sealed topic that changes nothing. */
export interface UnprovenRecord {
  /** Name on the broker. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly reason: UnprovenReason;
}

/** Time between two lines in the log about one topic and reason, milliseconds. */
const logEveryMs = 60_000;

export const unprovenMetrics = {
  unproven: {
    type: 'counter',
    name: 'pm_unproven_records_total',
    help: 'Records of sealed topics that changed nothing, by the reason why their seal does not count.',
    labels: ['topic', 'reason'],
  },
} as const satisfies MetricDeclarations;

/** Counts unproven records, and logs the first of each topic and reason and then one a minute. */
export function countUnproven(
  metrics: Metrics,
  log: Log,
  monotonicMs: () => number,
): (record: UnprovenRecord) => void {
  const { unproven } = metrics.open(unprovenMetrics);
  const loggedMs = new Map<string, number>();
  return (record) => {
    const { topic, reason } = record;
    unproven.add(1, { topic, reason });
    const name = `${topic} ${reason}`;
    const nowMs = monotonicMs();
    if (nowMs - (loggedMs.get(name) ?? Number.NEGATIVE_INFINITY) < logEveryMs) return;
    loggedMs.set(name, nowMs);
    log.error({ ...record }, 'a record of a sealed topic is not proved and changes nothing');
  };
}

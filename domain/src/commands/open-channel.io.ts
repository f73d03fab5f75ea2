import { randomInt } from 'node:crypto';
import { systemClock as clock } from '@pm/kit/clock';
import type { Log } from '@pm/kit/log';
import type { MetricDeclarations, Metrics } from '@pm/kit/metrics';
import { openSignOffKey } from '../signoff/keys.ts';
import { type CommandChannel, openCommandChannel } from './command-channel.io.ts';
import type { PartitionLiveness } from './partition-liveness.ts';
import type { CommandTopics } from './topics.io.ts';

const foreignHelp =
  'Envelopes of another process with the run of sequences of this one, which then begins another run.';

/** By program, ingress or operator. */
export const foreignMetrics = {
  ingress: { type: 'counter', name: 'pm_ingress_foreign_envelopes_total', help: foreignHelp },
  operator: { type: 'counter', name: 'pm_operator_foreign_envelopes_total', help: foreignHelp },
} as const satisfies MetricDeclarations;

export interface ChannelOptions {
  /** Name of the program, as it is in the names of its metrics. */
  readonly program: 'ingress' | 'operator';
  readonly seed: Buffer;
  readonly partitions: Pick<PartitionLiveness, 'has'>;
  /** How long a result is waited for, milliseconds. */
  readonly waitMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
  /** See `CommandChannelOptions`. */
  onRejected?(partition: number): void;
}

/** A minute of runs: processes that start at one moment differ. */
const runsAheadMax = 1_000;

/** The channel of a program to the log. Envelopes that another process sends under its key are counted. */
export function openChannel(topics: CommandTopics, options: ChannelOptions): CommandChannel {
  return openCommandChannel({
    key: openSignOffKey(options.seed),
    codec: topics.codecs.orders,
    producer: topics.orders,
    topic: topics.names.orders,
    partitions: options.partitions,
    nowMs: () => clock.nowMs(),
    runsAhead: randomInt(runsAheadMax),
    waitMs: options.waitMs,
    onForeign: openForeignEnvelopes(options),
    onRejected: (partition) => options.onRejected?.(partition),
  });
}

/** Counts the envelopes that another process has sent in a run of this one, and names the first. */
function openForeignEnvelopes({ program, log, metrics }: ChannelOptions): () => void {
  const envelopes = metrics.counter(foreignMetrics[program]);
  let isNamed = false;
  return () => {
    envelopes.add(1);
    if (!isNamed)
      log.warn({}, 'another process used the same run of sequences: another one begins');
    isNamed = true;
  };
}

import { type ConsumerConfig, Kafka } from 'kafkajs';
import { ClientSockets } from '../../../src/kafka/kafkajs-connection.io.ts';
import type { LogClientLimits } from '../../../src/kafka/limits.ts';
import { CoordinatorWatch } from '../../../src/kafka/membership-coordinator.io.ts';
import { MembershipSession } from '../../../src/kafka/membership-session.ts';
import { Watchdog } from '../../../src/kafka/watchdog.ts';
import { replace } from '../../time/virtual-timers.ts';

/** How a protection is taken away around a run. */
export interface Defect {
  /** Undoes it. */
  remove?(): readonly (() => void)[];
  readonly limits?: Partial<LogClientLimits>;
  /** Kinds of events that show it. */
  readonly kinds: readonly string[];
  /** Findings of which one must come. */
  readonly finds: readonly string[];
}

const never = 1e9;

/** Consumers of kafkajs with another configuration. */
function withConsumers(change: (config: ConsumerConfig) => ConsumerConfig): () => void {
  const { consumer } = Kafka.prototype;
  return replace(Kafka.prototype, 'consumer', function (this: Kafka, config: ConsumerConfig) {
    // Those of the group only: others are never run.
    return consumer.call(this, config.groupId === 'g' ? change(config) : config);
  });
}

const neverStuck = () => replace(MembershipSession.prototype, 'isStuck', () => false);

/** Each protection that the runs know how to miss. */
export const defects: Readonly<Record<string, Defect>> = {
  'leaders are looked up after failures only': {
    limits: { leaderCheckMs: never },
    kinds: ['a broker is cut off', 'a leader moves'],
    finds: ['not read in time', 'not read'],
  },
  'stalls are those of whole brokers': {
    remove() {
      const { check } = Watchdog.prototype;
      return [
        replace(
          Watchdog.prototype,
          'check',
          function (this: Watchdog, lanes: Parameters<typeof check>[0]) {
            const all = [...lanes];
            const { late, stalled } = check.call(this, all);
            return { late, stalled: late.size === all.length ? stalled : [] };
          },
        ),
      ];
    },
    kinds: ['a partition cannot be read', 'two brokers name each other'],
    finds: ['stall not reported'],
  },
  'metadata is looked at before heartbeats': {
    remove: () => [withConsumers((config) => ({ ...config, metadataMaxAge: 1_000 }))],
    kinds: ['a broker hangs'],
    finds: ['session lost without a cause', 'out of the group'],
  },
  'heartbeats are due by the wall clock': {
    remove: () => [
      withConsumers((config) => ({ ...config, heartbeatInterval: 200, maxWaitTimeInMs: 50 })),
      neverStuck(),
    ],
    kinds: ['a wall clock is set'],
    finds: ['no member', 'out of the group'],
  },
  'a silent member is not started again': {
    remove: () => [
      neverStuck(),
      replace(CoordinatorWatch.prototype, 'hasMoved', async () => false),
    ],
    kinds: ['a broker hangs', 'the coordinator moves'],
    finds: ['out of the group', 'no member'],
  },
  'contact counts from the answer to a heartbeat': {
    remove() {
      const { heard } = MembershipSession.prototype;
      return [
        replace(
          MembershipSession.prototype,
          'heard',
          function (this: MembershipSession, ...args: Parameters<typeof heard>) {
            // The second one counts from the answer of the first.
            const taken = heard.apply(this, args);
            return taken ?? heard.apply(this, args);
          },
        ),
      ];
    },
    kinds: ['a process stands still', 'a heartbeat is late'],
    finds: ['alive without a session'],
  },
  'a closed client keeps what is opened late': {
    remove: () => [replace(ClientSockets.prototype, 'close', () => {})],
    kinds: ['a process ends before it may write'],
    finds: ['open after close', 'busy after close', 'goes on after close'],
  },
};

/** Runs something without a protection. */
export async function without<T>({ remove }: Defect, run: () => Promise<T>): Promise<T> {
  const restore = remove?.() ?? [];
  try {
    return await run();
  } finally {
    for (const one of [...restore].reverse()) one();
  }
}

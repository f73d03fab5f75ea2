import { setTimeout as sleep } from 'node:timers/promises';
import { type LogClient, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';

const topic = 'bench-round-trip';
const recordBytes = 256;

export interface RoundTrips {
  /** One record after the other, until `isOver`: idempotent acks=all send, and the reader has it. Milliseconds. */
  measure(isOver: () => boolean): Promise<number[]>;
  close(): Promise<void>;
}

/**
 * Lower bound of a result through the log: one send and one read with the same client library, then a pause of
 * `pauseMs`.
 */
export async function openRoundTrips(brokers: string, pauseMs = 50): Promise<RoundTrips> {
  const client: LogClient = openLogClient({
    brokers: brokers.split(','),
    clientId: 'bench-round-trip',
    log: silentLog,
  });
  const admin = await client.admin();
  const counts = { partitions: 1, replicationFactor: 1, minInSyncReplicas: 1 };
  await admin.ensureTopics([
    { name: topic, ...counts, compacted: false, maxMessageBytes: 1 << 20, retentionMs: -1 },
  ]);
  await admin.close();
  const producer = await client.producer();
  let seen = -1;
  let wake = () => {};
  await client.reader({
    topic,
    positions: new Map([[0, 0]]),
    dense: true,
    onBatch: async ({ records }) => {
      seen = records.at(-1)?.offset ?? seen;
      wake();
    },
    onFault: (fault) => console.error(`the round trip: ${fault.code}`),
  });
  const value = Buffer.alloc(recordBytes, 7);
  return {
    async measure(isOver) {
      const samples: number[] = [];
      for (let next = seen + 1; !isOver(); next += 1) {
        const started = performance.now();
        const read = new Promise<void>((resolve) => {
          wake = () => seen >= next && resolve();
        });
        await Promise.all([producer.send([{ topic, partition: 0, key: null, value }]), read]);
        samples.push(performance.now() - started);
        await sleep(pauseMs);
      }
      return samples;
    },
    close: () => client.close(),
  };
}

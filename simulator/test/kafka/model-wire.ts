import { NotReached } from '../../../kit/src/kafka/not-reached.ts';
import type { ProducerWire } from '../../../kit/src/kafka/producer.io.ts';
import type { Machine } from '../time/machine.ts';
import type { Brokers } from './brokers.ts';

const requestTimeoutMs = 3_000;
const request = { timeoutMs: requestTimeoutMs, late: () => new Error('no answer') };

/** The wire between the kit's producer of a machine and the brokers. */
export function openModelWire(machine: Machine, brokers: Brokers): ProducerWire {
  const leaders = new Map<string, number | null>();
  return {
    isKnown: (key) => leaders.has(key),
    leaderOf: (key) => leaders.get(key)?.toString() ?? null,
    async load(topics) {
      const found = await machine.request<Map<string, number | null>>(request, (answer) => {
        const known = [...topics].flatMap((topic) => brokers.partitions(topic));
        const now = known.map((log) => [`${log.topic}/${log.partition}`, log.leader] as const);
        answer.resolve(new Map(now));
      });
      for (const [key, leader] of found) leaders.set(key, leader);
    },
    openIdentity: () =>
      machine.request(request, (answer) =>
        answer.resolve({ producerId: brokers.nextProducerId(), epoch: 0 }),
      ),
    async produce(node, { identity, batches, onSent }) {
      const isRefused = brokers.isDown(Number(node)) && machine.scheduler.random.chance(0.5);
      if (isRefused) throw new NotReached(new Error('connection refused'));
      onSent();
      const placed = batches.map(({ topic, partition, records, firstSequence }) => ({
        topic,
        partition,
        firstSequence,
        // Copies of the records in their present state: a sender may use its memory again.
        records: records.map((record) => ({ ...record })),
        producerId: identity.producerId,
        epoch: identity.epoch,
      }));
      return await machine.request(request, (answer) =>
        brokers.produce(Number(node), placed, answer),
      );
    },
    disconnect: async () => {},
  };
}

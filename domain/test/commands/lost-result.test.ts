import { silentLog } from '@pm/kit/log';
import type { Command } from '@pm/schemas/log/orders';
import { defaultLimits } from '../../../kit/src/kafka/limits.ts';
import type { ProduceRequest } from '../../../kit/src/kafka/produce-wire.io.ts';
import { LaneProducer } from '../../../kit/src/kafka/producer.io.ts';
import type { OutgoingRecord } from '../../../kit/src/kafka/records.ts';
import { placeKey } from '../../../kit/src/kafka/send-queue.ts';
import { CommandSender } from '../../src/commands/command-channel.io.ts';
import { EnvelopeSender } from '../../src/commands/envelope-sender.io.ts';
import { ResultWaiters } from '../../src/commands/result-waiters.ts';

/** A broker that appends every record and answers for all partitions but one. */
function openProducer(swallowed: number) {
  const log: OutgoingRecord[] = [];
  const wire = {
    isKnown: () => true,
    leaderOf: () => '1',
    load: async () => {},
    openIdentity: async () => ({ producerId: 1, epoch: 0 }),
    async produce(_node: string, { batches, onSent }: ProduceRequest) {
      onSent();
      const covered = batches.filter(({ partition }) => partition !== swallowed);
      for (const { records } of batches) log.push(...records);
      return new Map(covered.map((batch) => [placeKey(batch), 0]));
    },
    disconnect: async () => {},
  };
  return { log, producer: new LaneProducer({ limits: defaultLimits, log: silentLog, wire }) };
}

const command = { kind: 'CancelOrder', orderId: Buffer.alloc(32), signer: Buffer.alloc(20) };

test('a command whose partition the result lacks is waited for: it is on the log and has a result', async () => {
  const { log, producer } = openProducer(1);
  const waiters = new ResultWaiters();
  let sequence = 7;
  const sink = new EnvelopeSender({
    producer,
    topic: 'orders',
    seal: () => Buffer.from('sealed'),
    nextSequence: () => sequence++,
  });
  const runner = new CommandSender({
    envelopes: sink,
    waiters,
    partitions: { has: () => true },
    waitMs: 50,
  });
  const outcome = await runner.run(1, command as Command);
  expect(log).toHaveLength(1);
  // `unsent` would give the reservation back while the order stands on the log.
  expect(outcome).toEqual({ kind: 'pending' });
});

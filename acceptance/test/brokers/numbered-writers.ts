import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@pm/kit/fault';
import type { LogProducer } from '@pm/kit/kafka';
import type { Producer } from 'kafkajs';
import type { WrittenRecord } from './judge-records.ts';

interface WriterOptions {
  readonly topic: string;
  readonly partitions: readonly number[];
  readonly signal: AbortSignal;
  /** Takes what was reported of each record. */
  readonly records: WrittenRecord[];
}

type Outcome = Pick<WrittenRecord, 'outcome' | 'offset'>;
type Unsent = Omit<WrittenRecord, 'outcome' | 'offset'>;

/** Between two sends of a writer, milliseconds: there are 13 for a topic, so each leader has requests all the same. */
const restMs = 60;
/** Between two sends of the one writer of kafkajs' producer, milliseconds. */
const bareRestMs = 15;
const unknown: Outcome = { outcome: 'unknown', offset: null };
const notWritten: Outcome = { outcome: 'certainly not written', offset: null };

/**
 * Writes until the signal: two writers for each partition, of which one waits while the batch of the other is on its
 * way, and one whose sends hold a record of every partition. Each waits for the outcome of a send before the next.
 */
export async function writeByLanes(producer: LogProducer, options: WriterOptions): Promise<void> {
  const { topic, partitions } = options;
  const send = async (records: readonly Unsent[]): Promise<readonly Outcome[]> => {
    try {
      const outgoing = records.map(({ partition, value }) => ({
        topic,
        partition,
        key: null,
        value: Buffer.from(value),
      }));
      const places = await producer.send(outgoing);
      return places.map(({ offset }) => ({ outcome: 'acknowledged', offset }));
    } catch (error) {
      return records.map(() => outcomeOf(error));
    }
  };
  const alone = partitions.flatMap((partition) =>
    ['alone', 'beside'].map((writer) => write(`${writer}-${partition}`, [partition], options)),
  );
  const all = [write('together', partitions, options), ...alone];
  await Promise.all(all.map((run) => run(send)));
}

function outcomeOf(error: unknown): Outcome {
  const code = error instanceof Fault ? error.code : '';
  if (code === 'send_outcome_unknown') return unknown;
  if (code === 'not_sent' || code === 'queue_full' || code === 'partition_unknown')
    return notWritten;
  throw error;
}

/** Writes until the signal with kafkajs' own producer: one writer, whose sends hold a record of every partition. */
export async function writeByKafkajs(producer: Producer, options: WriterOptions): Promise<void> {
  const { topic, partitions } = options;
  const run = write('together', partitions, { ...options, restMs: bareRestMs });
  await run(async (records) => {
    const messages = records.map(({ partition, value }) => ({ partition, value }));
    const results = await producer.send({ topic, messages }).catch(() => []);
    return records.map(({ partition }): Outcome => {
      const result = results.find((one) => one.partition === partition && one.errorCode === 0);
      if (result?.baseOffset === undefined) return unknown;
      return { outcome: 'acknowledged', offset: Number(result.baseOffset) };
    });
  });
}

type Send = (records: readonly Unsent[]) => Promise<readonly Outcome[]>;

function write(
  writer: string,
  partitions: readonly number[],
  options: WriterOptions & { readonly restMs?: number },
) {
  const { signal, records, restMs: pauseMs = restMs } = options;
  return async (send: Send): Promise<void> => {
    for (let number = 0; !signal.aborted; number += 1) {
      const value = `${writer} ${number}`;
      const unsent = partitions.map((partition) => ({ writer, partition, number, value }));
      const outcomes = await send(unsent);
      for (const [index, one] of unsent.entries())
        records.push({ ...one, ...(outcomes[index] ?? unknown) });
      await pause(pauseMs);
    }
  };
}

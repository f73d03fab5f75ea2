import { Fault } from '@pm/kit/fault';
import type { IncomingRecord, LogClient, LogReader, ReaderOptions } from '@pm/kit/kafka';
import { openRecordCodec, type RecordCodec } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import { loneReader } from '../../../kit/test/kafka/lone-reader.ts';
import type { ExecutionLog } from '../../src/executions/execution-reader.io.ts';
import { firstChain, sealExecution } from '../../src/signoff/records.ts';

const writer: RecordCodec<Execution> = openRecordCodec(
  topics.executions.value,
  1,
  async () => null,
);

/** Executions as they are on the broker, chained. */
export function sealed(executions: readonly Execution[]): readonly IncomingRecord[] {
  let chain: Buffer = firstChain;
  return executions.map((execution, offset) => {
    const record = sealExecution(writer, chain, execution);
    chain = record.chain;
    return { offset, key: null, value: record.value, timestampMs: 0 };
  });
}

/**
 * Three partitions with the same records in memory, with the part of the log client that readers use. The memory of
 * `reused` events is reused.
 */
export function fakeLog(
  records: readonly IncomingRecord[],
  reused: readonly string[] = [],
): ExecutionLog {
  const { value } = topics.executions;
  const codec: RecordCodec<Execution> = openRecordCodec(value, 1, async () => null, reused);
  const bound = { low: 0, high: records.length };
  const bounds = async () => new Map([0, 1, 2].map((partition) => [partition, bound]));
  const reader = async (options: ReaderOptions): Promise<LogReader> => {
    const from = options.positions.get(0) ?? 0;
    const batch = { topic: options.topic, partition: 0, highWatermark: records.length };
    const deliver = async () => {
      await Promise.resolve();
      await options.onBatch({ ...batch, records: records.slice(from) });
    };
    deliver().catch((cause: unknown) => {
      options.onFault(
        cause instanceof Fault ? cause : new Fault('handler_failed', 'stop', { cause }),
      );
    });
    return { position: () => from, lagRecords: () => 0, ...loneReader, close: async () => {} };
  };
  const admin = async () => ({ bounds, close: async () => {} });
  // Readers use no other part of the client.
  const client = { admin, reader } as unknown as LogClient;
  return { client, codec, topic: 'executions', checksChain: true };
}

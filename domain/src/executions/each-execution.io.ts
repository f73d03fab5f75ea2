import { Fault } from '@pm/kit/fault';
import type { IncomingRecord, RecordBatch } from '@pm/kit/kafka';
import { type RecordReader, readValue } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import type { ExecutionPlace } from './execution-order.ts';

/** The part of a codec that reads executions. */
export type ExecutionCodec = RecordReader<Execution>;

/**
 * Decodes the records of a batch one after the other and passes each to `take` before it decodes the next. Waits only
 * for a schema that is not known yet. Rejects with the faults of `readExecution`, and with what `take` throws.
 */
export async function eachExecution(
  { partition, records }: Pick<RecordBatch, 'partition' | 'records'>,
  codec: ExecutionCodec,
  take: (execution: Execution, offset: number) => void,
): Promise<void> {
  const place = { partition };
  for (const record of records) {
    const read = readExecution(codec, record, place);
    take(read instanceof Promise ? await read : read, record.offset);
  }
}

/**
 * The execution of one record; a promise only for a schema that is not known yet. Throws or rejects with a `Fault`:
 * `execution_unreadable` (stop) with the facts of `place`, since only matchers write the topic and a record that cannot
 * be read is a broken log; `service_keys_unread` (retry).
 */
export function readExecution(
  codec: ExecutionCodec,
  { value, offset }: Pick<IncomingRecord, 'value' | 'offset'>,
  place: Partial<ExecutionPlace>,
): Execution | Promise<Execution> {
  return readValue(codec, value, (cause) => {
    throw new Fault('execution_unreadable', 'stop', { facts: { ...place, offset }, cause });
  });
}

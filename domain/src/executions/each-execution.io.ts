import { Fault } from '@pm/kit/fault';
import type { RecordBatch } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import { AvroError, type Execution } from '@pm/schemas';

/** The methods of the codec that decode executions. */
export type ExecutionCodec = Pick<RecordCodec<Execution>, 'decode' | 'knows' | 'prepare'>;

/**
 * Decodes the records of a batch one after the other and passes each to `take` before the next is decoded. Waits only
 * for an unknown schema. Throws the `Fault` `execution_unreadable` (stop) for an unreadable record, and the errors of
 * `take`.
 */
export async function eachExecution(
  { partition, records }: Pick<RecordBatch, 'partition' | 'records'>,
  codec: ExecutionCodec,
  take: (execution: Execution, offset: number) => void,
): Promise<void> {
  for (const { value, offset } of records) {
    if (value === null) throw unreadable(partition, offset);
    if (!codec.knows(value)) await codec.prepare(value);
    take(decode(codec, value, { partition, offset }), offset);
  }
}

function decode(
  codec: ExecutionCodec,
  value: Buffer,
  place: { readonly partition: number; readonly offset: number },
): Execution {
  try {
    return codec.decode(value);
  } catch (error) {
    if (error instanceof AvroError) throw unreadable(place.partition, place.offset, error);
    throw error;
  }
}

function unreadable(partition: number, offset: number, cause?: AvroError): Fault {
  return new Fault('execution_unreadable', 'stop', { facts: { partition, offset }, cause });
}

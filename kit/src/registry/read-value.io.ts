import { AvroError } from '@pm/schemas/avro/bytes';
import type { RecordReader } from './record-codec.io.ts';

/**
 * The value of a record. Only a record of a schema that this process has not read before waits for a look: for it
 * the result is a promise, for all others the value itself (`read instanceof Promise ? await read : read`).
 *
 * `unreadable` is called for a record without a value and for bytes that can never be read. It throws the fault of its
 * topic, or returns what stands for a skipped record. Throws or rejects with what it throws, and with the faults of
 * `prepare`.
 */
export function readValue<T, U>(
  reader: RecordReader<T>,
  value: Buffer | null,
  unreadable: (cause: AvroError) => U,
): T | U | Promise<T | U> {
  if (value === null) return unreadable(new AvroError('a record without a value'));
  if (reader.knows(value)) return decode(reader, value, unreadable);
  return reader.prepare(value).then(() => decode(reader, value, unreadable));
}

function decode<T, U>(
  reader: RecordReader<T>,
  value: Buffer,
  unreadable: (cause: AvroError) => U,
): T | U {
  try {
    return reader.decode(value);
  } catch (error) {
    if (error instanceof AvroError) return unreadable(error);
    throw error;
  }
}

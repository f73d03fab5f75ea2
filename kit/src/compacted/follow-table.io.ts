import type { AvroError } from '@pm/schemas/avro/bytes';
import { Fault } from '../fault/index.ts';
import { followCompacted, isStall, type LogClient, type LogReader } from '../kafka/index.ts';
import type { Log } from '../log/index.ts';
import { type RecordReader, readValue } from '../registry/index.ts';

/** Place of an entry in the log: its key, whose earlier entries it replaces, and its offset. */
export interface EntryPlace {
  readonly key: string;
  readonly offset: number;
}

export interface CompactedOptions<T> {
  /** Name of the topic on the broker. */
  readonly topic: string;
  /** As for `followCompacted`. */
  readonly from?: number;
  readonly codec: RecordReader<T>;
  readonly log: Log;
  take(value: T, place: EntryPlace): void;
  /** Reaction to a record that cannot be read; default `skip`, with an error in the log: the entry before it stays. */
  readonly unreadable?: 'skip' | 'stop';
  /** Counts a skipped record. */
  onSkip?(): void;
  /** The record of this key was deleted. */
  forget?(key: string, offset: number): void;
  /** An unforeseen fault: the process should stop. */
  onFault(fault: Fault): void;
}

/**
 * Follows a topic of entries from its start, newest of each key last; resolves when all records present at the call are
 * taken. A stall is logged and reading continues; after any other fault it has stopped, and `onFault` gets it: a fault
 * that passes, as of a registry that is away, too.
 */
export function followTable<T>(
  client: LogClient,
  options: CompactedOptions<T>,
): Promise<LogReader> {
  const { topic, codec, log } = options;
  const skip = (offset: number, err: AvroError): null => {
    if (options.unreadable === 'stop') throw unreadable(topic, offset, err);
    log.error({ topic, offset, err }, 'skipped a record that cannot be read');
    options.onSkip?.();
    return null;
  };
  return followCompacted(client, {
    topic,
    ...(options.from === undefined ? {} : { from: options.from }),
    async onRecord({ key, value, offset }) {
      const name = key?.toString('utf8') ?? '';
      if (value === null) {
        options.forget?.(name, offset);
        return;
      }
      const read = readValue(codec, value, (cause) => skip(offset, cause));
      const entry = read instanceof Promise ? await read : read;
      if (entry !== null) options.take(entry, { key: name, offset });
    },
    onFault: (fault) => {
      if (isStall(fault)) log.warn({ topic, code: fault.code }, 'reader is held up');
      else options.onFault(fault);
    },
  });
}

function unreadable(topic: string, offset: number, cause: AvroError): Fault {
  return new Fault('record_unreadable', 'stop', { facts: { topic, offset }, cause });
}

import { AvroError } from '@pm/schemas';
import { Fault } from '../fault/index.ts';
import { followCompacted, type LogClient, type LogReader } from '../kafka/index.ts';
import type { Log } from '../log/index.ts';
import type { RecordCodec } from '../registry/index.ts';

/** The place of an entry: its key and its offset. */
export interface EntryPlace {
  readonly key: string;
  readonly offset: number;
}

export interface CompactedOptions<T> {
  /** Name of the topic on the broker. */
  readonly topic: string;
  readonly codec: Pick<RecordCodec<T>, 'decode' | 'knows' | 'prepare'>;
  readonly log: Log;
  take(value: T, place: EntryPlace): void;
  /** The reaction to an unreadable record; default `skip` with an error in the log: the entry it replaces stays. */
  readonly unreadable?: 'skip' | 'stop';
  /** Called for each skipped record. */
  onSkip?(): void;
  /** The record of this key was deleted. */
  forget?(key: string, offset: number): void;
  /** An unexpected fault: the process should stop. */
  onFault(fault: Fault): void;
}

/**
 * Follows a compacted topic from its start; resolves when all records that existed at the call are applied. Transient
 * faults are logged and retried; any other goes to `onFault`.
 */
export function followTable<T>(
  client: LogClient,
  options: CompactedOptions<T>,
): Promise<LogReader> {
  const { topic, codec, log } = options;
  return followCompacted(client, {
    topic,
    async onRecord({ key, value, offset }) {
      const name = key?.toString('utf8') ?? '';
      if (value === null) {
        options.forget?.(name, offset);
        return;
      }
      if (!codec.knows(value)) await codec.prepare(value);
      try {
        options.take(codec.decode(value), { key: name, offset });
      } catch (error) {
        if (!(error instanceof AvroError)) throw error;
        if (options.unreadable === 'stop') throw unreadable(topic, offset, error);
        log.error({ topic, offset, err: error }, 'skipped a record that cannot be read');
        options.onSkip?.();
      }
    },
    onFault: (fault) => {
      if (fault.reaction === 'retry') log.warn({ topic, code: fault.code }, 'reader is held up');
      else options.onFault(fault);
    },
  });
}

function unreadable(topic: string, offset: number, cause: AvroError): Fault {
  return new Fault('record_unreadable', 'stop', { facts: { topic, offset }, cause });
}

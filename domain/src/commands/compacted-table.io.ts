import { type CompactedOptions, type EntryPlace, followTable } from '@pm/kit/compacted';
import { Fault } from '@pm/kit/fault';
import type { LogProducer, LogReader } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import type { TopicsOf } from './topics.io.ts';

/** One entry to write; null deletes the entry of the key. */
export interface TableEntry<T> {
  readonly key: string;
  readonly value: T | null;
}

/** The state of a table, folded from its entries. */
export interface TableFold<T> {
  apply(value: T): void;
  /** The entry of this key was deleted. */
  forget?(key: string): void;
}

/** Puts entries on the topic, in order; resolves with their offsets when they are durable. Rejects with a `Fault`. */
export type AppendEntries<T> = (entries: readonly TableEntry<T>[]) => Promise<readonly number[]>;

/** Entries that were written and not read back; with more, the reader is held up and writing waits. */
export const aheadMax = 10_000;

/**
 * A compacted topic that this process follows and writes. A write counts here at once, before it is read back. Until
 * then older entries of its key are left out when they come by: they would bring a revoked key back for a moment.
 */
export class CompactedTable<T> {
  readonly #fold: TableFold<T>;
  readonly #append: AppendEntries<T>;
  /** Offsets of own entries by key that were not read back yet. */
  readonly #ahead = new Map<string, number>();
  #readTo = -1;

  constructor(fold: TableFold<T>, append: AppendEntries<T>) {
    this.#fold = fold;
    this.#append = append;
  }

  /** Takes the next entry of the topic; null when it was deleted. */
  take(value: T | null, { key, offset }: EntryPlace): void {
    this.#readTo = Math.max(this.#readTo, offset);
    const own = this.#ahead.get(key);
    if (own !== undefined && offset >= own) this.#ahead.delete(key);
    if (own === undefined || offset > own) this.#apply(key, value);
  }

  /**
   * Resolves when the entries are durable and count here. Rejects with a `Fault`; `table_behind` (retry) when it must
   * wait.
   */
  async write(entries: readonly TableEntry<T>[]): Promise<void> {
    if (this.#ahead.size >= aheadMax) throw new Fault('table_behind', 'retry');
    const offsets = await this.#append(entries);
    for (const [index, { key, value }] of entries.entries()) {
      const offset = offsets[index] ?? -1;
      if (offset <= this.#readTo) continue;
      this.#ahead.set(key, offset);
      this.#apply(key, value);
    }
  }

  #apply(key: string, value: T | null): void {
    if (value !== null) this.#fold.apply(value);
    else this.#fold.forget?.(key);
  }
}

/** A topic and the codec of its values. */
export interface TableTopic<T> {
  readonly topic: string;
  readonly codec: RecordCodec<T>;
  readonly log: Log;
  onFault: CompactedOptions<T>['onFault'];
  /** The reaction to a record that cannot be read; default `skip`. */
  readonly unreadable?: 'skip' | 'stop';
  /** Called when the table is open, with what reads it. */
  onReader?(reader: LogReader): void;
}

/** Opens a table on the log; resolves when all entries up to now have been read. */
export async function openTable<T>(
  { client, records }: Pick<TopicsOf<never>, 'client' | 'records'>,
  options: TableTopic<T>,
  fold: TableFold<T>,
): Promise<CompactedTable<T>> {
  const table = new CompactedTable(fold, appenderOf(records, options));
  const reader = await followTable(client, {
    ...options,
    take: (value, place) => table.take(value, place),
    forget: (key, offset) => table.take(null, { key, offset }),
  });
  options.onReader?.(reader);
  return table;
}

function appenderOf<T>(
  records: LogProducer,
  { topic, codec }: Pick<TableTopic<T>, 'topic' | 'codec'>,
): AppendEntries<T> {
  return async (entries) => {
    const outgoing = entries.map(({ key, value }) => ({
      topic,
      partition: 0,
      key: Buffer.from(key, 'utf8'),
      value: value === null ? null : codec.encode(value),
    }));
    return (await records.send(outgoing)).map(({ offset }) => offset);
  };
}

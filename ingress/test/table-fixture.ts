import { CompactedTable, type TableFold } from '@pm/domain/commands/compacted-table.io';

/** A compacted topic in memory: every process follows it, a moment after it was written. */
export class MemoryTopic<T> {
  readonly records: { readonly key: string; readonly value: T | null }[] = [];
  readonly #followers: ((index: number) => void)[] = [];
  /** Error that a send rejects with; null when it succeeds. */
  fault: Error | null = null;
  /** Records are kept but reach no process. */
  isHeldUp = false;
  #told = 0;

  /** One more process: what is there is known before anything is asked of it. */
  open(fold: TableFold<T>): CompactedTable<T> {
    const table = new CompactedTable<T>(fold, async (entries) => {
      if (this.fault !== null) throw this.fault;
      const offsets = entries.map((entry) => this.records.push(entry) - 1);
      setImmediate(() => this.#tell());
      return offsets;
    });
    const take = (offset: number) => {
      const record = this.records[offset];
      if (record !== undefined) table.take(record.value, { key: record.key, offset });
    };
    this.records.forEach((_record, offset) => {
      take(offset);
    });
    this.#followers.push(take);
    return table;
  }

  /** Only the newest record of each key is left, where it stood. */
  compact(): readonly { readonly key: string; readonly value: T | null }[] {
    const last = new Map(this.records.map(({ key }, offset) => [key, offset]));
    return this.records.filter(({ key, value }, at) => value !== null && last.get(key) === at);
  }

  goOn(): void {
    this.isHeldUp = false;
    this.#tell();
  }

  #tell(): void {
    if (this.isHeldUp) return;
    while (this.#told < this.records.length) {
      for (const follower of this.#followers) follower(this.#told);
      this.#told += 1;
    }
  }
}

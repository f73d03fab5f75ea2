import { BucketRows } from './bucket-rows.ts';
import { type AppendedRecord, FactRows } from './fact-rows.ts';
import type { LogAudit } from './log-audit.ts';

/** Expected state and rows by the log, up to one offset of each partition. */
export class LogExpectation {
  readonly audit: LogAudit;
  /** Sums of the rows that the log leads to. */
  readonly facts = new FactRows();
  readonly buckets = new BucketRows();
  readonly #partitions = new Set<number>();

  constructor(audit: LogAudit) {
    this.audit = audit;
  }

  /** Adds a record that `audit` has just judged. */
  record(partition: number, record: AppendedRecord): void {
    this.#partitions.add(partition);
    this.facts.record(partition, record, this.audit);
    this.buckets.record(partition, record.execution);
  }

  /** By partition the input offset after the last record; rows from it on are not judged. */
  get bounds(): readonly number[] {
    const last = Math.max(-1, ...this.#partitions);
    return Array.from({ length: last + 1 }, (_, partition) => this.audit.nextInOffset(partition));
  }
}

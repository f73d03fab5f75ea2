import type { AuditRecord } from '@pm/schemas';

/** A request of an operator with what came of it. */
export type AuditEntry = Omit<AuditRecord, 'status'> & {
  /** HTTP status of the answer; null while there is none, or when the process died before it. */
  readonly status: number | null;
};

/** Requests kept for reading; the topic keeps all. */
const auditEntriesMax = 5_000;

/** The newest requests of operators, each folded from its two records of the topic `audit`. */
export class AuditTrail {
  readonly #entries = new Map<string, AuditEntry>();

  /** Takes the next record of the topic. */
  take(record: AuditRecord): void {
    const known = this.#entries.get(record.id);
    if (known !== undefined) {
      if (record.status !== 0) this.#entries.set(record.id, { ...known, status: record.status });
      return;
    }
    this.#entries.set(record.id, { ...record, status: record.status === 0 ? null : record.status });
    if (this.#entries.size <= auditEntriesMax) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  /** Newest first; `containing` picks those whose action or path has it in them. */
  page(asked: { limit: number; offset: number; containing: string }): readonly AuditEntry[] {
    const { limit, offset, containing } = asked;
    const found = [...this.#entries.values()].reverse();
    return found
      .filter(({ action, subject }) => `${action} ${subject}`.includes(containing))
      .slice(offset, offset + limit);
  }
}

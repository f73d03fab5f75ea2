import type { TopicsOf } from '@pm/domain/commands/topics.io';
import { followTable } from '@pm/kit/compacted';
import type { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import type { AuditRecord } from '@pm/schemas/log/audit';

/** A request of an operator with its result. */
export type AuditEntry = Omit<AuditRecord, 'status'> & {
  /** HTTP status of the response; null while there is none, or when the process died before it. */
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

/** Requests of operators with their results. */
export interface OperatorAudit {
  /** Resolves when the record is durable; rejects with a `Fault`. */
  append(record: AuditRecord): Promise<void>;
  /** The outcome of a request could not be written after it. */
  onLost(record: AuditRecord, error: unknown): void;
  page(asked: Parameters<AuditTrail['page']>[0]): readonly AuditEntry[];
}

/** Opens the topic `audit` for writing and reading; resolves when what was there has been read. */
export async function openAudit(
  { client, names, codecs, records }: TopicsOf<'audit'>,
  { log, onFault }: { readonly log: Log; onFault(fault: Fault): void },
): Promise<OperatorAudit> {
  const trail = new AuditTrail();
  const { audit: topic } = names;
  const { audit: codec } = codecs;
  await followTable(client, {
    topic,
    codec,
    log,
    onFault,
    take: (record: AuditRecord) => trail.take(record),
  });
  return {
    page: (asked) => trail.page(asked),
    async append(record) {
      const key = Buffer.from(record.id, 'utf8');
      await records.send([{ topic, partition: 0, key, value: codec.encode(record) }]);
    },
    onLost: (record, error) =>
      log.error({ err: error, ...record }, 'an outcome is not in the audit'),
  };
}

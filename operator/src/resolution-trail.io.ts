import { createHash, randomUUID } from 'node:crypto';
import type { Clock } from '@pm/kit/clock';
import type { Approval } from '@pm/schemas/log/approvals';
import { type AuditRecord, auditBodyMaxChars } from '@pm/schemas/log/audit';
import type { OperatorAudit } from './audit-trail.io.ts';

/**
 * The records on the audit trail of resolutions that the process carries out by itself, under the name of their
 * approval: one before the first attempt, and one with each new result.
 */
export class ResolutionTrail {
  readonly #audit: Pick<OperatorAudit, 'append'>;
  readonly #clock: Pick<Clock, 'nowMs'>;
  /** Audit records of resolutions that are not carried out yet, by approval. */
  readonly #open = new Map<string, AuditRecord>();

  constructor({
    audit,
    clock,
  }: {
    readonly audit: Pick<OperatorAudit, 'append'>;
    readonly clock: Pick<Clock, 'nowMs'>;
  }) {
    this.#audit = audit;
    this.#clock = clock;
  }

  /** Resolves when the beginning is on the trail. Rejects with a `Fault`; then nothing may be done. */
  async begin(approval: Approval): Promise<void> {
    if (this.#open.has(approval.id)) return;
    const record = recordOf(approval, this.#clock.nowMs());
    await this.#audit.append(record);
    this.#open.set(approval.id, record);
  }

  /** Notes a result, unless it is that of the attempt before. */
  async end({ id }: Approval, status: number): Promise<void> {
    const known = this.#open.get(id);
    if (known === undefined || known.status === status) return;
    const record = { ...known, timeMs: this.#clock.nowMs(), status };
    await this.#audit.append(record);
    if (status === 200) this.#open.delete(id);
    else this.#open.set(id, record);
  }
}

function recordOf({ id, market, body }: Approval, timeMs: number): AuditRecord {
  return {
    id: randomUUID(),
    timeMs,
    who: `approval ${id}`,
    tokenId: '',
    address: '',
    action: 'POST /operator/markets/:id/resolve',
    subject: `/operator/markets/${market}/resolve`,
    body: body.slice(0, auditBodyMaxChars),
    bodyBytes: Buffer.byteLength(body, 'utf8'),
    bodySha256: createHash('sha256').update(body).digest(),
    status: 0,
  };
}

import type { Approval } from '@pm/schemas/log/approvals';

/**
 * The approvals of the topic, by id. A challenge stays, whatever a process that had not read it yet has written after
 * it, so the order in which two processes write cannot make a challenged resolution pay.
 */
export class ApprovalRows {
  readonly #rows = new Map<string, Approval>();

  apply(approval: Approval): void {
    const known = this.#rows.get(approval.id);
    const challenged = known !== undefined && known.challengedAtMs > 0;
    this.#rows.set(approval.id, challenged ? { ...approval, ...challengeOf(known) } : approval);
  }

  forget(id: string): void {
    this.#rows.delete(id);
  }

  find(id: string): Approval | undefined {
    return this.#rows.get(id);
  }

  /** Oldest first. */
  all(): readonly Approval[] {
    return [...this.#rows.values()].sort((one, other) => one.requestedAtMs - other.requestedAtMs);
  }
}

function challengeOf({ challengedBy, challengedAtMs, challengeReason }: Approval) {
  return { challengedBy, challengedAtMs, challengeReason };
}

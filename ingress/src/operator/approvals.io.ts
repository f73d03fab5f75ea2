import { createHash, randomUUID } from 'node:crypto';
import { mayUse } from '@pm/domain/operators/operators';
import type { Clock } from '@pm/kit/clock';
import { type Approval, type OperatorEntry, operatorRoutes } from '@pm/schemas';
import type { CompactedTable, TableFold } from '../log/compacted-table.io.ts';
import type { KeyedMutex } from '../log/keyed-mutex.io.ts';
import { forbidden, type OperatorProblem, refused } from './requests.io.ts';

/** Requests that a second person may have to decide on. */
export type ApprovedAction = 'deposit' | 'resolveMarket';

/** Approvals that are kept for reading, those that wait among them; the audit trail keeps all. */
export const approvalsMax = 100;

/** The approvals of the topic, by id in the order of their requests. */
export class ApprovalRows implements TableFold<Approval> {
  readonly #rows = new Map<string, Approval>();

  apply(approval: Approval): void {
    this.#rows.set(approval.id, approval);
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

/** When a second person is needed. */
export interface SecondPersonRule {
  readonly isOn: boolean;
  /** One operator deposits so much within a UTC day alone, micro-USDC. */
  readonly depositLimitMicro: number;
  /** Time for the decision, milliseconds. */
  readonly windowMs: number;
}

/** A request that waits for a second person. */
export interface Request {
  readonly action: ApprovedAction;
  /** Number of the market; 0 for deposits. */
  readonly market: number;
  readonly body: Buffer;
}

export interface ApprovalsOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly rows: ApprovalRows;
  readonly table: Pick<CompactedTable<Approval>, 'write'>;
  readonly mutex: KeyedMutex;
  readonly rule: SecondPersonRule;
}

const dayMs = 86_400_000;

/** Requests that wait for a second person and their decisions, durable on the topic `approvals`. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #deposited = new Map<string, number>();
  #day = -1;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** Newest first. */
  list(): readonly Approval[] {
    return this.#options.rows.all().toReversed();
  }

  find(id: string): Approval | undefined {
    return this.#options.rows.find(id);
  }

  get secondPersonResolves(): boolean {
    return this.#options.rule.isOn;
  }

  /** Whether an operator may deposit so much more today without a second person; if so it is counted. */
  depositsAlone(name: string, amountMicro: number): boolean {
    const { rule, clock } = this.#options;
    if (!rule.isOn) return true;
    const day = Math.floor(clock.nowMs() / dayMs);
    if (day !== this.#day) {
      this.#day = day;
      this.#deposited.clear();
    }
    const sum = (this.#deposited.get(name) ?? 0) + amountMicro;
    if (sum > rule.depositLimitMicro) return false;
    this.#deposited.set(name, sum);
    return true;
  }

  /** Puts a request on the topic; the same one that still waits is returned as it is. Rejects with a `Fault`. */
  request({ action, market, body }: Request, who: string): Promise<Approval | OperatorProblem> {
    const { clock, rows, table, mutex, rule } = this.#options;
    return mutex.run('approvals', async () => {
      const nowMs = clock.nowMs();
      const bodySha256 = createHash('sha256').update(body).digest();
      const known = rows.all();
      const waiting = known.filter((one) => isPending(one, nowMs));
      const same = waiting.find(
        (one) =>
          one.action === action && one.market === market && one.bodySha256.equals(bodySha256),
      );
      if (same !== undefined) return same;
      if (waiting.length >= approvalsMax) return refused('too many requests wait for approval');
      const approval: Approval = {
        id: randomUUID(),
        action,
        market,
        body: body.toString('utf8'),
        bodySha256,
        requestedBy: who,
        requestedAtMs: nowMs,
        expiresAtMs: nowMs + rule.windowMs,
        decision: 'NONE',
        decidedBy: '',
        decidedAtMs: 0,
      };
      const over = known.length + 1 - approvalsMax;
      const oldest = known.filter((one) => !isPending(one, nowMs)).slice(0, Math.max(0, over));
      const dropped = oldest.map(({ id }) => ({ key: id, value: null }));
      await table.write([{ key: approval.id, value: approval }, ...dropped]);
      return approval;
    });
  }

  /**
   * The decision of a second person, durable. The same decision again is that decision, so that an approved request
   * which was interrupted can be carried out again. Rejects with a `Fault`.
   */
  decide(
    id: string,
    decision: 'APPROVED' | 'REJECTED',
    operator: OperatorEntry,
  ): Promise<Approval | OperatorProblem> {
    const { clock, rows, table, mutex } = this.#options;
    return mutex.run('approvals', async () => {
      const known = rows.find(id);
      if (known === undefined) return { status: 404, text: 'approval not found' };
      const { role } = operatorRoutes[known.action as ApprovedAction];
      if (!mayUse(operator.roles, role)) return forbidden(`it takes the role ${role}`);
      if (known.requestedBy === operator.name) return forbidden('a second person decides');
      if (known.decision === decision) return known;
      if (known.decision !== 'NONE') return refused(`it is ${known.decision.toLowerCase()}`);
      const nowMs = clock.nowMs();
      if (!isPending(known, nowMs)) return refused('it has expired: send the request again');
      const decided = { ...known, decision, decidedBy: operator.name, decidedAtMs: nowMs };
      await table.write([{ key: id, value: decided }]);
      return decided;
    });
  }
}

/** Whether it can still be decided on. */
export function isPending({ decision, expiresAtMs }: Approval, nowMs: number): boolean {
  return decision === 'NONE' && nowMs < expiresAtMs;
}

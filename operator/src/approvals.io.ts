import { createHash, randomUUID } from 'node:crypto';
import type { CompactedTable } from '@pm/domain/commands/compacted-table.io';
import type { KeyedMutex } from '@pm/domain/commands/keyed-mutex.io';
import { mayUse } from '@pm/domain/operators/operators';
import { unlessUnavailable } from '@pm/domain/requests/requests.io';
import type { Clock } from '@pm/kit/clock';
import { priceText } from '@pm/schemas/decimal';
import type { Approval } from '@pm/schemas/log/approvals';
import type { OperatorEntry } from '@pm/schemas/operators';
import { type GuardedAction, operatorRoutes } from '@pm/schemas/routes/routes';
import type { ApprovalRows } from './approval-rows.ts';
import type { DaySums, LoneWay } from './day-sums.io.ts';
import { isPending, isProposed, payoutOf, stateOf } from './proposals.ts';
import { forbidden, isProblem, type OperatorProblem, refused } from './requests.io.ts';

/** Approvals that are kept for reading, and those that wait for a second person; the audit trail keeps all. */
export const approvalsMax = 100;

/** Resolutions whose challenge window runs. */
const proposalsMax = 1_000;

/** When a second person is needed, and what may be challenged. */
export interface SecondPersonRule {
  readonly isOn: boolean;
  /** One operator moves so much within a UTC day alone, micro-USDC. */
  readonly limitsMicro: Readonly<Record<LoneWay, number>>;
  /** Time for the decision, milliseconds. */
  readonly windowMs: number;
  /** Time in which a resolution can be challenged, milliseconds; 0 carries it out at once. */
  readonly challengeMs: number;
}

/** A request that waits for a second person, or for the end of its challenge window. */
export interface Request {
  readonly action: GuardedAction;
  /** Number of the market; 0 for other subjects. */
  readonly market: number;
  /** Subject that the path names, or empty. */
  readonly subject: string;
  readonly body: Buffer;
}

/** Who makes a resolution void, and why. */
export interface Challenger {
  readonly name: string;
  readonly reason: string;
  /** By the later of the clocks of this process and of the partition, Unix milliseconds. */
  readonly nowMs: number;
}

/** The second person, and the end of the window of a resolution that is approved now; 0 when it has none. */
export interface Decider {
  readonly operator: OperatorEntry;
  windowEndMs(approval: Approval): number | OperatorProblem;
}

export interface ApprovalsOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly rows: ApprovalRows;
  readonly table: Pick<CompactedTable<Approval>, 'write'>;
  readonly mutex: KeyedMutex;
  readonly rule: SecondPersonRule;
  readonly daySums: Pick<DaySums, 'add'>;
}

type Outcome = Promise<Approval | OperatorProblem>;

/** Requests that wait, their decisions and challenges, durable on the topic `approvals`. Methods reject with faults. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  /** Proposals that this process carries out: no challenge comes in any more, whatever the clock says. */
  readonly #begun = new Set<string>();

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

  get rule(): SecondPersonRule {
    return this.#options.rule;
  }

  /** The resolution of a market whose challenge window runs, or has just ended. */
  proposalOf(market: number): Approval | undefined {
    return this.#options.rows.all().find((one) => one.market === market && isProposed(one));
  }

  /**
   * Whether an operator may move so much more today without a second person; if so it is counted. While the sums cannot
   * be read no operator moves money alone.
   */
  async movesAlone(way: LoneWay, name: string, amountMicro: number): Promise<boolean> {
    const { rule, clock, daySums } = this.#options;
    const limitMicro = rule.limitsMicro[way];
    const alone = { way, name, amountMicro, limitMicro, atMs: clock.nowMs() };
    return (await unlessUnavailable(() => daySums.add(alone))) ?? false;
  }

  /** Puts a request on the topic that waits for a second person; the same one that still waits is returned as it is. */
  request(asked: Request, who: string): Outcome {
    return this.#locked(async () => {
      const same = this.#sameOf(asked);
      return same ?? (await this.#add(this.#newOf(asked, who)));
    });
  }

  /**
   * Puts a resolution on the topic that needs no second person and can be challenged until `paysAtMs`; one with the
   * same payout that waits already is returned as it is.
   */
  propose(asked: Request, who: string, paysAtMs: number): Outcome {
    return this.#locked(async () => {
      const same = this.#conflictOf(asked);
      if (same !== null) return same;
      if (this.#isFull()) return tooManyProposals;
      const row = this.#newOf(asked, who);
      const { requestedAtMs: decidedAtMs } = row;
      return await this.#add({ ...row, decision: 'APPROVED', decidedAtMs, paysAtMs });
    });
  }

  /**
   * The decision of a second person, durable. The same decision again is that decision, so that an approved request
   * which was interrupted can be carried out again. With an approval the challenge window of a resolution begins.
   */
  decide(
    id: string,
    decision: 'APPROVED' | 'REJECTED',
    { operator, windowEndMs }: Decider,
  ): Outcome {
    return this.#locked(async () => {
      const known = this.find(id);
      if (known === undefined) return unknownApproval;
      const problem = this.#whyNotDecide(known, decision, operator);
      if (problem !== null) return problem;
      const isAgain = known.decision === decision;
      const decidedAtMs = this.#options.clock.nowMs();
      const decided = isAgain
        ? known
        : { ...known, decision, decidedBy: operator.name, decidedAtMs };
      if (decision === 'APPROVED' && known.action === 'resolveMarket')
        return await this.#openWindow(decided, windowEndMs);
      return isAgain ? known : await this.#write(decided);
    });
  }

  /** Makes a resolution void that waits or is proposed. The same again is the challenge that there is. */
  challenge(id: string, { name, reason, nowMs }: Challenger): Outcome {
    return this.#locked(async () => {
      const known = this.find(id);
      if (known === undefined) return unknownApproval;
      if (known.action !== 'resolveMarket') return refused('only a resolution can be challenged');
      if (known.challengedAtMs > 0) return known;
      if (!isProposed(known) && !isPending(known, nowMs))
        return refused(`it is ${stateOf(known, nowMs).replace('_', ' ')}`);
      if (isProposed(known) && (nowMs >= known.paysAtMs || this.#begun.has(id)))
        return refused('its challenge window has ended');
      const challenge = { challengedBy: name, challengedAtMs: nowMs, challengeReason: reason };
      return await this.#write({ ...known, ...challenge });
    });
  }

  /** The proposal as it is now, which can be challenged no more; null when it was. */
  begin(id: string): Promise<Approval | null> {
    return this.#locked(async () => {
      const known = this.find(id);
      if (known === undefined || known.challengedAtMs > 0) return null;
      this.#begun.add(id);
      return known;
    });
  }

  /**
   * Carries out what was approved, one call at a time, and notes it on the topic; null when it was carried out before.
   * A resolution is carried out again whenever it is asked for, which completes what broke off.
   */
  carryOut(id: string, work: (approval: Approval) => Promise<object>): Promise<object | null> {
    return this.#options.mutex.run(`approval ${id}`, async () => {
      const known = this.find(id);
      const isResolution = known?.action === 'resolveMarket';
      if (known === undefined || (!isResolution && known.carriedOutAtMs > 0)) return null;
      const result = await work(known);
      if (!isResolution && !isProblem(result)) await this.finish(id);
      return result;
    });
  }

  /** Notes on the topic that it was carried out. */
  finish(id: string): Promise<void> {
    return this.#locked(async () => {
      const known = this.find(id);
      if (known === undefined) return;
      if (known.carriedOutAtMs === 0)
        await this.#write({ ...known, carriedOutAtMs: this.#options.clock.nowMs() });
      this.#begun.delete(id);
    });
  }

  /** Gives a proposal another end of its window; null when it is none any more. */
  reopen(id: string, paysAtMs: number): Promise<Approval | null> {
    return this.#locked(async () => {
      const known = this.find(id);
      if (known === undefined || !isProposed(known)) return null;
      return await this.#write({ ...known, paysAtMs });
    });
  }

  #whyNotDecide(
    known: Approval,
    decision: 'APPROVED' | 'REJECTED',
    { name, roles }: OperatorEntry,
  ): OperatorProblem | null {
    const { role } = operatorRoutes[known.action as GuardedAction];
    if (!mayUse(roles, role)) return forbidden(`it takes the role ${role}`);
    if (known.requestedBy === name) return forbidden('a second person decides');
    if (known.challengedAtMs > 0) return refused('it is challenged');
    if (known.decision === decision) return this.#whyNotAgain(known);
    if (known.decision !== 'NONE') return refused(`it is ${known.decision.toLowerCase()}`);
    const isOpen = isPending(known, this.#options.clock.nowMs());
    return isOpen ? null : expired;
  }

  /**
   * Why an approved request is not carried out again, or null: an interrupted one is completed within its time; a
   * resolution is completed later too, since it pays only once in any case.
   */
  #whyNotAgain({
    action,
    decision,
    carriedOutAtMs,
    expiresAtMs,
  }: Approval): OperatorProblem | null {
    const isOpen = decision === 'APPROVED' && action !== 'resolveMarket' && carriedOutAtMs === 0;
    if (!isOpen || this.#options.clock.nowMs() < expiresAtMs) return null;
    return expired;
  }

  /** The window of an approved resolution begins, unless it has one or another proposal of the market waits. */
  async #openWindow(approval: Approval, windowEndMs: Decider['windowEndMs']): Outcome {
    if (approval.paysAtMs > 0) return approval;
    const other = this.proposalOf(approval.market);
    if (other !== undefined) return otherProposal(other);
    const paysAtMs = windowEndMs(approval);
    if (typeof paysAtMs !== 'number') return paysAtMs;
    if (paysAtMs > 0 && this.#isFull()) return tooManyProposals;
    const isWritten = this.find(approval.id)?.decision === approval.decision;
    return paysAtMs === 0 && isWritten ? approval : await this.#write({ ...approval, paysAtMs });
  }

  #locked<T>(task: () => Promise<T>): Promise<T> {
    return this.#options.mutex.run('approvals', task);
  }

  /**
   * The waiting request with the same content, or the reason why no further request may wait; null when the request is
   * new.
   */
  #sameOf(asked: Request): Approval | OperatorProblem | null {
    const conflict = this.#conflictOf(asked);
    if (conflict !== null) return conflict;
    const nowMs = this.#options.clock.nowMs();
    const waiting = this.list().filter((one) => isPending(one, nowMs));
    const hash = sha256(asked.body);
    const same = waiting.find(
      ({ action, subject, bodySha256 }) =>
        action === asked.action && subject === asked.subject && bodySha256.equals(hash),
    );
    if (same !== undefined) return same;
    return waiting.length >= approvalsMax ? refused('too many requests wait for approval') : null;
  }

  /** The proposal of the market, when it pays the same; otherwise it stands in the way. */
  #conflictOf({ action, market, body }: Request): Approval | OperatorProblem | null {
    const proposed = action === 'resolveMarket' ? this.proposalOf(market) : undefined;
    if (proposed === undefined) return null;
    const isSame = payoutOf(proposed) === payoutOf({ body: body.toString('utf8') });
    return isSame ? proposed : otherProposal(proposed);
  }

  #isFull(): boolean {
    return this.list().filter(isProposed).length >= proposalsMax;
  }

  #newOf({ action, market, subject, body }: Request, who: string): Approval {
    const nowMs = this.#options.clock.nowMs();
    return {
      ...undecided,
      id: randomUUID(),
      action,
      market,
      subject,
      body: body.toString('utf8'),
      bodySha256: sha256(body),
      requestedBy: who,
      requestedAtMs: nowMs,
      expiresAtMs: nowMs + this.#options.rule.windowMs,
    };
  }

  /** Writes a new approval and makes room for it. */
  async #add(approval: Approval): Promise<Approval> {
    const nowMs = this.#options.clock.nowMs();
    const counted = this.#options.rows.all().filter((one) => !isProposed(one));
    const over = Math.max(0, counted.length + 1 - approvalsMax);
    const oldest = counted.filter((one) => !isPending(one, nowMs)).slice(0, over);
    const dropped = oldest.map(({ id }) => ({ key: id, value: null }));
    await this.#options.table.write([{ key: approval.id, value: approval }, ...dropped]);
    return approval;
  }

  async #write(approval: Approval): Promise<Approval> {
    await this.#options.table.write([{ key: approval.id, value: approval }]);
    return approval;
  }
}

const undecided = {
  decision: 'NONE',
  decidedBy: '',
  decidedAtMs: 0,
  paysAtMs: 0,
  challengedBy: '',
  challengedAtMs: 0,
  challengeReason: '',
  carriedOutAtMs: 0,
} as const;

const unknownApproval: OperatorProblem = { status: 404, text: 'approval not found' };
const expired = refused('it has expired: send the request again');
const tooManyProposals = refused('too many resolutions wait for the end of their window');

function otherProposal(proposed: Approval): OperatorProblem {
  const payout = priceText(payoutOf(proposed) ?? 0);
  return refused(`it is proposed to pay ${payout}: challenge approval ${proposed.id} first`);
}

function sha256(body: Buffer): Buffer {
  return createHash('sha256').update(body).digest();
}

import type { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import type { Clock } from '@pm/kit/clock';
import { reactionTo } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import type { Approval } from '@pm/schemas/log/approvals';
import type { CatalogMarket } from '@pm/schemas/log/catalog';
import type { OperatorEntry } from '@pm/schemas/operators';
import type { Approvals, Challenger, Request } from './approvals.io.ts';
import type { OperatorAudit } from './audit-trail.io.ts';
import type { CatalogServices } from './catalog/matcher-market.io.ts';
import { countingApprovals, isProposed, payoutOf, shownWith } from './proposals.ts';
import { notFound, type OperatorProblem } from './requests.io.ts';
import { ResolutionTrail } from './resolution-trail.io.ts';
import { judgeResolution, resolveMarket } from './resolve-market.io.ts';

export interface ResolutionsOptions {
  readonly approvals: Approvals;
  readonly catalog: CatalogServices;
  readonly partitions: Pick<PartitionLiveness, 'at' | 'isReady'>;
  readonly audit: Pick<OperatorAudit, 'append'>;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/**
 * Time after the window before a resolution is carried out, milliseconds of the partition's clock: a challenge of the
 * last moment that another process took has been read by then.
 */
export const settleMs = 2_000;

/** The catalog may show another state than the approval for so long, milliseconds: another process is writing it. */
export const unshownMaxMs = 10_000;

/** Time between two attempts to carry out one resolution, milliseconds. */
export const retryMs = 10_000;

/**
 * Resolutions that can be challenged before they pay. An approval says what holds; the catalog shows it to the public,
 * and nothing is carried out that the catalog has not shown for a whole window.
 */
export class Resolutions {
  readonly #options: ResolutionsOptions;
  readonly #trail: ResolutionTrail;
  /** When this process first saw that the catalog does not show an approval, by id; monotonic milliseconds. */
  readonly #unshownSince = new Map<string, number>();
  readonly #triedAt = new Map<string, number>();

  constructor(options: ResolutionsOptions) {
    this.#options = options;
    this.#trail = new ResolutionTrail(options);
  }

  /**
   * Takes a resolution that can be challenged; null when it is to be carried out at once. Rejects with a `Fault`.
   */
  async ask(asked: Request, who: string): Promise<Approval | OperatorProblem | null> {
    const { approvals } = this.#options;
    const market = this.#options.catalog.catalog.findMarket(asked.market);
    if (market === undefined) return notFound;
    const paysAtMs = this.#windowEndMs(market);
    if (paysAtMs === 0 && approvals.proposalOf(asked.market) === undefined) return null;
    return await this.#shown(await approvals.propose(asked, who, paysAtMs));
  }

  /** The decision of a second person; the window of an approved resolution begins with it. Rejects with a `Fault`. */
  async decide(
    id: string,
    decision: 'APPROVED' | 'REJECTED',
    operator: OperatorEntry,
  ): Promise<Approval | OperatorProblem> {
    const windowEndMs = (approval: Approval) => this.#windowOf(approval);
    const decider = { operator, windowEndMs };
    return await this.#shown(await this.#options.approvals.decide(id, decision, decider));
  }

  /** Makes a resolution void. Rejects with a `Fault`. */
  async challenge(
    id: string,
    challenger: Omit<Challenger, 'nowMs'>,
  ): Promise<Approval | OperatorProblem> {
    const { approvals, catalog } = this.#options;
    const nowMs = this.#laterClockMs(catalog.catalog.findMarket(approvals.find(id)?.market ?? 0));
    return await this.#shown(await approvals.challenge(id, { ...challenger, nowMs }));
  }

  /** Resolutions whose window has ended and that are not carried out. */
  dueCount(): number {
    const nowMs = this.#options.clock.nowMs();
    const { approvals } = this.#options;
    return approvals.list().filter((one) => isProposed(one) && nowMs >= one.paysAtMs + settleMs)
      .length;
  }

  /**
   * Carries out what is due and mends what the catalog shows. A fault that passes is tried again later; rejects with
   * one that does not.
   */
  async tick(): Promise<void> {
    for (const approval of countingApprovals(this.#options.approvals.list()).values()) {
      await this.#settle(approval).catch((error: unknown) => {
        if (reactionTo(error) === 'stop') throw error;
        this.#options.log.warn({ err: error, approval: approval.id }, 'a resolution waits');
      });
    }
  }

  async #settle(approval: Approval): Promise<void> {
    const market = this.#options.catalog.catalog.findMarket(approval.market);
    if (market === undefined) return;
    if (isShown(market, approval)) {
      this.#unshownSince.delete(approval.id);
      if (isProposed(approval) && this.#isDue(approval, market)) await this.#carryOut(approval);
    } else if (this.#isUnshownForLong(approval.id)) {
      await this.#mend(approval, market);
    }
  }

  /** Completes what a process that has ended left half done. A window that was never shown begins again. */
  async #mend(approval: Approval, market: CatalogMarket): Promise<void> {
    // The next attempt comes as late.
    this.#unshownSince.set(approval.id, this.#options.clock.monotonicMs());
    const isBegun = approval.carriedOutAtMs > 0 || market.payout0 >= 0;
    if (isBegun) return await this.#carryOut(approval);
    if (isProposed(approval)) {
      const paysAtMs = this.#windowEndMs(market) || approval.paysAtMs;
      await this.#options.approvals.reopen(approval.id, paysAtMs);
    }
    await this.#show(approval.market);
  }

  async #carryOut({ id }: Approval): Promise<void> {
    const { approvals, catalog, clock, log } = this.#options;
    const triedAtMs = this.#triedAt.get(id) ?? Number.NEGATIVE_INFINITY;
    if (clock.monotonicMs() < triedAtMs + retryMs) return;
    this.#triedAt.set(id, clock.monotonicMs());
    const approval = await approvals.begin(id);
    if (approval === null) return;
    await this.#trail.begin(approval);
    const { market, body } = approval;
    const result = await resolveMarket(market, JSON.parse(body), catalog, true);
    const status = 'status' in result ? result.status : 200;
    if ('status' in result) {
      log.warn({ approval: id, market, problem: result.text }, 'a resolution is not carried out');
    } else {
      await approvals.finish(id);
      this.#triedAt.delete(id);
      log.info({ approval: id, market }, 'a resolution was carried out at the end of its window');
    }
    await this.#trail.end(approval, status);
  }

  /**
   * Whether the window has ended by the clock of this process and by that of the partition, which the log bounds: one
   * clock that is ahead pays nothing early.
   */
  #isDue({ paysAtMs }: Approval, { partition }: CatalogMarket): boolean {
    const { clock, partitions } = this.#options;
    const { clockMs } = partitions.at(partition);
    const isOver = Math.min(clock.nowMs(), clockMs) >= paysAtMs + settleMs;
    return isOver && partitions.isReady(partition);
  }

  /** End of the window of an approved resolution; 0 also where it only completes one that was carried out. */
  #windowOf(approval: Approval): number | OperatorProblem {
    const market = this.#options.catalog.catalog.findMarket(approval.market);
    const payout0 = payoutOf(approval);
    if (market === undefined || payout0 === null) return notFound;
    const judged = judgeResolution(market, payout0);
    if (typeof judged !== 'string') return judged;
    return judged === 'again' ? 0 : this.#windowEndMs(market);
  }

  /** End of a window that begins now, by the later of the two clocks; 0 where there is none. */
  #windowEndMs(market: CatalogMarket): number {
    const { challengeMs } = this.#options.approvals.rule;
    return challengeMs === 0 ? 0 : this.#laterClockMs(market) + challengeMs;
  }

  /** The later of the clocks of this process and of the partition of a market, Unix milliseconds. */
  #laterClockMs(market: CatalogMarket | undefined): number {
    const { clock, partitions } = this.#options;
    const logMs = market === undefined ? 0 : partitions.at(market.partition).clockMs;
    return Math.max(clock.nowMs(), logMs);
  }

  #isUnshownForLong(id: string): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const sinceMs = this.#unshownSince.get(id) ?? nowMs;
    this.#unshownSince.set(id, sinceMs);
    return nowMs - sinceMs >= unshownMaxMs;
  }

  async #shown(outcome: Approval | OperatorProblem): Promise<Approval | OperatorProblem> {
    if (!('status' in outcome) && outcome.paysAtMs > 0) await this.#show(outcome.market);
    return outcome;
  }

  /** Writes to the catalog what holds for a market by its approvals, unless it is there. */
  #show(number: number): Promise<void> {
    const { catalog, clock, locks, writer } = this.#options.catalog;
    return locks.market(number, async () => {
      const market = catalog.findMarket(number);
      const approval = countingApprovals(this.#options.approvals.list()).get(number);
      if (market === undefined || approval === undefined) return;
      const shown = shownWith(market, approval);
      if (shown !== market) await writer.writeEntries([{ ...shown, updatedAtMs: clock.nowMs() }]);
    });
  }
}

/** Whether the catalog shows what an approval says. A resolved market is of one that is carried out, and only there. */
function isShown(market: CatalogMarket, approval: Approval): boolean {
  const isResolved = market.payout0 >= 0;
  if (approval.carriedOutAtMs > 0 || isResolved) return isResolved && !isProposed(approval);
  return shownWith(market, approval) === market;
}

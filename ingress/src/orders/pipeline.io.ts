import type { ListedToken } from '@pm/domain/catalog/catalog-index';
import { waiterOf } from '@pm/domain/commands/waiting-shares';
import type { OrderHasher } from '@pm/domain/orders/eip712';
import type { SignatureJob, SignatureResult } from '@pm/domain/orders/signature';
import type { Clock } from '@pm/kit/clock';
import { hexBytes } from '@pm/schemas/ids';
import type { RefusalCode } from '@pm/schemas/refusals';
import { type NewMarkets, readWithNewMarkets } from '../catalog/new-markets.io.ts';
import type { IngressMetrics } from '../metrics.ts';
import {
  type Caller,
  type CheckedOrder,
  checkRules,
  type OrderRefusal,
  type OrderTables,
  type UnprovenOrder,
} from './check.ts';
import { deferredRefused, type IsSubmission, type OrderForm, readOrderForm } from './form.ts';
import type { SignaturePool } from './signature-pool.io.ts';
import type { UnfundedRequests } from './unfunded-requests.io.ts';

export interface OrderPipelineOptions extends OrderTables {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly newMarkets: NewMarkets;
  readonly hashes: Pick<OrderHasher, 'structHash' | 'likelyId'>;
  readonly signatures: Pick<SignaturePool, 'check'>;
  readonly metrics: Pick<IngressMetrics, 'stage'>;
  readonly unfunded: Pick<UnfundedRequests, 'waitSeconds' | 'refused'>;
}

/** Collects findings about each order that has a form, for a request that wants to know more than the first refusal. */
export interface OrderReporter {
  add(finding: OrderFinding): void;
}

export interface OrderFinding {
  readonly form: OrderForm;
  readonly token: ListedToken | undefined;
  readonly rules: UnprovenOrder | OrderRefusal;
  readonly job: SignatureJob;
  /** Null when the signature proves nothing here, or when there is none. */
  readonly hash: Buffer | null;
}

/** An item between its rules and its signature. */
interface Step {
  readonly form: OrderForm;
  readonly rules: UnprovenOrder | OrderRefusal;
  readonly job: SignatureJob;
}

/**
 * Takes orders from the form to the checked order. The order of the checks is that of their cost (architecture.md,
 * Checks). Placing and the dry run both come through here.
 */
export class OrderPipeline {
  readonly #options: OrderPipelineOptions;
  readonly #isSubmission: IsSubmission;

  constructor(options: OrderPipelineOptions, isSubmission: IsSubmission) {
    this.#options = options;
    this.#isSubmission = isSubmission;
  }

  /**
   * One checked order or refusal per item, in their order; or the refusal of the whole request. With a reporter, the
   * signatures of orders that break a rule are checked, too, and an order without one passes with the id that it would
   * have.
   */
  async check(
    items: readonly unknown[],
    caller: Caller,
    reporter?: OrderReporter,
  ): Promise<readonly (CheckedOrder | OrderRefusal)[] | RefusalCode> {
    const { clock, newMarkets } = this.#options;
    // Stages are those of placements; a dry run is none.
    const metrics = reporter === undefined ? this.#options.metrics : undefined;
    let checkMs = 0;
    const rule = () => {
      const startedMs = clock.monotonicMs();
      const steps = this.#checkRules(items, caller, this.#waitSeconds(caller, reporter));
      checkMs += clock.monotonicMs() - startedMs;
      return steps;
    };
    const steps = await readWithNewMarkets(rule, namesUnknownMarket, newMarkets);
    metrics?.stage('check', checkMs);
    if (steps === null) return 'invalid_payload';
    const ruledMs = clock.monotonicMs();
    const proven = await this.#prove(steps, caller, reporter);
    metrics?.stage('signature', clock.monotonicMs() - ruledMs);
    return proven ?? 'overloaded';
  }

  /** Until the caller may sell; null when it may, as in a dry run. */
  #waitSeconds(caller: Caller, reporter: OrderReporter | undefined): number | null {
    return reporter === undefined ? this.#options.unfunded.waitSeconds(waiterOf(caller)) : null;
  }

  /** Null when an item is malformed. `waitSeconds`: until the caller may sell; null when it may now. */
  #checkRules(
    items: readonly unknown[],
    caller: Caller,
    waitSeconds: number | null,
  ): readonly (Step | OrderRefusal)[] | null {
    const steps: (Step | OrderRefusal)[] = [];
    const seen = new Set<string>();
    const owner = hexBytes(caller.address);
    for (const item of items) {
      const form = readOrderForm(item, this.#isSubmission);
      if (form === 'invalid_payload') return null;
      if (typeof form === 'string') {
        const detail = form === 'invalid_request' ? deferredRefused : '';
        steps.push({ kind: 'refused', code: form, facts: { detail } });
        continue;
      }
      if (waitSeconds !== null && form.struct.side === 'SELL') {
        steps.push({ kind: 'refused', code: 'rate_limited', waitSeconds });
        continue;
      }
      const checked = checkRules(form, caller, this.#options);
      const job = this.#jobOf(form, owner);
      const rules = checked.kind === 'refused' ? checked : repetitionOf(job.structHash, seen);
      steps.push({ form, rules: rules ?? checked, job });
    }
    return steps;
  }

  /** Checks all signatures of the request together; null when the queue of checks is full. */
  async #prove(
    steps: readonly (Step | OrderRefusal)[],
    caller: Caller,
    reporter: OrderReporter | undefined,
  ): Promise<readonly (CheckedOrder | OrderRefusal)[] | null> {
    const isUnsigned = ({ job }: Step) => reporter !== undefined && job.signature.length === 0;
    const isChecked = (step: Step | OrderRefusal): step is Step =>
      'job' in step &&
      (step.rules.kind === 'checked' || reporter !== undefined) &&
      !isUnsigned(step);
    const jobs = steps.filter(isChecked).map(({ job }) => job);
    const verdicts =
      jobs.length === 0 ? [] : await this.#options.signatures.check(jobs, waiterOf(caller));
    if (verdicts === null) return null;
    let next = 0;
    return steps.map((step) => {
      if (!('job' in step)) return step;
      const verdict = isChecked(step) ? (verdicts[next++] ?? null) : null;
      const hash = verdict === 'other_domain' ? null : verdict;
      reporter?.add({ ...step, hash, token: this.#options.markets.findToken(step.form.tokenId) });
      return this.#conclude(step, isUnsigned(step) ? this.#likelyHash(step) : verdict);
    });
  }

  #likelyHash({ job }: Step): Buffer {
    return hexBytes(this.#options.hashes.likelyId(job.structHash, job.negRisk));
  }

  #conclude({ rules, job }: Step, verdict: SignatureResult): CheckedOrder | OrderRefusal {
    if (rules.kind === 'refused') {
      const id = this.#options.hashes.likelyId(job.structHash, job.negRisk);
      return { ...rules, facts: { ...rules.facts, id } };
    }
    if (verdict === 'other_domain') return { kind: 'refused', code: 'other_signing_domain' };
    if (verdict === null) return { kind: 'refused', code: 'invalid_signature' };
    return { ...rules, hash: verdict };
  }

  #jobOf({ struct, signature, tokenId }: OrderForm, owner: Buffer): SignatureJob {
    const structHash = this.#options.hashes.structHash(struct);
    const negRisk = this.#options.markets.findToken(tokenId)?.market.negRisk ?? false;
    const wrapped = struct.signatureType === 3;
    return { signature, structHash, wrapped, negRisk, owner, maker: struct.maker };
  }
}

function namesUnknownMarket(steps: readonly (Step | OrderRefusal)[] | null): boolean {
  const isUnknown = (step: Step | OrderRefusal) => {
    const rules = 'rules' in step ? step.rules : step;
    return rules.kind === 'refused' && rules.code === 'market_not_found';
  };
  return steps?.some(isUnknown) === true;
}

/** The refusal of an order that is in the request twice. */
function repetitionOf(structHash: Buffer, seen: Set<string>): OrderRefusal | null {
  const name = structHash.toString('latin1');
  if (seen.has(name)) return { kind: 'refused', code: 'duplicate' };
  seen.add(name);
  return null;
}

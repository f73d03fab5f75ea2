import { unlessUnavailable } from '@pm/domain/requests/requests.io';
import type { PlacementResult } from '@pm/schemas/http/trading';
import { outageOf, type RefusalCode } from '@pm/schemas/refusals';
import type { Attempt } from '../http/idempotency.io.ts';
import type { IngressMetrics } from '../metrics.ts';
import type { CheckedOrder, OrderRefusal } from './check.ts';
import { decodeAttempts, encodeAttempts, type SentOrder } from './command.ts';
import { refusedResponse } from './order-response.ts';
import type { OrderPipeline } from './pipeline.io.ts';
import type { OrderSubmitter, Placement } from './submit.io.ts';

/**
 * One refusal of a whole request. `isOpen`: the result of an earlier attempt is not known yet; `item` is that of the
 * first order of which this is so.
 */
export interface PlacementRefusal {
  readonly code: RefusalCode;
  readonly isOpen?: true;
  readonly item?: PlacementResult;
}

type Placed = readonly PlacementResult[] | PlacementRefusal;

interface PlacementsOptions {
  readonly pipeline: OrderPipeline;
  readonly submitter: OrderSubmitter;
  readonly metrics: Pick<IngressMetrics, 'placed' | 'refused'>;
}

/** Places the orders of a request. */
export class Placements {
  readonly #options: PlacementsOptions;

  constructor(options: PlacementsOptions) {
    this.#options = options;
  }

  /**
   * One result per item, in their order. An ill-formed item refuses the request before anything is done. `attempt` is
   * that of a request with an idempotency key.
   */
  async place(items: readonly unknown[], placement: Placement, attempt?: Attempt): Promise<Placed> {
    const checked = await this.#options.pipeline.check(items, placement.caller);
    if (checked === 'invalid_payload') return { code: checked };
    placement.times.mark('validate');
    if (typeof checked === 'string') return { code: checked };
    if (attempt === undefined) return this.#count(await this.#submit(checked, placement));
    return await this.#submitOnce(checked, placement, attempt);
  }

  #count(results: readonly PlacementResult[]): readonly PlacementResult[] {
    for (const { code, status } of results) {
      if (code === undefined) this.#options.metrics.placed(status);
      else this.#options.metrics.refused(code);
    }
    return results;
  }

  /** `known` holds the results of items that an earlier attempt has sent. */
  async #submit(
    checked: readonly (CheckedOrder | OrderRefusal)[],
    placement: Placement,
    known: readonly (PlacementResult | null)[] = [],
  ): Promise<readonly PlacementResult[]> {
    const results = checked.map((order, index) => {
      const result = known[index] ?? null;
      if (result !== null) return result;
      if (order.kind === 'checked') return this.#options.submitter.submit(order, placement);
      return refusedResponse(order.code, order.facts, order);
    });
    return await Promise.all(results);
  }

  /**
   * Orders that an earlier attempt was about to send are asked for first: their results count. Only items that never
   * came and never can are sent now, after the list of what is sent has been stored.
   */
  async #submitOnce(
    checked: readonly (CheckedOrder | OrderRefusal)[],
    placement: Placement,
    attempt: Attempt,
  ): Promise<Placed> {
    const { submitter } = this.#options;
    const before = attempt.sent === '' ? [] : decodeAttempts(attempt.sent);
    if (before === null) return { code: 'internal_error', isOpen: true };
    const known = await Promise.all(
      before.map((one) => (one === null ? null : submitter.ask(one, placement.caller))),
    );
    const unknown = known.find((result) => result !== null && isUnknown(result));
    if (unknown) return { code: unknown.code as RefusalCode, isOpen: true, item: unknown };
    const sent = checked.map((order, index): SentOrder | null => {
      if ((known[index] ?? null) !== null) return before[index] ?? null;
      return order.kind === 'checked' ? submitter.sentOrderOf(order, placement) : null;
    });
    const isRecorded = await unlessUnavailable(() => attempt.record(encodeAttempts(sent)));
    if (isRecorded === null) return { code: 'retries_unavailable', isOpen: true };
    if (!isRecorded) return { code: 'idempotency_in_progress', isOpen: true };
    return this.#count(await this.#submit(checked, placement, known));
  }
}

const unknownCodes: ReadonlySet<string> = new Set<RefusalCode>([
  'internal_error',
  'order_unconfirmed',
]);

/** Whether the log could not be asked, or did not answer. */
function isUnknown({ code }: PlacementResult): boolean {
  if (code === undefined) return false;
  return unknownCodes.has(code) || outageOf(code as RefusalCode) === 'unsent';
}

import { unlessUnavailable } from '@pm/domain/requests/requests.io';
import type { StageTimes } from '@pm/domain/requests/stage-times.io';
import type { PlacementResult } from '@pm/schemas/http/trading';
import { retryLimits } from '@pm/schemas/redis/keys';
import { outageOf, type RefusalCode } from '@pm/schemas/refusals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type Attempt,
  type HttpResponse,
  type IdempotencyMemory,
  idempotent,
  send,
} from '../http/idempotency.io.ts';
import { readBookTimes, readIdempotencyKey } from '../http/request-headers.ts';
import type { IngressMetrics } from '../metrics.ts';
import type { Caller, CheckedOrder, OrderRefusal } from './check.ts';
import { decodeAttempts, encodeAttempts, type SentOrder } from './command.ts';
import { type IsSubmission, meaningOf } from './form.ts';
import { refusedResponse } from './order-response.ts';
import type { OrderPipeline } from './pipeline.io.ts';
import { type PlacementRefusal, refusalResponse, requestRefusal } from './placement-response.io.ts';
import type { OrderSubmitter, PlacementContext } from './submit.io.ts';

type Placed = readonly PlacementResult[] | PlacementRefusal;

/** A context of either route: its items, and the form of its response. */
export interface PlacementRequest {
  readonly route: '/order' | '/orders';
  readonly items: readonly unknown[];
  response(results: readonly PlacementResult[]): HttpResponse;
}

interface PlacementsOptions {
  readonly pipeline: OrderPipeline;
  readonly submitter: OrderSubmitter;
  readonly idempotencyKeys: IdempotencyMemory;
  readonly isSubmission: IsSubmission;
  readonly metrics: Pick<IngressMetrics, 'placed' | 'refused'>;
}

/** A request with its caller and the clock of its stages. */
interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
  readonly times: StageTimes;
}

/** Takes a request with orders to its response. */
export class Placements {
  readonly #options: PlacementsOptions;

  constructor(options: PlacementsOptions) {
    this.#options = options;
  }

  /**
   * Places and responds, once if the request has an idempotency key, with `Server-Timing` (conventions.md 3.9, 3.8,
   * 3.10).
   */
  async respond(
    { route, items, response }: PlacementRequest,
    { request, reply, caller, times }: Exchange,
  ): Promise<FastifyReply> {
    const bookTimes = readBookTimes(request.headers, caller.arrivedAtMs);
    if (typeof bookTimes === 'string')
      return send(refusalResponse('invalid_request', { detail: bookTimes }), reply);
    const key = readIdempotencyKey(request.headers['idempotency-key']);
    if (key === null) {
      const facts = { max: retryLimits.keyMaxChars };
      return send(refusalResponse('idempotency_key_invalid', facts), reply);
    }
    const traced = request.trace === undefined ? {} : { requestTrace: request.trace };
    const context: PlacementContext = { caller, ...bookTimes, times, ...traced };
    const place = async (attempt?: Attempt) => {
      const placed = await this.place(items, context, attempt);
      times.writeTo(reply);
      return 'code' in placed ? requestRefusal(placed) : response(placed);
    };
    if (key === undefined) return send(await place(), reply);
    const meaning = meaningOf(items, this.#options.isSubmission);
    if (meaning === null) return send(refusalResponse('invalid_payload'), reply);
    const owner = { caller: caller.apiKey, wallet: caller.address };
    const identity = { ...owner, kind: 'orders', route, key, meaning } as const;
    return await idempotent(identity, { keys: this.#options.idempotencyKeys, reply }, place);
  }

  /**
   * One result per item, in their order. An ill-formed item refuses the request before anything is done. `attempt` is
   * that of a request with an idempotency key.
   */
  async place(
    items: readonly unknown[],
    context: PlacementContext,
    attempt?: Attempt,
  ): Promise<Placed> {
    const checked = await this.#options.pipeline.check(items, context.caller);
    if (checked === 'invalid_payload') return { code: checked };
    context.times.mark('validate');
    if (typeof checked === 'string') return { code: checked };
    if (attempt === undefined) return this.#count(await this.#submit(checked, context));
    return await this.#submitOnce(checked, context, attempt);
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
    context: PlacementContext,
    known: readonly (PlacementResult | null)[] = [],
  ): Promise<readonly PlacementResult[]> {
    const results = checked.map((order, index) => {
      const result = known[index] ?? null;
      if (result !== null) return result;
      if (order.kind === 'checked') return this.#options.submitter.submit(order, context);
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
    context: PlacementContext,
    attempt: Attempt,
  ): Promise<Placed> {
    const { submitter } = this.#options;
    const before = attempt.sent === '' ? [] : decodeAttempts(attempt.sent);
    if (before === null) return { code: 'internal_error', isOpen: true };
    const known = await Promise.all(
      before.map((one) => (one === null ? null : submitter.ask(one, context.caller))),
    );
    const unknown = known.find((result) => result !== null && isUnknown(result));
    if (unknown) return { code: unknown.code as RefusalCode, isOpen: true, item: unknown };
    const sent = checked.map((order, index): SentOrder | null => {
      if ((known[index] ?? null) !== null) return before[index] ?? null;
      return order.kind === 'checked' ? submitter.sentOrderOf(order, context) : null;
    });
    const isRecorded = await unlessUnavailable(() => attempt.record(encodeAttempts(sent)));
    if (isRecorded === null) return { code: 'retries_unavailable', isOpen: true };
    if (!isRecorded) return { code: 'idempotency_in_progress', isOpen: true };
    return this.#count(await this.#submit(checked, context, known));
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

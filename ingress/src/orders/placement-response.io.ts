import { refusalBody } from '@pm/kit/http';
import type { PlacementResult } from '@pm/schemas/http/trading';
import { hasRetryAfter, retryAfterSeconds } from '@pm/schemas/refusal-codes';
import { outageOf, type RefusalCode, refusals } from '@pm/schemas/refusals';
import type { HttpResponse } from '../http/idempotency.io.ts';

/**
 * One refusal of a whole request. `isOpen`: the result of an earlier attempt is not known yet; `item` is that of the
 * first order of which this is so.
 */
export interface PlacementRefusal {
  readonly code: RefusalCode;
  readonly isOpen?: true;
  readonly item?: PlacementResult;
}

/** One result as the response of POST /order: a refused one has the status of its refusal and its text as `error`. */
export function singleResponse([result]: readonly PlacementResult[]): HttpResponse {
  if (result === undefined) return refusalResponse('internal_error');
  if (result.success) return { kind: 'final', status: 200, body: result };
  const { retry_after_seconds: wait } = result;
  const code = result.code as RefusalCode;
  return {
    kind: kindOf(code),
    status: refusals[code].status,
    headers: wait === undefined ? {} : { 'retry-after': String(wait) },
    body: { ...result, error: result.errorMsg },
  };
}

/** All results as the response of POST /orders; one refusal when nothing at all can be placed now. */
export function batchResponse(results: readonly PlacementResult[]): HttpResponse {
  const outage = commonOutage(results);
  if (outage !== null) return refusalResponse(outage, {}, results[0]?.retry_after_seconds);
  const isOpen = results.some(({ code }) => code === unconfirmed);
  return { kind: isOpen ? 'open' : 'final', status: 200, body: results };
}

/** A result that is not known yet may still come, and the next retry asks for it. */
const unconfirmed: RefusalCode = 'order_unconfirmed';

function kindOf(code: RefusalCode): HttpResponse['kind'] {
  if (code === unconfirmed) return 'open';
  return outageOf(code) === undefined ? 'final' : 'nothing';
}

/** The response of a request that is refused as a whole. */
export function requestRefusal({ code, isOpen, item }: PlacementRefusal): HttpResponse {
  const response = item === undefined ? refusalResponse(code) : singleResponse([item]);
  return isOpen === true ? { ...response, kind: 'open' } : response;
}

/** The response of a request that placed nothing. */
export function refusalResponse(
  code: RefusalCode,
  facts: Readonly<Record<string, string | number>> = {},
  seconds = retryAfterSeconds(code),
): HttpResponse {
  const { status } = refusals[code];
  const headers = hasRetryAfter(code) ? { 'retry-after': String(seconds) } : {};
  const wait = seconds === undefined ? {} : { retryAfterSeconds: seconds };
  return { kind: 'nothing', status, headers, body: refusalBody(code, facts, wait) };
}

/**
 * The refusal that all items share when nothing at all can be placed now: then it is the request that fails. Post-only
 * mode stays with its items (conventions.md 3.7).
 */
function commonOutage(results: readonly PlacementResult[]): RefusalCode | null {
  const code = results[0]?.code as RefusalCode | undefined;
  const outage = code === undefined ? undefined : outageOf(code);
  if (code === undefined || outage === undefined || outage === 'limited') return null;
  return results.every((result) => result.code === code) ? code : null;
}

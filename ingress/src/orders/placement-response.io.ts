import type { StageTimes } from '@pm/domain/requests/stage-times.io';
import { refusalBody } from '@pm/kit/http';
import type { PlacementResult } from '@pm/schemas/http/trading';
import { retryLimits } from '@pm/schemas/redis/keys';
import { hasRetryAfter, retryAfterSeconds } from '@pm/schemas/refusal-codes';
import { outageOf, type RefusalCode, refusals } from '@pm/schemas/refusals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type HttpResponse,
  type IdempotencyMemory,
  idempotent,
  send,
} from '../http/idempotency.io.ts';
import { readBookTimes, readIdempotencyKey } from '../http/request-headers.ts';
import type { Caller } from './check.ts';
import { type IsSubmission, meaningOf } from './form.ts';
import type { PlacementRefusal, Placements } from './placements.io.ts';
import type { Placement } from './submit.io.ts';

/** A placement of either route: its items, and the form of its response. */
export interface PlacementRequest {
  readonly route: '/order' | '/orders';
  readonly items: readonly unknown[];
  response(results: readonly PlacementResult[]): HttpResponse;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
  readonly times: StageTimes;
}

interface PlacementServices {
  readonly placements: Placements;
  readonly idempotencyKeys: IdempotencyMemory;
  readonly isSubmission: IsSubmission;
}

/**
 * Places and responds, once if the request has an idempotency key, with `Server-Timing` (conventions.md 3.9, 3.8,
 * 3.10).
 */
export async function respondToPlacement(
  { route, items, response }: PlacementRequest,
  { request, reply, caller, times }: Exchange,
  { placements, idempotencyKeys, isSubmission }: PlacementServices,
): Promise<FastifyReply> {
  const bookTimes = readBookTimes(request.headers, caller.arrivedAtMs);
  if (typeof bookTimes === 'string')
    return send(refusalResponse('invalid_request', { detail: bookTimes }), reply);
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  if (key === null) {
    const facts = { max: retryLimits.keyMaxChars };
    return send(refusalResponse('idempotency_key_invalid', facts), reply);
  }
  const requestTrace = request.trace;
  const traced = requestTrace === undefined ? {} : { requestTrace };
  const placement: Placement = { caller, ...bookTimes, times, ...traced };
  const place = async (attempt?: Parameters<Placements['place']>[2]) => {
    const placed = await placements.place(items, placement, attempt);
    times.writeTo(reply);
    return 'code' in placed ? requestRefusal(placed) : response(placed);
  };
  if (key === undefined) return send(await place(), reply);
  const meaning = meaningOf(items, isSubmission);
  if (meaning === null) return send(refusalResponse('invalid_payload'), reply);
  const identity = {
    caller: caller.apiKey,
    wallet: caller.address,
    kind: 'orders',
    route,
    key,
    meaning,
  } as const;
  return await idempotent(identity, { keys: idempotencyKeys, reply }, place);
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

function requestRefusal({ code, isOpen, item }: PlacementRefusal): HttpResponse {
  const response = item === undefined ? refusalResponse(code) : singleResponse([item]);
  return isOpen === true ? { ...response, kind: 'open' } : response;
}

/** The response of a request that placed nothing. */
function refusalResponse(
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

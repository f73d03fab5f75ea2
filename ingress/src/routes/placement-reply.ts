import { refusalBody } from '@pm/kit/http';
import {
  type PlacementResult,
  type RefusalCode,
  refusals,
  retryLimits,
  timeToBookHeader,
} from '@pm/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../core/check-order.ts';
import { readRetryKey } from '../core/retry-key.ts';
import { readTimeToBook } from '../core/time-to-book.ts';
import type { Placing } from './order-runner.ts';
import type { Placement, Placements } from './place-orders.ts';
import type { DoorPorts } from './ports.ts';
import { type Answered, runOnce, send } from './run-once.ts';
import type { StageTimes } from './stage-times.ts';

/** Seconds after which a request that waiting helps is worth another try. */
const retryAfterSeconds = 1;

/** A placement of either route: its items, and what its answer looks like. */
export interface Asked {
  readonly route: '/order' | '/orders';
  readonly items: readonly unknown[];
  answer(results: readonly PlacementResult[]): Answered;
}

export interface PlacementWork {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
  readonly times: StageTimes;
}

/** Places and answers, once if the request has a retry key, with `Server-Timing` (conventions.md 1.15, 3.9, 3.10). */
export async function replyToPlacement(
  asked: Asked,
  work: PlacementWork,
  { placements, ports }: { readonly placements: Placements; readonly ports: DoorPorts },
): Promise<FastifyReply> {
  const { request, reply, caller, times } = work;
  const ageLimitMs = readTimeToBook(request.headers[timeToBookHeader.toLowerCase()]);
  if (ageLimitMs === null) {
    const detail = `${timeToBookHeader} is no whole number of milliseconds`;
    return send(refusedAnswer('invalid_request', { detail }), reply);
  }
  const key = readRetryKey(request.headers['idempotency-key']);
  if (key === null) {
    return send(refusedAnswer('idempotency_key_invalid', { max: retryLimits.keyMaxChars }), reply);
  }
  const placing: Placing = { caller, ageLimitMs, times };
  const tell = (answered: Answered) => {
    times.tell(reply);
    return answered;
  };
  if (key === undefined) {
    const placement = await placements.place(asked.items, placing);
    return send(tell(answerOf(placement, asked)), reply);
  }
  const meaning = placements.meaningOf(asked.items);
  if (meaning === null) return send(refusedAnswer('invalid_payload'), reply);
  const retried = { caller: caller.apiKey, route: asked.route, key, meaning };
  return await runOnce(retried, { retries: ports.retries, reply }, async (turn) =>
    tell(answerOf(await placements.place(asked.items, placing, turn), asked)),
  );
}

/** One result as the answer of POST /order: a refused one has the status of its refusal and its text as `error`. */
export function singleAnswer([result]: readonly PlacementResult[]): Answered {
  if (result === undefined) return refusedAnswer('internal_error');
  if (result.success) return { kind: 'final', status: 200, body: result };
  const { retry_after_seconds: wait } = result;
  const code = result.code as RefusalCode;
  return {
    kind: outages.has(code) ? 'nothing' : 'final',
    status: refusals[code].status,
    headers: wait === undefined ? {} : { 'retry-after': String(wait) },
    body: { ...result, error: result.errorMsg },
  };
}

/** All results as the answer of POST /orders; one refusal when nothing at all can be placed now. */
export function batchAnswer(results: readonly PlacementResult[]): Answered {
  const outage = commonOutage(results);
  return outage === null ? { kind: 'final', status: 200, body: results } : refusedAnswer(outage);
}

function answerOf(placement: Placement, { answer }: Asked): Answered {
  if (placement.kind === 'results') return answer(placement.results);
  const refused = refusedAnswer(placement.code);
  return placement.isOpen === true ? { ...refused, kind: 'open' } : refused;
}

/** A request that placed nothing. */
function refusedAnswer(
  code: RefusalCode,
  facts: Readonly<Record<string, string | number>> = {},
): Answered {
  const { status } = refusals[code];
  const waits = waitingStatuses.has(status);
  const headers = waits ? { 'retry-after': String(retryAfterSeconds) } : {};
  const isRunning = code === 'idempotency_in_progress';
  const extra = waits || isRunning ? { retryAfterSeconds } : {};
  return { kind: 'nothing', status, headers, body: refusalBody(code, facts, extra) };
}

const waitingStatuses = new Set([425, 429, 503]);

/** The refusal all items share when nothing at all can be placed now: then it is the request that fails. */
function commonOutage(results: readonly PlacementResult[]): RefusalCode | null {
  const code = results[0]?.code as RefusalCode | undefined;
  if (code === undefined || !requestOutages.has(code)) return null;
  return results.every((result) => result.code === code) ? code : null;
}

/** Whole-request failures of a batch; post-only mode stays with its items (conventions.md 3.7). */
const requestOutages: ReadonlySet<RefusalCode> = new Set([
  'partition_not_ready',
  'overloaded',
  'ledger_not_ready',
  'system_paused',
  'condition_paused',
  'cancel_only',
  'trading_disabled',
]);

/** Refusals after which the same retry key begins anew. */
const outages: ReadonlySet<RefusalCode> = new Set([...requestOutages, 'post_only_mode']);

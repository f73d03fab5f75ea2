import { refuse } from '@pm/kit/http';
import type { CancelResult } from '@pm/schemas';
import type { FastifyReply } from 'fastify';
import type { StageTimes } from '../door/stage-times.io.ts';
import type { Cancellation } from './cancel-orders.io.ts';

/** Seconds after which a cancel that was not confirmed is worth sending again. */
const retryAfterSeconds = 1;

/**
 * What was canceled and what was not; when the request failed, what is known to be canceled stands beside the error
 * (conventions.md 1.6).
 */
export function answerCancel(
  { result, failure }: Cancellation,
  { reply, times }: { readonly reply: FastifyReply; readonly times: StageTimes },
): CancelResult | FastifyReply {
  times.tell(reply);
  if (failure === null) return result;
  return refuse(reply, failure, {}, { retryAfterSeconds, body: { ...result } });
}

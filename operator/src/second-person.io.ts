import type { ApprovalResponse } from '@pm/schemas/http/approvals';
import type { Approval } from '@pm/schemas/log/approvals';
import type { GuardedAction } from '@pm/schemas/routes/routes';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Request } from './approvals.io.ts';
import type { ApprovalServices } from './operator-services.io.ts';
import { stateOf } from './proposals.ts';
import { operatorOfRequest, sendProblem } from './requests.io.ts';

/** Answers 202: the request waits for a second person. */
export async function sendToSecondPerson(
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Omit<Request, 'body'>,
  { approvals, clock }: ApprovalServices,
): Promise<FastifyReply> {
  const { name } = operatorOfRequest(request);
  const pending = await approvals.request({ ...asked, body: request.rawBody }, name);
  if ('status' in pending) return await sendProblem(reply, pending);
  return await reply.code(202).send(approvalView(pending, clock.nowMs()));
}

/** An approval as it is at a moment. */
export function approvalView(one: Approval, nowMs: number): ApprovalResponse {
  const { id, action, market, subject, body, bodySha256, requestedBy, decidedBy, challengedBy } =
    one;
  return {
    id,
    action: action as GuardedAction,
    subject,
    market: market === 0 ? null : String(market),
    body,
    bodyBytes: bodyBytesOf(one),
    bodySha256: bodySha256.toString('hex'),
    state: stateOf(one, nowMs),
    requestedBy,
    requestedAt: new Date(one.requestedAtMs).toISOString(),
    expiresAt: new Date(one.expiresAtMs).toISOString(),
    decidedBy: decidedBy === '' ? null : decidedBy,
    decidedAt: timeOf(one.decidedAtMs),
    paysAt: timeOf(one.paysAtMs),
    challengedBy: challengedBy === '' ? null : challengedBy,
    challengedAt: timeOf(one.challengedAtMs),
    challengeReason: challengedBy === '' ? null : one.challengeReason,
    carriedOutAt: timeOf(one.carriedOutAtMs),
  };
}

function timeOf(ms: number): string | null {
  return ms === 0 ? null : new Date(ms).toISOString();
}

/** Size of the request. */
export function bodyBytesOf({ body }: Approval): number {
  return Buffer.byteLength(body, 'utf8');
}

import type { Approval, ApprovalAnswer } from '@pm/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApprovedAction, isPending, type Request } from './approvals.io.ts';
import type { ApprovalServices } from './operator-services.io.ts';
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
export function approvalView(one: Approval, nowMs: number): ApprovalAnswer {
  const { id, action, market, body, bodySha256, requestedBy, decidedBy, decidedAtMs } = one;
  const isDecided = one.decision !== 'NONE';
  return {
    id,
    action: action as ApprovedAction,
    market: market === 0 ? null : String(market),
    body,
    bodyBytes: bodyBytesOf(one),
    bodySha256: bodySha256.toString('hex'),
    state: stateOf(one, nowMs),
    requestedBy,
    requestedAt: new Date(one.requestedAtMs).toISOString(),
    expiresAt: new Date(one.expiresAtMs).toISOString(),
    decidedBy: isDecided ? decidedBy : null,
    decidedAt: isDecided ? new Date(decidedAtMs).toISOString() : null,
  };
}

function stateOf(one: Approval, nowMs: number): ApprovalAnswer['state'] {
  if (one.decision === 'APPROVED') return 'approved';
  if (one.decision === 'REJECTED') return 'rejected';
  return isPending(one, nowMs) ? 'pending' : 'expired';
}

/** Size of the request. */
export function bodyBytesOf({ body }: Approval): number {
  return Buffer.byteLength(body, 'utf8');
}

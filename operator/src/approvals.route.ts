import type { HttpApp } from '@pm/kit/http';
import { ApprovalChoice, Challenge, OperatorApprovalParams } from '@pm/schemas/http/approvals';
import type { Approval } from '@pm/schemas/log/approvals';
import { auditBodyMaxChars } from '@pm/schemas/log/audit';
import { carryOutApproved } from './guards.route.ts';
import type { OperatorServices } from './operator-services.io.ts';
import { isProposed } from './proposals.ts';
import { isProblem, operatorOfRequest, sendProblem } from './requests.io.ts';
import { approvalView, bodyBytesOf } from './second-person.io.ts';

/** GET /operator/approvals, one of them, the decision of a second person, and the challenge of a resolution. */
export function addApprovalRoutes(app: HttpApp, services: OperatorServices): void {
  const { approvals, resolutions, clock } = services;
  app.get('/operator/approvals', async () => {
    const shorten = (one: Approval) => ({ ...one, body: one.body.slice(0, auditBodyMaxChars) });
    const nowMs = clock.nowMs();
    return {
      data: approvals
        .list()
        .map((one) => ({ ...approvalView(shorten(one), nowMs), bodyBytes: bodyBytesOf(one) })),
    };
  });
  const path = '/operator/approvals/:id';
  app.get(path, { schema: { params: OperatorApprovalParams } }, async (request, reply) => {
    const found = approvals.find(request.params.id);
    if (found !== undefined) return approvalView(found, clock.nowMs());
    return await reply.code(404).send({ error: 'approval not found' });
  });
  const schema = { params: OperatorApprovalParams, body: ApprovalChoice };
  app.post(path, { schema }, async (request, reply) => {
    const decision = request.body.decision === 'approve' ? 'APPROVED' : 'REJECTED';
    const operator = operatorOfRequest(request);
    const decided = await resolutions.decide(request.params.id, decision, operator);
    if ('status' in decided) return await sendProblem(reply, decided);
    const approval = approvalView(decided, clock.nowMs());
    if (decision === 'REJECTED' || isProposed(decided)) return { approval, result: null };
    const result = await approvals.carryOut(decided.id, (one) => carryOutApproved(one, services));
    if (result !== null && isProblem(result)) return await sendProblem(reply, result);
    return { approval, result };
  });
  addChallengeRoute(app, services);
}

/** POST /operator/approvals/:id/challenge: every operator may, also the one who asked for the resolution. */
function addChallengeRoute(app: HttpApp, { resolutions, clock }: OperatorServices): void {
  const path = '/operator/approvals/:id/challenge';
  const schema = { params: OperatorApprovalParams, body: Challenge };
  app.post(path, { schema }, async (request, reply) => {
    const { name } = operatorOfRequest(request);
    const { reason } = request.body;
    const challenged = await resolutions.challenge(request.params.id, { name, reason });
    if ('status' in challenged) return await sendProblem(reply, challenged);
    return approvalView(challenged, clock.nowMs());
  });
}

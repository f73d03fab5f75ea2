import type { HttpApp } from '@pm/kit/http';
import {
  OperatorEntryParams,
  Resolution,
  type ResolutionResponse,
} from '@pm/schemas/http/operator-responses';
import type { Approval } from '@pm/schemas/log/approvals';
import type { FastifyRequest } from 'fastify';
import type { CatalogServices } from './catalog/matcher-market.io.ts';
import type { OperatorServices } from './operator-services.io.ts';
import { readPayout } from './proposals.ts';
import { notFound, type OperatorProblem, operatorOfRequest, sendProblem } from './requests.io.ts';
import { judgeResolution, noPayout, resolveMarket } from './resolve-market.io.ts';
import { approvalView } from './second-person.io.ts';

/**
 * POST /operator/markets/:id/resolve: ends trading and fixes what the tokens pay, at once or when a second person has
 * approved it and its challenge window has ended. With its last open market the event closes. Again with the same
 * payout it completes what broke off; with another one it is refused.
 */
export function addMarketResolveRoute(app: HttpApp, services: OperatorServices): void {
  const schema = { params: OperatorEntryParams, body: Resolution };
  app.post('/operator/markets/:id/resolve', { schema }, async (request, reply) => {
    const asked = { number: Number(request.params.id), body: request.body };
    const result = await resolveOrPropose(request, asked, services);
    if ('status' in result) return await sendProblem(reply, result);
    if ('requestedBy' in result)
      return await reply.code(202).send(approvalView(result, services.clock.nowMs()));
    return result;
  });
}

/** Whether a resolution is a new one; not when it completes one that broke off, or is refused. */
export function isNewResolution(
  number: number,
  body: Resolution,
  { catalog }: Pick<CatalogServices, 'catalog'>,
): boolean {
  const payout0 = readPayout(body);
  const market = catalog.findMarket(number);
  if (payout0 === null || market === undefined) return false;
  return judgeResolution(market, payout0) === 'new';
}

async function resolveOrPropose(
  request: FastifyRequest,
  { number, body }: { readonly number: number; readonly body: Resolution },
  { catalog: services, resolutions }: OperatorServices,
): Promise<ResolutionResponse | Approval | OperatorProblem> {
  const payout0 = readPayout(body);
  if (payout0 === null) return noPayout;
  const market = services.catalog.findMarket(number);
  if (market === undefined) return notFound;
  const judged = judgeResolution(market, payout0);
  if (typeof judged !== 'string') return judged;
  if (judged === 'again') return await resolveMarket(number, body, services);
  const asked = { action: 'resolveMarket', market: number, subject: String(number) } as const;
  const sent = { ...asked, body: request.rawBody };
  const waits = await resolutions.ask(sent, operatorOfRequest(request).name);
  return waits ?? (await resolveMarket(number, body, services));
}

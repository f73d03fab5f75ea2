import type { HttpApp } from '@pm/kit/http';
import {
  type CatalogMarket,
  OperatorEntryParams,
  parsePrice,
  priceOne,
  priceText,
  Resolution,
  type ResolutionAnswer,
} from '@pm/schemas';
import type { CatalogServices } from '../catalog/matcher-market.io.ts';
import { carryOut } from '../catalog/matcher-market.io.ts';
import type { ApprovalServices } from './operator-services.io.ts';
import { isResolved, notFound, type OperatorProblem, refused, sendProblem } from './requests.io.ts';
import { sendToSecondPerson } from './second-person.io.ts';

/**
 * POST /operator/markets/:id/resolve: ends trading and fixes what the tokens pay. With its last open market the event
 * closes. Again with the same payout it completes what broke off; with another one it is refused.
 */
export function addMarketResolveRoute(
  app: HttpApp,
  services: CatalogServices,
  approvals: ApprovalServices,
): void {
  const schema = { params: OperatorEntryParams, body: Resolution };
  app.post('/operator/markets/:id/resolve', { schema }, async (request, reply) => {
    const { id } = request.params;
    const payout0 = readPayout(request.body);
    if (typeof payout0 !== 'number') return await sendProblem(reply, payout0);
    const asked = approvals.approvals.secondPersonResolves
      ? needsSecondPerson(Number(id), payout0, services)
      : false;
    if (typeof asked !== 'boolean') return await sendProblem(reply, asked);
    if (asked) {
      const what = { action: 'resolveMarket', market: Number(id) } as const;
      return await sendToSecondPerson(request, reply, what, approvals);
    }
    const result = await resolveMarket(id, request.body, services);
    return 'status' in result ? await sendProblem(reply, result) : result;
  });
}

/** Resolves a market and closes its event with the last one. Sent again it completes what broke off. */
export async function resolveMarket(
  id: string,
  body: Resolution,
  services: CatalogServices,
): Promise<ResolutionAnswer | OperatorProblem> {
  const payout0 = readPayout(body);
  if (typeof payout0 !== 'number') return payout0;
  const resolved = await resolve(Number(id), payout0, services);
  if ('status' in resolved) return resolved;
  await closeFinished(resolved.eventId, services);
  return { id, payout0: priceText(payout0) };
}

/** 1/10000 USDC. */
function readPayout({ payout0 }: Resolution): number | OperatorProblem {
  const price = parsePrice(payout0);
  return price === null || price > priceOne ? noPayout : price;
}

/** False for a resolution that was carried out: sent again it only completes what broke off. */
function needsSecondPerson(
  number: number,
  payout0: number,
  { catalog }: CatalogServices,
): boolean | OperatorProblem {
  const market = catalog.findMarket(number);
  if (market === undefined) return notFound;
  if (market.payout0 === payout0) return false;
  return market.payout0 >= 0 ? isResolved : true;
}

const noPayout: OperatorProblem = {
  status: 400,
  text: '/payout0 is no decimal from 0 to 1',
  path: '/payout0',
};

/**
 * Resolves the market in its book, then in the catalog, and returns it as it is then. The requested payout is written
 * to the catalog first: a book whose result comes too late is resolved, and refuses a second resolution without its
 * payout.
 */
function resolve(
  number: number,
  payout0: number,
  services: CatalogServices,
): Promise<CatalogMarket | OperatorProblem> {
  const { catalog, clock, writer, locks } = services;
  return locks.market(number, async () => {
    const market = catalog.findMarket(number);
    if (market === undefined) return notFound;
    if (market.payout0 === payout0) return market;
    if (market.payout0 >= 0) return isResolved;
    const problem = await resolveBook(market, payout0, services);
    if (problem !== null) return problem;
    const states = { payout0, mode: 'RESOLVED', closed: true } as const;
    // Another ingress may have changed its words meanwhile.
    const latest = catalog.findMarket(number) ?? market;
    const resolved: CatalogMarket = { ...latest, ...states, updatedAtMs: clock.nowMs() };
    await writer.writeEntries([resolved]);
    return resolved;
  });
}

/** Null when the book is resolved with this payout, now or since an earlier request. */
async function resolveBook(
  market: CatalogMarket,
  payout0: number,
  { catalog, commands, writer }: CatalogServices,
): Promise<OperatorProblem | null> {
  const { askedPayout0, market: number, partition } = market;
  const isAgain = askedPayout0 === payout0;
  if (askedPayout0 >= 0 && !isAgain) return isAsked(askedPayout0);
  const note = (asked: number) =>
    writer.writeEntries([{ ...(catalog.findMarket(number) ?? market), askedPayout0: asked }]);
  if (!isAgain) await note(payout0);
  const command = { kind: 'ResolveMarket', market: number, payout0 } as const;
  const problem = await carryOut(commands, partition, command, 'MarketResolved');
  // Nothing else resolves a book, and nothing else was asked for.
  if (isAgain && problem?.code === 'market_resolved') return null;
  if (!isAgain && problem?.status === 409) await note(-1);
  return problem;
}

function isAsked(payout0: number): OperatorProblem {
  return refused(`market is being resolved with ${priceText(payout0)}: send that again`);
}

/**
 * Closes an event of which no market is open any more: also when a resolution broke off between the two, or when two
 * came together.
 */
function closeFinished(
  eventId: string,
  { catalog, clock, locks, writer }: CatalogServices,
): Promise<void> {
  return locks.catalog(async () => {
    const event = catalog.findEvent(eventId);
    if (event === undefined || event.closed) return;
    if (catalog.marketsOfEvent(eventId).some((market) => !market.closed)) return;
    await writer.writeEntries([{ ...event, closed: true, updatedAtMs: clock.nowMs() }]);
  });
}

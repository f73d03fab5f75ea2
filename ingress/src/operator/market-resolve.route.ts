import type { HttpApp } from '@pm/kit/http';
import {
  type CatalogMarket,
  OperatorEntryParams,
  parsePrice,
  priceOne,
  priceText,
  Resolution,
} from '@pm/schemas';
import type { CatalogServices } from '../catalog/matcher-market.io.ts';
import { carryOut } from '../catalog/matcher-market.io.ts';
import { isResolved, notFound, type OperatorProblem, refused, sendProblem } from './requests.io.ts';

/**
 * POST /operator/markets/:id/resolve: ends trading and fixes what the tokens pay. With its last open market the event
 * closes. Again with the same payout it completes what broke off; with another one it is refused.
 */
export function addMarketResolveRoute(app: HttpApp, services: CatalogServices): void {
  const schema = { params: OperatorEntryParams, body: Resolution };
  app.post('/operator/markets/:id/resolve', { schema }, async (request, reply) => {
    const payout0 = parsePrice(request.body.payout0);
    if (payout0 === null || payout0 > priceOne) return await sendProblem(reply, noPayout);
    const { id } = request.params;
    const resolved = await resolve(Number(id), payout0, services);
    if ('status' in resolved) return await sendProblem(reply, resolved);
    await closeFinished(resolved.eventId, services);
    return { id, payout0: priceText(payout0) };
  });
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

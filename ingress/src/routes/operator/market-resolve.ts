import type { HttpApp } from '@pm/kit/http';
import { type CatalogMarket, parsePrice, priceOne, priceText } from '@pm/schemas';
import { Type } from 'typebox';
import { MarketId } from './market-id.ts';
import { carryOut } from './market-rules.ts';
import type { OperatorPorts } from './ports.ts';
import { isResolved, notFound, type RuleProblem, sendProblem } from './problem.ts';

const Resolution = Type.Object(
  {
    payout0: Type.String({ maxLength: 6, description: 'USDC a token of outcome 0 pays, 0 to 1.' }),
  },
  { additionalProperties: false },
);

/**
 * POST /operator/markets/:id/resolve: ends trading and fixes what the tokens pay. With its last open market the event closes. Again
 * with the same payout it completes what broke off; with another one it is refused.
 */
export function addMarketResolveRoute(app: HttpApp, ports: OperatorPorts): void {
  const schema = { params: MarketId, body: Resolution };
  app.post('/operator/markets/:id/resolve', { schema }, async (request, reply) => {
    const payout0 = parsePrice(request.body.payout0);
    if (payout0 === null || payout0 > priceOne) return await sendProblem(reply, noPayout);
    const { id } = request.params;
    const resolved = await resolve(Number(id), payout0, ports);
    if ('status' in resolved) return await sendProblem(reply, resolved);
    await closeFinished(resolved.eventId, ports);
    return { id, payout0: priceText(payout0) };
  });
}

const noPayout: RuleProblem = {
  status: 400,
  text: '/payout0 is no decimal from 0 to 1',
  path: '/payout0',
};

/** In its book, then in the catalog; the market as it stands then. */
function resolve(
  number: number,
  payout0: number,
  { catalog, clock, log, turns, writes }: OperatorPorts,
): Promise<CatalogMarket | RuleProblem> {
  return turns.market(number, async () => {
    const market = catalog.findMarket(number);
    if (market === undefined) return notFound;
    if (market.payout0 === payout0) return market;
    if (market.payout0 >= 0) return isResolved;
    const command = { kind: 'ResolveMarket', market: number, payout0 } as const;
    const problem = await carryOut(log, market.partition, command, 'MarketResolved');
    if (problem !== null) return problem;
    const states = { payout0, mode: 'RESOLVED', closed: true } as const;
    const resolved: CatalogMarket = { ...market, ...states, updatedAtMs: clock.nowMs() };
    await writes.writeEntries([resolved]);
    return resolved;
  });
}

/** Closes an event of which no market is open any more: also when a resolution broke off between the two, or when two came together. */
function closeFinished(
  eventId: string,
  { catalog, clock, turns, writes }: OperatorPorts,
): Promise<void> {
  return turns.catalog(async () => {
    const event = catalog.findEvent(eventId);
    if (event === undefined || event.closed) return;
    if (catalog.marketsOfEvent(eventId).some((market) => !market.closed)) return;
    await writes.writeEntries([{ ...event, closed: true, updatedAtMs: clock.nowMs() }]);
  });
}

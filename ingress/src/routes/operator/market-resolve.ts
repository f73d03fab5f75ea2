import type { HttpApp } from '@pm/kit/http';
import {
  type CatalogEntry,
  type CatalogMarket,
  parsePrice,
  priceOne,
  priceText,
} from '@pm/schemas';
import { Type } from 'typebox';
import { findMarket, MarketId } from './market-id.ts';
import { carryOut } from './market-rules.ts';
import type { OperatorPorts } from './ports.ts';

const Resolution = Type.Object(
  {
    payout0: Type.String({ maxLength: 6, description: 'USDC a token of outcome 0 pays, 0 to 1.' }),
  },
  { additionalProperties: false },
);

/**
 * POST /operator/markets/:id/resolve: ends trading and fixes what the tokens pay. Again with the same payout it completes
 * what broke off; with another one it is refused.
 */
export function addMarketResolveRoute(app: HttpApp, ports: OperatorPorts): void {
  const schema = { params: MarketId, body: Resolution };
  app.post('/operator/markets/:id/resolve', { schema }, async (request, reply) => {
    const market = findMarket(request.params.id, ports.catalog);
    if (market === undefined) return await reply.code(404).send({ error: 'market not found' });
    const payout0 = parsePrice(request.body.payout0);
    if (payout0 === null || payout0 > priceOne) {
      const error = '/payout0 is no decimal from 0 to 1';
      return await reply.code(400).send({ error, path: '/payout0' });
    }
    const answer = { id: String(market.market), payout0: priceText(payout0) };
    if (market.payout0 === payout0) return answer;
    if (market.payout0 >= 0) return await reply.code(409).send({ error: 'market is resolved' });
    const command = { kind: 'ResolveMarket', market: market.market, payout0 } as const;
    const problem = await carryOut(ports.log, market.partition, command, 'MarketResolved');
    if (problem !== null) return await reply.code(problem.status).send({ error: problem.text });
    await ports.writes.writeEntries(resolvedEntries(market, payout0, ports));
    return answer;
  });
}

/** The market, and its event when this was its last open market. */
function resolvedEntries(
  market: CatalogMarket,
  payout0: number,
  { catalog, clock }: OperatorPorts,
): readonly CatalogEntry[] {
  const updatedAtMs = clock.nowMs();
  const resolved: CatalogMarket = {
    ...market,
    payout0,
    mode: 'RESOLVED',
    closed: true,
    updatedAtMs,
  };
  const event = catalog.findEvent(market.eventId);
  const others = catalog
    .marketsOfEvent(market.eventId)
    .filter((other) => other.market !== market.market);
  if (event === undefined || others.some((other) => !other.closed)) return [resolved];
  return [{ ...event, closed: true, updatedAtMs }, resolved];
}

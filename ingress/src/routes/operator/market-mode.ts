import type { HttpApp } from '@pm/kit/http';
import { Type } from 'typebox';
import { findMarket, MarketId } from './market-id.ts';
import { carryOut, setMarketCommand } from './market-rules.ts';
import type { OperatorPorts } from './ports.ts';

const Mode = Type.Union([
  Type.Literal('OPEN'),
  Type.Literal('POST_ONLY'),
  Type.Literal('CANCEL_ONLY'),
  Type.Literal('HALTED'),
]);

/** What an operator may set; RESOLVED comes with a resolution. */
export const ModeBody = Type.Object({ mode: Mode }, { additionalProperties: false });

/** POST /operator/markets/:id/mode: what the market takes from now on. First in its book, then in the catalog. */
export function addMarketModeRoute(app: HttpApp, ports: OperatorPorts): void {
  const schema = { params: MarketId, body: ModeBody };
  app.post('/operator/markets/:id/mode', { schema }, async (request, reply) => {
    const market = findMarket(request.params.id, ports.catalog);
    if (market === undefined) return await reply.code(404).send({ error: 'market not found' });
    if (market.payout0 >= 0) return await reply.code(409).send({ error: 'market is resolved' });
    const { mode } = request.body;
    const changed = { ...market, mode, updatedAtMs: ports.clock.nowMs() };
    const command = setMarketCommand(changed);
    const problem = await carryOut(ports.log, market.partition, command, 'MarketSet');
    if (problem !== null) return await reply.code(problem.status).send({ error: problem.text });
    await ports.writes.writeEntries([changed]);
    return { id: String(market.market), mode };
  });
}

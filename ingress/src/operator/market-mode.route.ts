import type { HttpApp } from '@pm/kit/http';
import { Type } from 'typebox';
import { changeMarket } from '../catalog/matcher-market.io.ts';
import { MarketId } from './market-id.ts';
import type { OperatorPorts } from './ports.io.ts';
import { sendProblem } from './problems.io.ts';

const Mode = Type.Union([
  Type.Literal('OPEN'),
  Type.Literal('POST_ONLY'),
  Type.Literal('CANCEL_ONLY'),
  Type.Literal('HALTED'),
]);

/** What an operator may set; RESOLVED comes with a resolution. */
export const ModeBody = Type.Object({ mode: Mode }, { additionalProperties: false });

/** POST /operator/markets/:id/mode: what the market takes from now on. */
export function addMarketModeRoute(app: HttpApp, ports: OperatorPorts): void {
  const schema = { params: MarketId, body: ModeBody };
  app.post('/operator/markets/:id/mode', { schema }, async (request, reply) => {
    const { mode } = request.body;
    const { id } = request.params;
    const done = await changeMarket(Number(id), ports, (market) => ({ ...market, mode }));
    return 'status' in done ? await sendProblem(reply, done) : { id, mode };
  });
}

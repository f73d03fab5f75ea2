import type { HttpApp } from '@pm/kit/http';
import { carryOut } from '../catalog/matcher-market.io.ts';
import { ModeBody } from './market-mode.route.ts';
import type { OperatorPorts } from './ports.io.ts';

/**
 * POST /operator/trading-mode: what all markets take at most, in every partition. Partitions that did not answer are named
 * with 503; the same again completes it.
 */
export function addTradingModeRoute(app: HttpApp, ports: OperatorPorts): void {
  app.post('/operator/trading-mode', { schema: { body: ModeBody } }, async (request, reply) => {
    const { mode } = request.body;
    const command = { kind: 'SetTradingMode', mode } as const;
    const partitions = [...Array(ports.partitions).keys()];
    const problems = await Promise.all(
      partitions.map((partition) => carryOut(ports.log, partition, command, 'TradingModeSet')),
    );
    const open = partitions.filter((partition) => problems[partition] !== null);
    const problem = problems.find((one) => one !== null);
    if (problem === undefined || problem === null) return { mode, partitions: partitions.length };
    const { status, text } = problem;
    return await reply.code(status).send({ error: text, partitions: open });
  });
}

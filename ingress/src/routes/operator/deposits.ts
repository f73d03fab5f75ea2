import type { HttpApp } from '@pm/kit/http';
import { Deposits, parseMicro, type Transfer } from '@pm/schemas';
import type { OperatorPorts } from './ports.ts';

const depositsBodyMaxBytes = 512 * 1024;

/** POST /operator/deposits: money comes in, answered when it is durable; the ledger applies each transfer id once. */
export function addDepositsRoute(app: HttpApp, ports: OperatorPorts): void {
  const options = { schema: { body: Deposits }, bodyLimit: depositsBodyMaxBytes };
  app.post('/operator/deposits', options, async (request, reply) => {
    const timeMs = ports.clock.nowMs();
    const transfers: Transfer[] = [];
    for (const [index, deposit] of request.body.deposits.entries()) {
      const amountMicro = parseMicro(deposit.amount);
      if (amountMicro === null || amountMicro === 0) {
        const path = `/deposits/${index}/amount`;
        return await reply.code(400).send({ error: `${path} is no amount above 0`, path });
      }
      transfers.push({
        transferId: Buffer.from(deposit.transferId.slice(2), 'hex'),
        wallet: Buffer.from(deposit.wallet.slice(2), 'hex'),
        amountMicro,
        timeMs,
        generation: 0,
      });
    }
    await ports.writes.writeTransfers(transfers);
    return { accepted: transfers.length };
  });
}

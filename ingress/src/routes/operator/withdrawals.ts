import type { HttpApp } from '@pm/kit/http';
import { parseMicro, parseOrderId, parseWalletAddress, refusals, Withdrawals } from '@pm/schemas';
import { withdraw } from '../withdrawal-runner.ts';
import type { OperatorPorts } from './ports.ts';

const withdrawalsBodyMaxBytes = 512 * 1024;

/**
 * POST /operator/withdrawals: money goes out, each transfer id once. One result per item: `accepted` when it is durable,
 * else why not; the same again may be sent at any time.
 */
export function addWithdrawalsRoute(app: HttpApp, ports: OperatorPorts): void {
  const options = { schema: { body: Withdrawals }, bodyLimit: withdrawalsBodyMaxBytes };
  app.post('/operator/withdrawals', options, async (request) => {
    const results = [];
    for (const { transferId: id, wallet: address, amount } of request.body.withdrawals) {
      const transferId = parseOrderId(id);
      const wallet = parseWalletAddress(address);
      const amountMicro = parseMicro(amount) ?? 0;
      const isSound = transferId !== null && wallet !== null && amountMicro > 0;
      const code = isSound
        ? await withdraw({ transferId, wallet, amountMicro }, ports)
        : 'invalid_payload';
      const error = code === null ? {} : { code, error: refusals[code].text };
      results.push({ transferId: id, accepted: code === null, ...error });
    }
    return { results };
  });
}

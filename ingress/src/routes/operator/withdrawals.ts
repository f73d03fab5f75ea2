import type { HttpApp } from '@pm/kit/http';
import {
  microText,
  parseMicro,
  parseOrderId,
  parseWalletAddress,
  type RefusalCode,
  refusals,
  Withdrawals,
} from '@pm/schemas';
import { type PaidWithdrawal, withdraw } from '../withdrawal-runner.ts';
import type { OperatorPorts } from './ports.ts';

const withdrawalsBodyMaxBytes = 512 * 1024;

/**
 * POST /operator/withdrawals: money goes out, each transfer id once. One result per item: `accepted` with the amount that
 * was paid, else why not; the same again may be sent at any time.
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
      const paid = isSound
        ? await withdraw({ transferId, wallet, amountMicro }, ports)
        : 'invalid_payload';
      results.push({ transferId: id, ...resultOf(paid) });
    }
    return { results };
  });
}

function resultOf(paid: PaidWithdrawal | RefusalCode) {
  if (typeof paid !== 'string') return { accepted: true, paid: microText(paid.paidMicro) };
  return { accepted: false, code: paid, error: refusals[paid].text };
}

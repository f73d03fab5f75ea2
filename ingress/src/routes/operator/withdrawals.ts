import type { HttpApp } from '@pm/kit/http';
import {
  microText,
  parseMicro,
  parseOrderId,
  parseWalletAddress,
  type RefusalCode,
  refusals,
  Withdrawals,
  type WithdrawalsResult,
} from '@pm/schemas';
import { type PaidWithdrawal, withdraw } from '../withdrawal-runner.ts';
import type { OperatorPorts } from './ports.ts';

const withdrawalsBodyMaxBytes = 512 * 1024;

/** Withdrawals of one request that are under way at once; each may wait for the ledger for some seconds. */
const concurrentMax = 50;

/**
 * POST /operator/withdrawals: money goes out, each transfer id once. One result per item: `accepted` with the amount that
 * was paid, else why not; the same again may be sent at any time.
 */
export function addWithdrawalsRoute(app: HttpApp, ports: OperatorPorts): void {
  const options = { schema: { body: Withdrawals }, bodyLimit: withdrawalsBodyMaxBytes };
  app.post('/operator/withdrawals', options, async (request) => {
    const { withdrawals } = request.body;
    const results: WithdrawalsResult['results'] = [];
    for (let from = 0; from < withdrawals.length; from += concurrentMax) {
      const some = withdrawals.slice(from, from + concurrentMax);
      results.push(...(await Promise.all(some.map((one) => carryOut(one, ports)))));
    }
    return { results } satisfies WithdrawalsResult;
  });
}

async function carryOut(
  { transferId: id, wallet: address, amount }: Withdrawals['withdrawals'][number],
  ports: OperatorPorts,
): Promise<WithdrawalsResult['results'][number]> {
  const transferId = parseOrderId(id);
  const wallet = parseWalletAddress(address);
  const amountMicro = parseMicro(amount) ?? 0;
  const isSound = transferId !== null && wallet !== null && amountMicro > 0;
  const paid = isSound
    ? await withdraw({ transferId, wallet, amountMicro }, ports)
    : 'invalid_payload';
  return { transferId: id, ...resultOf(paid) };
}

function resultOf(paid: PaidWithdrawal | RefusalCode) {
  if (typeof paid !== 'string') return { accepted: true, paid: microText(paid.paidMicro) };
  return { accepted: false, code: paid, error: refusals[paid].text };
}

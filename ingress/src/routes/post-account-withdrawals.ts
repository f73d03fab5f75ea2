import { type DoorRoute, refuse } from '@pm/kit/http';
import {
  type AccountActionResult,
  microText,
  type OrderId,
  parseMicro,
  type WalletAddress,
  type WithdrawalBody,
} from '@pm/schemas';
import {
  accountFacts,
  readAccountRequest,
  refusedAction,
  requestIdOf,
  retriedOf,
} from './account-request.ts';
import { authenticate } from './authenticate.ts';
import type { DoorPorts } from './ports.ts';
import { singleBodyMaxBytes } from './route.ts';
import { type Answered, runOnce } from './run-once.ts';
import { withdraw } from './withdrawal-runner.ts';

const invalid = { text: 'invalid request: the body is not of this route', code: 'invalid_request' };

/**
 * POST /account/withdrawals: USDC leaves the exchange. Answered with what was paid when the ledger has applied it. Once per id
 * (conventions.md 1.14).
 */
export function withdrawalRoute(
  ports: DoorPorts,
  isBody: (value: unknown) => value is WithdrawalBody,
): DoorRoute {
  return {
    method: 'POST',
    path: '/account/withdrawals',
    add(app, { url }) {
      const options = { bodyLimit: singleBodyMaxBytes, config: { invalid } };
      app.post(url, options, async (request, reply) => {
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        const { body } = request;
        const amountMicro = isBody(body) ? parseMicro(body.amount) : null;
        if (!isBody(body) || amountMicro === null || amountMicro === 0) {
          return refuse(reply, 'invalid_request', {
            detail: 'amount must be decimal text above 0',
          });
        }
        const at = { action: 'withdrawal', request, caller } as const;
        const account = readAccountRequest(body, at, ports);
        if (typeof account === 'string') return refuse(reply, account, accountFacts(body, caller));
        const meant = { action: 'withdrawal', condition: '', amountMicro } as const;
        const transferId = requestIdOf(account, meant, ports.hashes.keccak);
        const { wallet } = account;
        const retried = retriedOf(account, meant);
        return runOnce(retried, { retries: ports.retries, reply }, () =>
          carryOut({ transferId, wallet, amountMicro }, ports),
        );
      });
    },
  };
}

async function carryOut(
  asked: {
    readonly transferId: OrderId;
    readonly wallet: WalletAddress;
    readonly amountMicro: number;
  },
  ports: DoorPorts,
): Promise<Answered> {
  const { transferId, wallet } = asked;
  const paid = await withdraw(asked, ports);
  if (typeof paid === 'string') return refusedAction(paid, { request_id: transferId });
  const result: Omit<AccountActionResult, 'id'> = {
    success: true,
    action: 'withdrawal',
    request_id: transferId,
    wallet,
    amount: microText(paid.paidMicro),
  };
  return { kind: 'final', status: 200, body: result };
}

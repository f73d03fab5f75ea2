import { type DoorRoute, refuse } from '@pm/kit/http';
import { type AccountActionResult, microText, parseMicro, type WithdrawalBody } from '@pm/schemas';
import { accountFacts, readAccountRequest, refusedAction } from './account-request.ts';
import { authenticate } from './authenticate.ts';
import type { DoorPorts } from './ports.ts';
import { singleBodyMaxBytes } from './route.ts';
import { runOnce } from './run-once.ts';
import { withdraw } from './withdrawal-runner.ts';

const invalid = { text: 'invalid request: the body is not of this route', code: 'invalid_request' };

/**
 * POST /account/withdrawals: USDC leaves the exchange. Answered when it is durable; the ledger follows within moments, and
 * the money is held until then. Once per id (docs/conventions.md 1.14).
 */
export function withdrawalRoute(
  ports: DoorPorts,
  isBody: (value: unknown) => value is WithdrawalBody,
): DoorRoute {
  return {
    method: 'POST',
    path: '/account/withdrawals',
    add(app, { url }) {
      app.post(
        url,
        { bodyLimit: singleBodyMaxBytes, config: { invalid } },
        async (request, reply) => {
          const caller = authenticate(request, reply, ports);
          if (caller === null) return reply;
          const { body } = request;
          const amountMicro = isBody(body) ? parseMicro(body.amount) : null;
          if (!isBody(body) || amountMicro === null || amountMicro === 0) {
            return refuse(reply, 'invalid_request', {
              detail: 'amount must be decimal text above 0',
            });
          }
          const named = { owners: ports.owners, keccak: ports.hashes.keccak };
          const account = readAccountRequest(
            body,
            { action: 'withdrawal', request, caller },
            named,
          );
          if (typeof account === 'string') {
            return refuse(reply, account, accountFacts(body, caller));
          }
          const { wallet, id, requestId } = account;
          const meaning = ['withdrawal', wallet, amountMicro].join('|');
          const key = `${wallet}|${id}`;
          const retried = {
            caller: caller.apiKey,
            route: 'account/withdrawals',
            key,
            meaning,
            repeated: { id },
          };
          return runOnce(retried, { retries: ports.retries, reply }, async () => {
            const code = await withdraw({ transferId: requestId, wallet, amountMicro }, ports);
            if (code !== null) return refusedAction(code, { request_id: requestId });
            const result: Omit<AccountActionResult, 'id'> = {
              success: true,
              action: 'withdrawal',
              request_id: requestId,
              wallet,
              amount: microText(amountMicro),
            };
            return { kind: 'final', status: 200, body: result };
          });
        },
      );
    },
  };
}

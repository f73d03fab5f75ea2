import type { Keccak } from '@pm/domain/orders/eip712';
import { checkerOf } from '@pm/domain/requests/requests.io';
import { withdraw } from '@pm/domain/wallets/withdrawals.io';
import { type HttpHandler, refuse } from '@pm/kit/http';
import { microText, parseMicro } from '@pm/schemas/decimal';
import {
  type AccountActionResult,
  PositionActionForm,
  WithdrawalBody,
} from '@pm/schemas/http/account';
import {
  type ConditionId,
  hexBytes,
  type OrderId,
  parseConditionId,
  type WalletAddress,
} from '@pm/schemas/ids';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { FastifyRequest } from 'fastify';
import { readWithNewMarkets } from '../catalog/new-markets.io.ts';
import { authenticate } from '../http/authentication.io.ts';
import { type HttpResponse, type IdempotentRequest, idempotent } from '../http/idempotency.io.ts';
import type { Caller } from '../orders/check.ts';
import {
  type AccountRequest,
  accountFacts,
  identityOf,
  readAccountRequest,
  refusedAction,
  requestIdOf,
} from './account-request.io.ts';
import type { MoneyServices } from './account-services.io.ts';
import { type PositionAction, type PositionRequest, readSize } from './position-action.ts';
import { carryOutPosition } from './positions.io.ts';

/** Splits, merges, redemptions and withdrawals. */
export function moneyRoutes(services: MoneyServices): readonly HttpHandler[] {
  const isPositionAction = checkerOf(PositionActionForm);
  return [
    positionActionRoute(services, 'split', isPositionAction),
    positionActionRoute(services, 'merge', isPositionAction),
    positionActionRoute(services, 'redeem', isPositionAction),
    withdrawalRoute(services, checkerOf(WithdrawalBody)),
  ];
}

const invalid = { text: 'invalid request: the body is not of this route', code: 'invalid_request' };

/**
 * POST /account/split, /account/merge, /account/redeem: USDC into pairs of tokens and back, and tokens of a resolved
 * market into their payout. Answered when the matcher has carried it out; once per id (conventions.md 4.2).
 */
function positionActionRoute(
  services: MoneyServices,
  action: PositionAction,
  isBody: (value: unknown) => value is PositionActionForm,
): HttpHandler {
  const read = (body: unknown) => (isBody(body) ? body : null);
  return {
    method: 'POST',
    path: `/account/${action}`,
    add(app, { url }) {
      const options = { config: { invalid } };
      app.post(url, options, async (request, reply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null) return reply;
        const body = read(request.body);
        const asked = await readWithNewMarkets(
          () => readAsked(body, { action, request, caller }, services),
          (found) => namesUnlisted(body, found),
          services.newMarkets,
        );
        if ('code' in asked) return refuse(reply, asked.code, asked.facts);
        const { requestId, identity, position } = asked;
        return idempotent(identity, { keys: services.idempotencyKeys, reply }, () =>
          carryOutPosition({ asked: position, requestId, caller }, services),
        );
      });
    },
  };
}

interface Asked {
  readonly requestId: OrderId;
  readonly identity: IdempotentRequest;
  readonly position: PositionRequest;
}

interface AskedRefusal {
  readonly code: RefusalCode;
  readonly facts: Readonly<Record<string, string | number>>;
}

function readAsked(
  body: PositionActionForm | null,
  at: {
    readonly action: PositionAction;
    readonly request: FastifyRequest;
    readonly caller: Caller;
  },
  { owners, hashes, markets }: MoneyServices,
): Asked | AskedRefusal {
  if (body === null) return { code: 'invalid_request', facts: { detail: 'the body' } };
  const size = readSize(at.action, body.amount);
  if ('detail' in size) return { code: 'invalid_request', facts: size };
  const account = readAccountRequest(body, at, owners);
  if (typeof account === 'string') {
    return { code: account, facts: accountFacts(body, at.caller) };
  }
  const condition = conditionIn(body);
  const token = condition === null ? undefined : markets.findCondition(condition);
  if (token === undefined) return { code: 'condition_mismatch', facts: {} };
  return askedOf({ account, token, sizeMicro: size.sizeMicro }, at.action, hashes.keccak);
}

function conditionIn({ condition_id, conditionId }: PositionActionForm): ConditionId | null {
  return parseConditionId(condition_id ?? conditionId ?? '');
}

/** Whether the only thing wrong is that no market of the condition is known. */
function namesUnlisted(body: PositionActionForm | null, found: Asked | AskedRefusal): boolean {
  const isUnknown = 'code' in found && found.code === 'condition_mismatch';
  return isUnknown && body !== null && conditionIn(body) !== null;
}

function askedOf(
  found: {
    readonly account: AccountRequest;
    readonly token: PositionRequest['token'];
    readonly sizeMicro: number;
  },
  action: PositionAction,
  keccak: Keccak,
): Asked {
  const { account, token, sizeMicro } = found;
  const meant = { action, condition: token.conditionId, amountMicro: sizeMicro };
  const requestId = requestIdOf(account, meant, keccak);
  const { wallet } = account;
  const position = { action, requestId: hexBytes(requestId), wallet, token, sizeMicro };
  return { requestId, identity: identityOf(account, meant), position };
}

/**
 * POST /account/withdrawals: USDC leaves the exchange. Answered with the amount paid once the ledger has applied it.
 * Once per id (conventions.md 4.2).
 */
function withdrawalRoute(
  services: MoneyServices,
  isBody: (value: unknown) => value is WithdrawalBody,
): HttpHandler {
  return {
    method: 'POST',
    path: '/account/withdrawals',
    add(app, { url }) {
      const options = { config: { invalid } };
      app.post(url, options, async (request, reply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null) return reply;
        const { body } = request;
        const amountMicro = isBody(body) ? parseMicro(body.amount) : null;
        if (!isBody(body) || amountMicro === null || amountMicro === 0) {
          return refuse(reply, 'invalid_request', {
            detail: 'amount must be decimal text above 0',
          });
        }
        const at = { action: 'withdrawal', request, caller } as const;
        const account = readAccountRequest(body, at, services.owners);
        if (typeof account === 'string') return refuse(reply, account, accountFacts(body, caller));
        const meant = { action: 'withdrawal', condition: '', amountMicro } as const;
        const transferId = requestIdOf(account, meant, services.hashes.keccak);
        const { wallet } = account;
        const identity = identityOf(account, meant);
        return idempotent(identity, { keys: services.idempotencyKeys, reply }, () =>
          carryOutWithdrawal({ transferId, wallet, amountMicro }, services),
        );
      });
    },
  };
}

async function carryOutWithdrawal(
  asked: {
    readonly transferId: OrderId;
    readonly wallet: WalletAddress;
    readonly amountMicro: number;
  },
  services: MoneyServices,
): Promise<HttpResponse> {
  const { transferId, wallet } = asked;
  const paid = await withdraw(asked, services);
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

import { type DoorRoute, refuse } from '@pm/kit/http';
import {
  type AccountActionResult,
  hexBytes,
  microText,
  type OrderId,
  type PositionActionBody,
  parseConditionId,
  type RefusalCode,
} from '@pm/schemas';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../core/check-order.ts';
import {
  type PositionAction,
  type PositionRequest,
  positionCommand,
  positionOutcome,
  readSize,
} from '../core/position-action.ts';
import {
  type AccountRequest,
  accountFacts,
  readAccountRequest,
  refusedAction,
  requestIdOf,
  retriedOf,
} from './account-request.ts';
import { authenticate } from './authenticate.ts';
import type { DoorPorts } from './ports.ts';
import { hold, type Reserved, takeBack } from './reservation.ts';
import { singleBodyMaxBytes } from './route.ts';
import { type Answered, type Retried, runOnce, type Turn } from './run-once.ts';

const invalid = { text: 'invalid request: the body is not of this route', code: 'invalid_request' };

/**
 * POST /account/split, /account/merge, /account/redeem: USDC into pairs of tokens and back, and tokens of a resolved market
 * into their payout. Answered when the matcher has carried it out; once per id (conventions.md 1.14).
 */
export function positionActionRoute(
  ports: DoorPorts,
  action: PositionAction,
  isBody: (value: unknown) => value is PositionActionBody,
): DoorRoute {
  const read = (body: unknown) => (isBody(body) ? body : null);
  return {
    method: 'POST',
    path: `/account/${action}`,
    add(app, { url }) {
      const options = { bodyLimit: singleBodyMaxBytes, config: { invalid } };
      app.post(url, options, async (request, reply) => {
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        const asked = readAsked(read(request.body), { action, request, caller }, ports);
        if ('code' in asked) return refuse(reply, asked.code, asked.facts);
        const { requestId, retried, position } = asked;
        return runOnce(retried, { retries: ports.retries, reply }, (turn) =>
          carryOut({ asked: position, requestId, caller, turn }, ports),
        );
      });
    },
  };
}

interface Asked {
  readonly requestId: OrderId;
  readonly retried: Retried;
  readonly position: PositionRequest;
}

interface AskedRefusal {
  readonly code: RefusalCode;
  readonly facts: Readonly<Record<string, string | number>>;
}

function readAsked(
  body: PositionActionBody | null,
  at: {
    readonly action: PositionAction;
    readonly request: FastifyRequest;
    readonly caller: Caller;
  },
  { owners, hashes, markets }: DoorPorts,
): Asked | AskedRefusal {
  if (body === null) return { code: 'invalid_request', facts: { detail: 'the body' } };
  const size = readSize(at.action, body.amount);
  if ('detail' in size) return { code: 'invalid_request', facts: size };
  const account = readAccountRequest(body, at, { owners });
  if (typeof account === 'string') {
    return { code: account, facts: accountFacts(body, at.caller) };
  }
  const condition = parseConditionId(body.condition_id ?? body.conditionId ?? '');
  const token = condition === null ? undefined : markets.findCondition(condition);
  if (token === undefined) return { code: 'condition_mismatch', facts: {} };
  return askedOf({ account, token, sizeMicro: size.sizeMicro }, at.action, hashes.keccak);
}

function askedOf(
  found: {
    readonly account: AccountRequest;
    readonly token: PositionRequest['token'];
    readonly sizeMicro: number;
  },
  action: PositionAction,
  keccak: DoorPorts['hashes']['keccak'],
): Asked {
  const { account, token, sizeMicro } = found;
  const meant = { action, condition: token.conditionId, amountMicro: sizeMicro };
  const requestId = requestIdOf(account, meant, keccak);
  const { wallet } = account;
  const position = { action, requestId: hexBytes(requestId), wallet, token, sizeMicro };
  return { requestId, retried: retriedOf(account, meant), position };
}

interface Work {
  readonly asked: PositionRequest;
  readonly requestId: OrderId;
  readonly caller: Caller;
  readonly turn: Turn;
}

async function carryOut(work: Work, ports: DoorPorts): Promise<Answered> {
  const { asked, requestId, caller } = work;
  const said = { request_id: requestId };
  const { partition } = asked.token.market;
  if (!ports.partitions.isReady(partition)) return refusedAction('partition_not_ready', said);
  const reserved = await reserve(work, ports);
  if (typeof reserved === 'string') return refusedAction(reserved, said);
  const { holdMicro, generation, send } = reserved;
  const held = { holdMicro, generation, acceptedAtMs: caller.arrivedAtMs };
  const outcome = await ports.log.run(partition, positionCommand(asked, held));
  if (outcome.kind === 'unsent') {
    if (send !== null) await takeBack(send, ports.ledger);
    return refusedAction(outcome.code, said);
  }
  if (outcome.kind === 'pending') return refusedAction('action_unconfirmed', said);
  if (outcome.kind === 'rejected') return refusedAction('internal_error', said);
  const done = positionOutcome(asked.action, outcome.events);
  if (done.kind === 'refused') return refusedAction(done.code, said);
  return { kind: 'final', status: 200, body: resultOf(asked, requestId, done.payoutMicro) };
}

/** `send` is null when nothing is reserved. */
type Held = Pick<Reserved, 'holdMicro' | 'generation'> & { readonly send: Reserved['send'] | null };

/**
 * Only a split needs money. One that may have been carried out already goes to the log with nothing held when there is no
 * money any more: the matcher knows it, or refuses it for the money.
 */
async function reserve(
  { asked, requestId: orderId, caller, turn }: Work,
  { ledger }: DoorPorts,
): Promise<Held | RefusalCode> {
  if (asked.action !== 'split') return { holdMicro: 0, generation: 0, send: null };
  const { wallet, token, sizeMicro: amountMicro } = asked;
  const { partition, market } = token.market;
  const acceptedAtMs = caller.arrivedAtMs;
  const meant = { orderId, wallet, partition, kind: 'split', market, acceptedAtMs } as const;
  return await hold({ ...meant, amountMicro }, turn.isResumed ? ['insufficient'] : [], ledger);
}

function resultOf(
  asked: PositionRequest,
  requestId: OrderId,
  payoutMicro: number | null,
): Omit<AccountActionResult, 'id'> {
  const { action, wallet, token, sizeMicro } = asked;
  const payout = payoutMicro === null ? {} : { payout: microText(payoutMicro) };
  return {
    success: true,
    action,
    request_id: requestId,
    wallet,
    condition_id: token.conditionId,
    ...(action === 'redeem' ? payout : { amount: microText(sizeMicro) }),
  };
}

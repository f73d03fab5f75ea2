import { reactionTo } from '@pm/kit/fault';
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
} from './account-request.ts';
import { authenticate } from './authenticate.ts';
import type { DoorPorts } from './ports.ts';
import { singleBodyMaxBytes } from './route.ts';
import { type Answered, runOnce, type Turn } from './run-once.ts';

const invalid = { text: 'invalid request: the body is not of this route', code: 'invalid_request' };

/**
 * POST /account/split, /account/merge, /account/redeem: USDC into pairs of tokens and back, and tokens of a resolved market
 * into their payout. Answered when the matcher has carried it out; once per id (docs/conventions.md 1.14).
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
        const { account, position } = asked;
        const retried = retriedOf(account, position, caller);
        return runOnce(retried, { retries: ports.retries, reply }, (turn) =>
          carryOut({ asked: position, account, caller, turn }, ports),
        );
      });
    },
  };
}

interface Asked {
  readonly account: AccountRequest;
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
  const account = readAccountRequest(body, at, { owners, keccak: hashes.keccak });
  if (typeof account === 'string') {
    return { code: account, facts: accountFacts(body, at.caller) };
  }
  const condition = parseConditionId(body.condition_id ?? body.conditionId ?? '');
  const token = condition === null ? undefined : markets.findCondition(condition);
  if (token === undefined) return { code: 'condition_mismatch', facts: {} };
  const { wallet } = account;
  const requestId = hexBytes(account.requestId);
  return { account, position: { action: at.action, requestId, wallet, token, ...size } };
}

function retriedOf({ wallet, id }: AccountRequest, asked: PositionRequest, { apiKey }: Caller) {
  const meaning = [asked.action, wallet, asked.token.conditionId, asked.sizeMicro].join('|');
  const retried = { caller: apiKey, route: `account/${asked.action}`, meaning };
  return { ...retried, key: `${wallet}|${id}`, repeated: { id } };
}

interface Work {
  readonly asked: PositionRequest;
  readonly account: AccountRequest;
  readonly caller: Caller;
  readonly turn: Turn;
}

async function carryOut(work: Work, ports: DoorPorts): Promise<Answered> {
  const { asked, account, caller, turn } = work;
  const said = { request_id: account.requestId };
  const { partition } = asked.token.market;
  if (!ports.partitions.isReady(partition)) return refusedAction('partition_not_ready', said);
  const hold = await reserve(asked, { requestId: account.requestId, caller, turn }, ports);
  if (typeof hold === 'string') return refusedAction(hold, said);
  const command = positionCommand(asked, { ...hold, acceptedAtMs: caller.arrivedAtMs });
  const outcome = await ports.log.run(partition, command);
  if (outcome.kind === 'unsent') {
    if (hold.isOurs) await giveBack(account.requestId, ports);
    return refusedAction(outcome.code, said);
  }
  if (outcome.kind === 'pending') return refusedAction('action_unconfirmed', said);
  if (outcome.kind === 'rejected') return refusedAction('internal_error', said);
  const done = positionOutcome(asked.action, outcome.events);
  if (done.kind === 'refused') return refusedAction(done.code, said);
  return { kind: 'final', status: 200, body: resultOf(asked, account, done.payoutMicro) };
}

interface Hold {
  readonly holdMicro: number;
  readonly generation: number;
  readonly isOurs: boolean;
}

const nothingHeld: Hold = { holdMicro: 0, generation: 0, isOurs: false };

/**
 * Only a split needs money. One that may have been carried out already goes to the log with nothing held when there is no
 * money any more: the matcher knows it, or refuses it for the money.
 */
async function reserve(
  { action, wallet, token, sizeMicro }: PositionRequest,
  at: { readonly requestId: OrderId; readonly caller: Caller; readonly turn: Turn },
  { ledger }: DoorPorts,
): Promise<Hold | RefusalCode> {
  if (action !== 'split') return nothingHeld;
  const { partition } = token.market;
  const { requestId: orderId, caller } = at;
  const held = { orderId, wallet, amountMicro: sizeMicro, partition };
  try {
    const { outcome, generation } = await ledger.reserve({
      ...held,
      acceptedAtMs: caller.arrivedAtMs,
    });
    if (outcome === 'not_ready') return 'ledger_not_ready';
    if (outcome !== 'insufficient') {
      return { holdMicro: sizeMicro, generation, isOurs: outcome === 'reserved' };
    }
    if (!at.turn.isResumed) return 'insufficient_balance_or_allowance';
    return { ...nothingHeld, generation };
  } catch (error) {
    if (reactionTo(error) !== 'retry') throw error;
    return 'ledger_not_ready';
  }
}

async function giveBack(requestId: OrderId, { ledger }: DoorPorts): Promise<void> {
  try {
    await ledger.cancelReservation(requestId);
  } catch (error) {
    if (reactionTo(error) !== 'retry') throw error;
  }
}

function resultOf(
  asked: PositionRequest,
  { requestId }: AccountRequest,
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

import { waiterOf } from '@pm/domain/commands/waiting-shares';
import {
  cancelSend,
  isShort,
  type Reserved,
  type Reserving,
  reserveRefusals,
  reserveWith,
} from '@pm/domain/orders/reservation.io';
import { microText } from '@pm/schemas/decimal';
import type { AccountActionResult } from '@pm/schemas/http/account';
import type { OrderId } from '@pm/schemas/ids';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { HttpResponse } from '../http/idempotency.io.ts';
import type { Caller } from '../orders/check.ts';
import { refusedAction } from './account-request.io.ts';
import type { MoneyServices } from './account-services.io.ts';
import { type PositionRequest, positionCommand, positionResult } from './position-action.ts';

/** A split, merge or redemption of a caller. */
export interface PositionWork {
  readonly asked: PositionRequest;
  readonly requestId: OrderId;
  readonly caller: Caller;
}

/** Carries the action out in the matcher; a split holds its money first. */
export async function carryOutPosition(
  work: PositionWork,
  services: Pick<MoneyServices, 'partitions' | 'ledger' | 'commands' | 'unfunded'>,
): Promise<HttpResponse> {
  const { asked, requestId, caller } = work;
  const waiter = waiterOf(caller);
  const said = { request_id: requestId };
  const { partition } = asked.token.market;
  if (!services.partitions.isReady(partition)) return refusedAction('partition_not_ready', said);
  const waitSeconds = services.unfunded.waitSeconds(waiter);
  const reserved = await reserve(work, { ledger: services.ledger, waitSeconds });
  if (reserved === 'rate_limited') return refusedAction(reserved, said, waitSeconds ?? undefined);
  if (typeof reserved === 'string') return refusedAction(reserved, said);
  const { holdMicro, generation, send } = reserved;
  const held = { holdMicro, generation, acceptedAtMs: caller.arrivedAtMs };
  const result = await services.commands.run(partition, positionCommand(asked, held), {
    waiter,
    mayUseReserve: false,
  });
  if (result.kind === 'unsent') {
    if (send !== null) await cancelSend(send, services.ledger);
    return refusedAction(result.code, said);
  }
  if (result.kind === 'pending') return refusedAction('action_unconfirmed', said);
  caller.answerPlaces.add(partition);
  if (result.kind === 'rejected') return refusedAction('internal_error', said);
  const done = positionResult(asked.action, result.events);
  if (done.kind === 'refused') {
    if (holdMicro === 0) services.unfunded.refused(waiter, done.code);
    return refusedAction(done.code, said);
  }
  return { kind: 'final', status: 200, body: doneOf(asked, requestId, done.payoutMicro) };
}

/** `send` is null when nothing is reserved. */
type Held = Pick<Reserved, 'holdMicro' | 'generation'> & { readonly send: Reserved['send'] | null };

/**
 * Only a split needs money. When there is none it may have been carried out before, whatever the memory of retries
 * says: it goes to the log with nothing held, and the matcher knows it, or refuses it for the money. What goes to the
 * log without money is limited (`waitSeconds`).
 */
async function reserve(
  { asked, requestId: orderId, caller }: PositionWork,
  { ledger, waitSeconds }: Pick<MoneyServices, 'ledger'> & { readonly waitSeconds: number | null },
): Promise<Held | RefusalCode> {
  const mayAsk = waitSeconds === null;
  if (asked.action !== 'split')
    return mayAsk ? { holdMicro: 0, generation: 0, send: null } : 'rate_limited';
  const { wallet, token, sizeMicro: amountMicro } = asked;
  const { partition, market } = token.market;
  const acceptedAtMs = caller.arrivedAtMs;
  const meant = { orderId, wallet, partition, kind: 'split', market, acceptedAtMs } as const;
  const withoutHold = (first: Reserving) => isShort(first) && mayAsk;
  const held = await reserveWith({ ...meant, amountMicro }, withoutHold, ledger);
  return held === reserveRefusals.insufficient && !mayAsk ? 'rate_limited' : held;
}

function doneOf(
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

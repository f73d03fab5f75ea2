import type { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import type { ReadOffsets } from '@pm/domain/commands/read-offsets.io';
import type { RecentResults } from '@pm/domain/commands/recent-results-cache';
import type { Reservation } from '@pm/domain/ledger/ledger';
import {
  cancelSend,
  isShort,
  type Reservations,
  type Reserved,
  type Reserving,
  reserveWith,
} from '@pm/domain/orders/reservation.io';
import type { OrderId } from '@pm/schemas/ids';
import type { Authentication } from '../http/authentication.io.ts';
import type { CheckedOrder, OrderRefusal } from './check.ts';

/** The parts that decide whether money is held for an order. */
export interface OrderReservationParts {
  readonly recentResults: Pick<RecentResults, 'mayHaveForgotten'>;
  readonly readOffsets: Pick<ReadOffsets, 'reach'>;
  readonly partitions: Pick<PartitionLiveness, 'isReady'>;
  readonly ledger: Pick<Reservations, 'reserve' | 'cancelReservation'>;
  readonly authentication: Pick<Authentication, 'freshness'>;
}

/** An order without a result here, for which money is to be held. */
export interface UnsentOrder {
  readonly order: CheckedOrder;
  readonly orderId: OrderId;
  /** The acceptance that its record will have, Unix milliseconds. */
  readonly acceptedAtMs: number;
  /** Until its caller may send orders without money, seconds; null when it may now. */
  readonly waitSeconds: number | null;
}

/**
 * Holds the money of an order; the refusal when it must not be sent. A refusal counts only if this process knows what
 * was answered before: no record of the order is on its way, and the results here reach as far as the ledger. Otherwise
 * the order goes to the log with nothing held: the matcher returns its first result again, or refuses it.
 */
export function reserveOrder(
  unsent: UnsentOrder,
  parts: OrderReservationParts,
): Promise<Reserved | OrderRefusal> {
  const refusal = unsent.order.policyRefusal ?? unsent.order.refusalIfNew;
  if (refusal !== null) return reserveRefused(refusal, unsent, parts);
  return reserveFunds(unsent, parts);
}

/** The refusal may still turn out to be wrong: a result that is read meanwhile counts instead. */
async function reserveFunds(
  unsent: UnsentOrder,
  parts: OrderReservationParts,
): Promise<Reserved | OrderRefusal> {
  const { order, waitSeconds } = unsent;
  if (!parts.partitions.isReady(order.token.market.partition))
    return refused('partition_not_ready');
  let isThrottled = false;
  const withoutHold = async (first: Reserving) => {
    const { outcome, mark } = first;
    if (outcome === 'conflict') return true;
    if (!isShort(first) || (await isNew(order, { mark }, parts))) return false;
    isThrottled = waitSeconds !== null;
    return !isThrottled;
  };
  const reservation = reservationOf(unsent, order.holdMicro);
  const reserved = await reserveWith(reservation, withoutHold, parts.ledger);
  if (typeof reserved !== 'string') return reserved;
  return isThrottled ? throttled(waitSeconds) : refused(reserved);
}

/**
 * An order that would be refused now, but may have been placed before. What operators forbid is never sent, since the
 * matcher does not know of it: such an order is unconfirmed where its result may have been forgotten.
 */
async function reserveRefused(
  refusal: OrderRefusal,
  unsent: UnsentOrder,
  parts: OrderReservationParts,
): Promise<Reserved | OrderRefusal> {
  const reserved = await reserveWith(reservationOf(unsent, 0), () => false, parts.ledger);
  if (typeof reserved === 'string') return refused(reserved);
  const final = await refusalOf(refusal, { unsent, reserved }, parts);
  if (final === null) return { ...reserved, unfunded: refusal.code };
  await cancelSend(reserved.send, parts.ledger);
  return final;
}

/** Null for an order that the log is asked for. */
async function refusalOf(
  refusal: OrderRefusal,
  { unsent, reserved }: { readonly unsent: UnsentOrder; readonly reserved: Reserved },
  parts: OrderReservationParts,
): Promise<OrderRefusal | null> {
  const { order, waitSeconds } = unsent;
  const { partition } = order.token.market;
  if (order.policyRefusal !== null) {
    // By the limit of the matcher, every order would be unconfirmed for five minutes after a start.
    const aheadMaxMs = parts.authentication.freshness.millisecondsMs;
    const { isFirst, mark } = reserved;
    const isRefused = isFirst && (await isNew(order, { mark, aheadMaxMs }, parts));
    return isRefused ? refusal : refused('order_unconfirmed');
  }
  if (reserved.isFirst && (await isNew(order, reserved, parts))) return refusal;
  if (waitSeconds !== null) return throttled(waitSeconds);
  return parts.partitions.isReady(partition) ? null : refused('partition_not_ready');
}

/** Whether every result of an order that the ledger knew would be known here. `aheadMaxMs`: see `mayHaveForgotten`. */
async function isNew(
  { form, token }: CheckedOrder,
  { mark, aheadMaxMs }: { readonly mark: number; readonly aheadMaxMs?: number },
  { recentResults, readOffsets }: OrderReservationParts,
): Promise<boolean> {
  const { partition } = token.market;
  const isRead = await readOffsets.reach(partition, mark);
  return isRead && !recentResults.mayHaveForgotten(partition, form.signedAtMs, aheadMaxMs);
}

function reservationOf(
  { order: { form, token }, orderId, acceptedAtMs }: UnsentOrder,
  amountMicro: number,
): Reservation {
  const { partition, market } = token.market;
  const wallet = form.maker;
  return { orderId, wallet, amountMicro, partition, kind: 'order', market, acceptedAtMs };
}

function refused(code: OrderRefusal['code']): OrderRefusal {
  return { kind: 'refused', code };
}

function throttled(waitSeconds: number | null): OrderRefusal {
  const refusal = refused('rate_limited');
  return waitSeconds === null ? refusal : { ...refusal, waitSeconds };
}

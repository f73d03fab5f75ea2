import { reactionTo } from '@pm/kit/fault';
import type { ReserveOutcome, Send } from '@pm/kit/ledger';
import type { RefusalCode } from '@pm/schemas';
import type { Reservations } from './ports.ts';

/** Why nothing is held; no entry where something is. */
export const reserveRefusals: Readonly<Partial<Record<ReserveOutcome, RefusalCode>>> = {
  not_ready: 'ledger_not_ready',
  insufficient: 'insufficient_balance_or_allowance',
  conflict: 'idempotency_key_reused',
  busy: 'overloaded',
};

/**
 * Takes a record that was certainly not sent out of its reservation. If this fails, the ledger releases the hold itself once
 * the log proves that the record cannot come any more.
 */
export async function takeBack(
  send: Send,
  ledger: Pick<Reservations, 'cancelReservation'>,
): Promise<void> {
  try {
    await ledger.cancelReservation(send);
  } catch (error) {
    if (reactionTo(error) !== 'retry') throw error;
  }
}

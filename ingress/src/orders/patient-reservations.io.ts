import type { ReserveResult, WithdrawalResult } from '@pm/domain/ledger/ledger';
import type { LedgerSettling } from '@pm/domain/ledger/ledger-settling.io';
import type { Reservations } from '@pm/domain/orders/reservation.io';

type ReservingLedger = Omit<Reservations, 'reserve' | 'reserveWithdrawal'> & {
  reserve(...asked: Parameters<Reservations['reserve']>): Promise<ReserveResult>;
  reserveWithdrawal(
    ...asked: Parameters<Reservations['reserveWithdrawal']>
  ): Promise<WithdrawalResult>;
};

/**
 * The ledger for those who have just been answered: money that is short is short only by a ledger that knows every
 * record of the log until then, whichever process answered them. So the proceeds of a sale pay for the next order.
 * A ledger that stays behind is `behind`: the caller may try again.
 */
export function patientReservations(
  ledger: ReservingLedger,
  settling: Pick<LedgerSettling, 'settle'>,
): Reservations {
  const again = async <T extends { readonly outcome: string }>(reserve: () => Promise<T>) => {
    const first = await reserve();
    if (first.outcome !== 'insufficient') return first;
    const isSettled = await settling.settle();
    const second = await reserve();
    const isShort = second.outcome === 'insufficient';
    return isShort && !isSettled ? { ...second, outcome: 'behind' as const } : second;
  };
  return {
    reserve: (reservation) => again(() => ledger.reserve(reservation)),
    reserveWithdrawal: (withdrawal) => again(() => ledger.reserveWithdrawal(withdrawal)),
    appliedTransfer: (id) => ledger.appliedTransfer(id),
    cancelReservation: (send) => ledger.cancelReservation(send),
    balance: (wallet) => ledger.balance(wallet),
  };
}

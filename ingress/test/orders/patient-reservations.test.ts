import type { Reservation, ReserveOutcome } from '@pm/domain/ledger/ledger';
import { reserveWith } from '@pm/domain/orders/reservation.io';
import { withdraw } from '@pm/domain/wallets/withdrawals.io';
import { patientReservations } from '../../src/orders/patient-reservations.io.ts';

const wallet = `0x${'a'.repeat(40)}` as const as Reservation['wallet'];
const orderId = `0x${'1'.repeat(64)}` as const as Reservation['orderId'];
const reservation: Reservation = {
  orderId,
  wallet,
  partition: 1,
  kind: 'order',
  market: 1,
  amountMicro: 5,
  acceptedAtMs: 0,
};

/** A ledger that has the money once it knows of the sale that the log has. */
function openLedger({ catchesUp, sold }: { catchesUp: boolean; sold: boolean }) {
  const asked: ReserveOutcome[] = [];
  let knowsSale = false;
  const reserveOnce = () => {
    const outcome: ReserveOutcome = knowsSale && sold ? 'reserved' : 'insufficient';
    asked.push(outcome);
    return outcome;
  };
  const found = { generation: 1, sender: 's' };
  const ledger = {
    reserve: async () => ({ ...found, outcome: reserveOnce(), mark: 7 }),
    reserveWithdrawal: async () => ({ ...found, outcome: reserveOnce(), paidMicro: 0 }),
    appliedTransfer: async () => null,
    cancelReservation: async () => true,
    balance: async () => ({ freeMicro: 0, availableMicro: 0 }),
  };
  const settle = async () => {
    knowsSale = catchesUp;
    return catchesUp;
  };
  return { asked, patient: patientReservations(ledger, { settle }) };
}

const withdrawal = { transferId: orderId, wallet, amountMicro: 5 };

test('proceeds of a sale that the ledger does not know yet pay for the next order', async () => {
  const { asked, patient } = openLedger({ catchesUp: true, sold: true });
  const held = await reserveWith(reservation, () => false, patient);
  expect(held).toMatchObject({ holdMicro: 5, isFirst: true });
  expect(asked).toEqual(['insufficient', 'reserved']);
});

test('money that is short in all of the log is refused as short', async () => {
  const { asked, patient } = openLedger({ catchesUp: true, sold: false });
  const refused = await reserveWith(reservation, () => false, patient);
  expect(refused).toBe('insufficient_balance_or_allowance');
  expect(asked).toEqual(['insufficient', 'insufficient']);
});

test('a ledger that stays behind refuses nothing for good', async () => {
  const { patient } = openLedger({ catchesUp: false, sold: true });
  expect(await reserveWith(reservation, () => false, patient)).toBe('ledger_not_ready');
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const transfers = { write: async () => 'durable' as const };
  const services = { ledger: patient, transfers, freezes: { isFrozen: () => false }, clock };
  expect(await withdraw(withdrawal, services as never)).toBe('ledger_not_ready');
});

test('proceeds that the ledger does not know yet can be withdrawn', async () => {
  const { asked, patient } = openLedger({ catchesUp: true, sold: true });
  expect((await patient.reserveWithdrawal(withdrawal as never)).outcome).toBe('reserved');
  expect(asked).toEqual(['insufficient', 'reserved']);
});

import type { WalletAddress } from '@pm/schemas/ids';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { Ledger } from '../ledger/ledger.io.ts';
import type {
  Reservation,
  ReserveOutcome,
  ReserveResult,
  Send,
  WithdrawalReservation,
  WithdrawalResult,
} from '../ledger/ledger.ts';
import { unlessUnavailable } from '../requests/requests.io.ts';

/** `behind`: the money is short in a ledger that does not know all of the log yet. */
type Behind<T> = Omit<T, 'outcome'> & { readonly outcome: 'behind' };

/** The part of the collateral ledger that ingress needs. */
export interface Reservations extends Pick<Ledger, 'appliedTransfer'> {
  reserve(reservation: Reservation): Promise<ReserveResult | Behind<ReserveResult>>;
  reserveWithdrawal(
    withdrawal: WithdrawalReservation,
  ): Promise<WithdrawalResult | Behind<WithdrawalResult>>;
  cancelReservation(send: Send): Promise<unknown>;
  /** The free money, and the part of it that can be reserved, micro-USDC. */
  balance(
    wallet: WalletAddress,
  ): Promise<{ readonly freeMicro: number; readonly availableMicro: number }>;
}

/** The outcome of a reservation. */
export type Reserving = Awaited<ReturnType<Reservations['reserve']>>;

/** Whether the ledger does not have the money, by what it knows. */
export function isShort({ outcome }: Pick<Reserving, 'outcome'>): boolean {
  return outcome === 'insufficient' || outcome === 'behind';
}

/** The reservation of an order or a split that is being sent. */
export interface Reserved {
  readonly generation: number;
  readonly holdMicro: number;
  /** The send to cancel when the record was certainly not sent. */
  readonly send: Send;
  /** No record of it was on its way to the log when this was reserved. */
  readonly isFirst: boolean;
  /** See `ReserveResult`. */
  readonly mark: number;
  /** The refusal when the matcher does not know the request and has no money for it. */
  readonly unfunded: RefusalCode;
}

/** Refusal for each outcome without a hold. */
export const reserveRefusals: Readonly<Partial<Record<ReserveOutcome | 'behind', RefusalCode>>> = {
  behind: 'ledger_not_ready',
  not_ready: 'ledger_not_ready',
  insufficient: 'insufficient_balance_or_allowance',
  conflict: 'idempotency_key_reused',
  busy: 'overloaded',
};

/**
 * Holds the amount. Where `withoutHold` says so nothing is held instead, and the record only asks the matcher for the
 * result of an earlier one: the matcher returns the first result again, or refuses for the money.
 */
export async function reserveWith(
  reservation: Reservation,
  withoutHold: (first: Reserving) => boolean | Promise<boolean>,
  ledger: Pick<Reservations, 'reserve'>,
): Promise<Reserved | RefusalCode> {
  const { orderId: id, partition, amountMicro } = reservation;
  const first = await unlessUnavailable(() => ledger.reserve(reservation));
  if (first === null) return 'ledger_not_ready';
  const isWithoutHold = await withoutHold(first);
  const held = isWithoutHold
    ? await unlessUnavailable(() => ledger.reserve({ ...reservation, amountMicro: 0 }))
    : first;
  if (held === null) return 'ledger_not_ready';
  const { outcome, generation, sender, mark } = held;
  const unfunded = reserveRefusals[first.outcome] ?? 'insufficient_balance_or_allowance';
  const send = { id, partition, sender };
  const holdMicro = isWithoutHold ? 0 : amountMicro;
  const isFirst = outcome === 'reserved';
  return reserveRefusals[outcome] ?? { generation, holdMicro, send, isFirst, mark, unfunded };
}

/**
 * Takes a record that was certainly not sent out of its reservation. If this fails, the ledger releases the hold itself
 * once the log proves that the record cannot come any more.
 */
export async function cancelSend(
  send: Send,
  ledger: Pick<Reservations, 'cancelReservation'>,
): Promise<void> {
  await unlessUnavailable(() => ledger.cancelReservation(send));
}

/** How often the ledger is asked whether it takes reservations, milliseconds. */
const askEveryMs = 1_000;

/** Whether the collateral ledger is ready, for the readiness of this process; orders ask the ledger itself. */
export function watchLedger(ledger: Pick<Ledger, 'state'>) {
  let ready = false;
  const ask = async () => {
    try {
      ready = (await ledger.state()).ready;
    } catch {
      // Not reachable is not ready; the client of Redis logs why.
      ready = false;
    }
  };
  void ask();
  const timer = setInterval(() => void ask(), askEveryMs);
  return { isReady: () => ready, close: () => clearInterval(timer) };
}

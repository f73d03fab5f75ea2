import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '@pm/kit/clock';
import { hexBytes, type OrderId, type WalletAddress } from '@pm/schemas/ids';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { TransferWriter } from '../commands/transfer-writer.io.ts';
import { withdrawalsLane } from '../ledger/ledger.ts';
import type { Reservations } from '../orders/reservation.io.ts';
import { cancelSend, reserveRefusals } from '../orders/reservation.io.ts';
import { unlessUnavailable } from '../requests/requests.io.ts';
import type { WithdrawalFreezes } from './withdrawal-freezes.io.ts';

export interface Withdrawal {
  /** 32 bytes as 0x-text; given once. */
  readonly transferId: OrderId;
  readonly wallet: WalletAddress;
  /** Micro-USDC, above 0. */
  readonly amountMicro: number;
}

/** A withdrawal that the ledger has applied. */
export interface PaidWithdrawal {
  /** Micro-USDC, above 0; what really left, which is less than asked where the ledger held less. */
  readonly paidMicro: number;
}

/**
 * A withdrawal whose money has been held for longer than this is not written any more, milliseconds. With the time that
 * a send takes at most it stays below the age at which its record is void (`withdrawalLateMs`).
 */
const writeWithinMs = 5_000;

const longestPauseMs = 80;

/** How long the ledger is waited for once the record is written, milliseconds; then the outcome is unconfirmed. */
const appliedWithinMs = 4_000;

/**
 * Pauses between two looks at the ledger, milliseconds: they double up to the longest and add up to `appliedWithinMs`.
 */
function* lookPausesMs(): Generator<number> {
  let pauseMs = 5;
  for (let sumMs = 0; sumMs < appliedWithinMs; sumMs += pauseMs) {
    yield pauseMs;
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

interface WithdrawalServices {
  readonly ledger: Pick<
    Reservations,
    'reserveWithdrawal' | 'cancelReservation' | 'appliedTransfer'
  >;
  readonly transfers: Pick<TransferWriter, 'write'>;
  readonly freezes: Pick<WithdrawalFreezes, 'isFrozen'>;
  readonly clock: Clock;
  /** Waits between two looks at the ledger, milliseconds; a timer unless given. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

type Held = Awaited<ReturnType<WithdrawalServices['ledger']['reserveWithdrawal']>>;

/**
 * Takes money out: held in the ledger first, then durable on `transfers`, then the ledger turns the hold into the
 * payment, which is the result. The same transfer id again never pays twice; another wallet or amount under it is
 * `idempotency_key_reused`.
 */
export async function withdraw(
  withdrawal: Withdrawal,
  services: WithdrawalServices,
): Promise<PaidWithdrawal | RefusalCode> {
  const { ledger, freezes, clock } = services;
  const { transferId, wallet } = withdrawal;
  const heldAtMs = clock.monotonicMs();
  const acceptedAtMs = clock.nowMs();
  const held = await unlessUnavailable(() =>
    ledger.reserveWithdrawal({ ...withdrawal, acceptedAtMs }),
  );
  if (held === null) return 'ledger_not_ready';
  if (held.outcome === 'applied') return paidOf(held.paidMicro);
  if (held.outcome === 'frozen') return 'withdrawals_frozen';
  const refusal = reserveRefusals[held.outcome];
  if (refusal !== undefined) return refusal;
  const send = { id: transferId, partition: withdrawalsLane, sender: held.sender };
  // After `already` an earlier record may be on its way: what became of it is not known here.
  const unsent = (code: RefusalCode) => (held.outcome === 'already' ? 'action_unconfirmed' : code);
  if (freezes.isFrozen(wallet)) {
    await cancelSend(send, ledger);
    return unsent('withdrawals_frozen');
  }
  const isLate = clock.monotonicMs() - heldAtMs > writeWithinMs;
  const written = isLate ? 'unsent' : await write(withdrawal, { held, acceptedAtMs }, services);
  if (written !== 'unsent') return await paymentOf(withdrawal, services);
  await cancelSend(send, ledger);
  return unsent('overloaded');
}

function write(
  { transferId, wallet, amountMicro }: Withdrawal,
  { held, acceptedAtMs }: { readonly held: Held; readonly acceptedAtMs: number },
  { transfers }: WithdrawalServices,
): ReturnType<TransferWriter['write']> {
  return transfers.write({
    transferId: hexBytes(transferId),
    wallet: hexBytes(wallet),
    amountMicro: -amountMicro,
    timeMs: acceptedAtMs,
    generation: held.generation,
  });
}

/** The payment of a record that is, or may be, on the log. */
async function paymentOf(
  { transferId, wallet, amountMicro }: Withdrawal,
  { ledger, clock, pause = wait }: WithdrawalServices,
): Promise<PaidWithdrawal | RefusalCode> {
  const untilMs = clock.monotonicMs() + appliedWithinMs;
  const pauses = lookPausesMs();
  for (let pauseMs = 0; clock.monotonicMs() <= untilMs; ) {
    await pause(pauseMs);
    const applied = await unlessUnavailable(() => ledger.appliedTransfer(transferId));
    if (applied !== null) {
      const isOwn = applied.wallet === wallet && applied.amountMicro === -amountMicro;
      return isOwn ? paidOf(-applied.movedMicro) : 'idempotency_key_reused';
    }
    const next = pauses.next();
    if (next.done === true) break;
    pauseMs = next.value;
  }
  return 'action_unconfirmed';
}

function paidOf(paidMicro: number): PaidWithdrawal | RefusalCode {
  return paidMicro > 0 ? { paidMicro } : 'insufficient_balance_or_allowance';
}

import type { Clock } from '@pm/kit/clock';
import { reactionTo } from '@pm/kit/fault';
import { hexBytes, type OrderId, type RefusalCode, type WalletAddress } from '@pm/schemas';
import type { Reservations, TransferWrites } from './ports.ts';

export interface Withdrawal {
  /** 32 bytes as 0x-text; given once. */
  readonly transferId: OrderId;
  readonly wallet: WalletAddress;
  /** Micro-USDC, above 0. */
  readonly amountMicro: number;
}

/**
 * A withdrawal whose money has been held for longer than this is not written any more, milliseconds. With the time that a
 * send takes at most it stays below the age at which its hold counts as orphaned (`withdrawalOrphanMs` of the projectors).
 */
const writeWithinMs = 5_000;

interface WithdrawalPorts {
  readonly ledger: Pick<Reservations, 'reserveWithdrawal' | 'cancelReservation'>;
  readonly transfers: TransferWrites;
  readonly clock: Clock;
}

/**
 * Takes money out: held in the ledger first, then durable on `transfers`, then the ledger turns the hold into the payment.
 * Null when it is durable, now or before. The same transfer id again never pays twice.
 */
export async function withdraw(
  withdrawal: Withdrawal,
  ports: WithdrawalPorts,
): Promise<RefusalCode | null> {
  const { ledger, transfers, clock } = ports;
  const { transferId, wallet, amountMicro } = withdrawal;
  const heldAtMs = clock.monotonicMs();
  const acceptedAtMs = clock.nowMs();
  const held = await reserve({ ...withdrawal, acceptedAtMs }, ledger);
  if (held.outcome === 'applied') return null;
  if (held.outcome === 'not_ready') return 'ledger_not_ready';
  if (held.outcome === 'insufficient') return 'insufficient_balance_or_allowance';
  const isLate = clock.monotonicMs() - heldAtMs > writeWithinMs;
  const written = isLate
    ? 'unsent'
    : await transfers.write({
        transferId: hexBytes(transferId),
        wallet: hexBytes(wallet),
        amountMicro: -amountMicro,
        timeMs: acceptedAtMs,
        generation: held.generation,
      });
  if (written === 'written') return null;
  if (written === 'unknown') return 'action_unconfirmed';
  // After `already` the hold is that of another request on its way.
  if (held.outcome === 'reserved') await giveBack(transferId, ledger);
  return 'overloaded';
}

type Ledger = WithdrawalPorts['ledger'];

async function reserve(
  withdrawal: Parameters<Ledger['reserveWithdrawal']>[0],
  ledger: Ledger,
): ReturnType<Ledger['reserveWithdrawal']> {
  try {
    return await ledger.reserveWithdrawal(withdrawal);
  } catch (error) {
    if (reactionTo(error) !== 'retry') throw error;
    return { outcome: 'not_ready', generation: 0 };
  }
}

/** If this fails, the hold is released as an orphan later. */
async function giveBack(transferId: OrderId, ledger: Ledger): Promise<void> {
  try {
    await ledger.cancelReservation(transferId);
  } catch (error) {
    if (reactionTo(error) !== 'retry') throw error;
  }
}

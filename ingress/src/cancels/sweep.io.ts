import type { Clock } from '@pm/kit/clock';
import type { WalletAddress } from '@pm/schemas';
import type { WalletOwners } from '../accounts/wallet-owners.ts';
import { StageTimes } from '../door/stage-times.io.ts';
import { type CancelServices, cancelAll } from './cancel-orders.io.ts';

/** The result of taking a wallet's orders off all books. */
export interface Swept {
  readonly canceled: number;
  /** Some partition has not confirmed it: to be done again. */
  readonly isUnconfirmed: boolean;
}

interface SweepServices extends CancelServices {
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly owners: Pick<WalletOwners, 'ownerOf'>;
}

/**
 * Cancels all resting orders that the wallet signed, and those that its owner signed: orders are known by who
 * signed them. Orders that arrived before and are still on their way are refused as `fenced`.
 */
export async function sweepOrders(wallet: WalletAddress, services: SweepServices): Promise<Swept> {
  const arrivedAtMs = services.clock.nowMs();
  const signers = new Set([wallet, services.owners.ownerOf(wallet) ?? wallet]);
  const times = new StageTimes(services.clock);
  const sweeps = [...signers].map((address) =>
    cancelAll({ caller: { address, arrivedAtMs }, times }, services),
  );
  const done = await Promise.all(sweeps);
  return {
    canceled: done.reduce((sum, { result }) => sum + result.canceled.length, 0),
    isUnconfirmed: done.some(({ failure }) => failure !== null),
  };
}

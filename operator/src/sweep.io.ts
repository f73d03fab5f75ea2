import { setTimeout as wait } from 'node:timers/promises';
import { type CancelAllServices, cancelAll } from '@pm/domain/cancels/cancel-orders.io';
import { StageTimes } from '@pm/domain/requests/stage-times.io';
import type { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import type { Clock } from '@pm/kit/clock';
import type { WalletAddress } from '@pm/schemas/ids';

/** The result of taking a wallet's orders off all books. */
export interface Swept {
  readonly canceled: number;
  /** Some partition has not confirmed it: to be done again. */
  readonly isUnconfirmed: boolean;
}

interface SweepServices extends CancelAllServices {
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly owners: Pick<WalletOwners, 'ownerOf'>;
  /** Waits between the two sweeps, milliseconds; a timer unless given. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

/** Every ingress has read the ban of a wallet after this, milliseconds. */
const banReadWithinMs = 500;

/**
 * Cancels all resting orders of a banned wallet, and once more when every ingress knows of the ban: until then one may
 * have taken further orders. A sweep that is not confirmed is the last.
 */
export async function sweepBanned(wallet: WalletAddress, services: SweepServices): Promise<Swept> {
  const first = await sweepOrders(wallet, services);
  if (first.isUnconfirmed) return first;
  await (services.pause ?? wait)(banReadWithinMs);
  const second = await sweepOrders(wallet, services);
  return { ...second, canceled: first.canceled + second.canceled };
}

/**
 * Cancels all resting orders that the wallet signed, and those that its owner signed: orders are known by who
 * signed them. Orders that arrived before and are still on their way are refused as `fenced`.
 */
async function sweepOrders(wallet: WalletAddress, services: SweepServices): Promise<Swept> {
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

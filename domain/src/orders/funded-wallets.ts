import { walletFromBytes } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { ExpiringMap } from '../ratelimit/expiring-map.ts';

/** Wallets of one generation; about 150 bytes each. A forgotten one is learned again with its next order. */
const walletsMax = 50_000;

/**
 * Wallets whose orders the log has taken, or canceled, since this process started, and so had money or tokens; the
 * recently used ones. It only ever speaks for a wallet, so it may lag behind the log.
 */
export class FundedWallets {
  readonly #wallets: ExpiringMap<string, true>;

  constructor(max = walletsMax) {
    this.#wallets = new ExpiringMap(max);
  }

  /** Takes the events of a record of `executions`. */
  take(events: readonly ExecutionEvent[]): void {
    for (const event of events) {
      if (event.kind === 'OrderPlaced') this.#wallets.set(walletFromBytes(event.signer), true);
      if (event.kind === 'OrderCanceled') this.#wallets.set(walletFromBytes(event.maker), true);
    }
  }

  has(wallet: string): boolean {
    return this.#wallets.use(wallet) === true;
  }
}

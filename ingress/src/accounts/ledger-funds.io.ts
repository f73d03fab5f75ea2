import type { FundedWallets } from '@pm/domain/orders/funded-wallets';
import { ExpiringMap } from '@pm/domain/ratelimit/expiring-map';
import type { PayerFunds } from '@pm/domain/ratelimit/limit-requests.io';
import type { Clock } from '@pm/kit/clock';
import type { WalletAddress } from '@pm/schemas/ids';
import type { EntryQuota } from './entry-quota.io.ts';

/** Wallets of one generation whose money was asked for; about 250 bytes each. */
const askedMax = 50_000;
/** How old what is known of the money of a wallet may be before it is asked for again, milliseconds. */
const askAgainMs = 5_000;

export interface LedgerFundsOptions {
  /** Wallets that trade: what they hold may be tokens alone. */
  readonly trading: Pick<FundedWallets, 'has'>;
  readonly entryQuota: Pick<EntryQuota, 'hasMoney'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

interface Asked {
  /** Null until the first answer. */
  readonly isFunded: boolean | null;
  /** Pending while it is asked for. */
  readonly asking: Promise<boolean> | null;
  readonly askedAtMs: number;
}

/**
 * Whether wallets have money, by the ledger and by the orders that the log has taken. The ledger is asked before the
 * first request of a wallet counts, and again beside later requests: a deposit is known with the second request after
 * it, or 5 seconds later. While the ledger does not answer no wallet counts as one without money.
 */
export class LedgerFunds implements PayerFunds {
  readonly #options: LedgerFundsOptions;
  readonly #asked: ExpiringMap<WalletAddress, Asked>;

  constructor(options: LedgerFundsOptions, max = askedMax) {
    this.#options = options;
    this.#asked = new ExpiringMap(max);
  }

  isFunded(payer: WalletAddress): boolean | Promise<boolean> {
    const { trading, clock } = this.#options;
    if (trading.has(payer)) return true;
    const known = this.#asked.use(payer);
    if (known === undefined) return this.#ask(payer, null);
    const isDue = known.asking === null && clock.monotonicMs() - known.askedAtMs >= askAgainMs;
    const asking = isDue ? this.#ask(payer, known.isFunded) : known.asking;
    return known.isFunded ?? asking ?? true;
  }

  isKnownUnfunded(payer: WalletAddress): boolean {
    return !this.#options.trading.has(payer) && this.#asked.get(payer)?.isFunded === false;
  }

  #ask(payer: WalletAddress, before: boolean | null): Promise<boolean> {
    const askedAtMs = this.#options.clock.monotonicMs();
    const asking = this.#options.entryQuota
      .hasMoney(payer)
      .catch(() => true)
      .then((isFunded) => {
        this.#asked.set(payer, { isFunded, asking: null, askedAtMs });
        return isFunded;
      });
    this.#asked.set(payer, { isFunded: before, asking, askedAtMs });
    return asking;
  }
}

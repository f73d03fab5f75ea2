import type { Waiter } from '@pm/domain/commands/waiting-shares';
import type { FundedWallets } from '@pm/domain/orders/funded-wallets';
import type { Caller } from '@pm/domain/ratelimit/callers';
import { takeEach } from '@pm/domain/ratelimit/charges.io';
import { ExpiringMap } from '@pm/domain/ratelimit/expiring-map';
import type { RateLimiter } from '@pm/domain/ratelimit/limiter.io';
import { unfundedRules } from '@pm/schemas/rate-limits';
import type { RefusalCode } from '@pm/schemas/refusals';

type Limiter = Pick<RateLimiter, 'take' | 'isSpent' | 'giveBack' | 'nowMs'>;

/** Wallets of one generation that were counted; about 150 bytes each. */
const countedMax = 50_000;

/** The matcher found no money or no tokens. */
const withoutFunds: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'insufficient_balance_or_allowance',
  'insufficient_position',
]);

/**
 * Refusal codes that the matcher gives only after it has found the tokens, and codes that say nothing about the
 * request.
 */
const notForFree: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'too_many_open_orders',
  'post_only_would_cross',
  'fok_not_filled',
  'fak_not_filled',
  'self_trade',
  'fill_limit',
  'internal_error',
]);

/**
 * Counts what costs its sender nothing and the log a record: requests without reserved money (sells, merges,
 * redemptions, repetitions) that the matcher refused. They are counted by their results, because only the matcher knows
 * tokens; so a wallet that sells what it has just bought is never counted, however far a projection lags. Shared by
 * all processes in Redis; each lets through what it has sent before it hears that the count is used up.
 */
export class UnfundedRequests {
  readonly #limiter: Limiter | null;
  readonly #funded: Pick<FundedWallets, 'has'>;
  readonly #counted = new ExpiringMap<string, true>(countedMax);

  /** `limiter`: null when requests are not limited. */
  constructor(limiter: Limiter | null, funded: Pick<FundedWallets, 'has'>) {
    this.#limiter = limiter;
    this.#funded = funded;
  }

  /**
   * Seconds until the caller may send a request without reserved money; null when it may now. What others at its
   * address have used up concerns only wallets that were counted themselves and are not known to trade.
   */
  waitSeconds({ wallet, client }: Waiter): number | null {
    if (this.#limiter === null) return null;
    const own = this.#limiter.isSpent(ofWallet(wallet), unfundedRules);
    if (own !== null) return own.resetSeconds;
    if (this.#counted.get(wallet) === undefined || this.#funded.has(wallet)) return null;
    return this.#limiter.isSpent(ofAddress(client), unfundedRules)?.resetSeconds ?? null;
  }

  /**
   * Takes the refusal of a request without reserved money. One that says nothing of tokens, such as `too_late`, counts
   * only against a wallet that is not known to trade: it may be due to the exchange.
   */
  refused({ wallet, client }: Waiter, code: RefusalCode): void {
    if (this.#limiter === null || notForFree.has(code)) return;
    if (!withoutFunds.has(code) && this.#funded.has(wallet)) return;
    this.#counted.set(wallet, true);
    const charges = [ofWallet(wallet), ofAddress(client)].map((caller) => {
      return { caller, rules: unfundedRules };
    });
    void takeEach(this.#limiter, charges, 1);
  }
}

function ofWallet(id: string): Caller {
  return { kind: 'wallet', id };
}

function ofAddress(id: string): Caller {
  return { kind: 'network', id };
}

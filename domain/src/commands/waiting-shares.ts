/** Who waits for the result of a command: the wallet of the key, and the counted address of its client. */
export interface Waiter {
  readonly wallet: string;
  readonly client: string;
}

/** The commands of a caller are bounded by its wallet and its address. */
export function waiterOf(caller: { readonly address: string; readonly client: string }): Waiter {
  return { wallet: caller.address, client: caller.client };
}

/** Bounds of commands that wait for their results at once. */
export interface WaitingLimits {
  readonly total: number;
  /** Part of the total that is kept free for cancels whose partition is known, and for the exchange itself. */
  readonly reserve: number;
  readonly perWallet: number;
  readonly perClient: number;
}

/** Four clients of different addresses cannot fill the total, ten wallets not what is beside the reserve. */
const defaultLimits: WaitingLimits = {
  total: 20_000,
  reserve: 4_000,
  perWallet: 1_600,
  perClient: 4_000,
};

/**
 * Places for commands that wait for their results, so that neither one wallet nor one address can fill them, and
 * cancels find a place when everything else is full. Wallets and addresses are counted while they wait.
 */
export class WaitingShares {
  readonly #limits: WaitingLimits;
  readonly #ofWallet = new Map<string, number>();
  readonly #ofClient = new Map<string, number>();
  #count = 0;

  constructor(limits: WaitingLimits = defaultLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  /** Takes places; false when there are too few for this waiter. Null waits for the exchange itself. */
  take(waiter: Waiter | null, mayUseReserve: boolean, places = 1): boolean {
    const { total, reserve, perWallet, perClient } = this.#limits;
    if (this.#count + places > (mayUseReserve ? total : total - reserve)) return false;
    if (waiter !== null) {
      if ((this.#ofWallet.get(waiter.wallet) ?? 0) + places > perWallet) return false;
      if ((this.#ofClient.get(waiter.client) ?? 0) + places > perClient) return false;
      add(this.#ofWallet, waiter.wallet, places);
      add(this.#ofClient, waiter.client, places);
    }
    this.#count += places;
    return true;
  }

  /** Gives taken places back, once. */
  leave(waiter: Waiter | null, places = 1): void {
    this.#count -= places;
    if (waiter === null) return;
    add(this.#ofWallet, waiter.wallet, -places);
    add(this.#ofClient, waiter.client, -places);
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}

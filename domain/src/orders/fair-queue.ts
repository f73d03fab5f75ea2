import type { Waiter } from '../commands/waiting-shares.ts';

/**
 * Items that wait by client and wallet. Clients are served in rotation, and so are the wallets of a client: a caller
 * with a long queue delays its own items, and those of others by one item in each round.
 */
export class FairQueue<T> {
  /** The next to be served first. */
  readonly #clients = new Map<string, Map<string, T[]>>();

  push({ client, wallet }: Waiter, item: T): void {
    const wallets = this.#clients.get(client) ?? new Map<string, T[]>();
    const items = wallets.get(wallet) ?? [];
    items.push(item);
    wallets.set(wallet, items);
    this.#clients.set(client, wallets);
  }

  /** The next item; undefined when there is none. */
  shift(): T | undefined {
    for (const [client, wallets] of this.#clients) {
      this.#clients.delete(client);
      const item = nextOf(wallets);
      if (wallets.size > 0) this.#clients.set(client, wallets);
      return item;
    }
    return undefined;
  }
}

/** Takes an item of the first wallet, which becomes the last one. */
function nextOf<T>(wallets: Map<string, T[]>): T | undefined {
  for (const [wallet, items] of wallets) {
    wallets.delete(wallet);
    const item = items.shift();
    if (items.length > 0) wallets.set(wallet, items);
    return item;
  }
  return undefined;
}

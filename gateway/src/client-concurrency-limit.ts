/** Bounds of the requests of one client, or of those with one process. */
export interface SlotLimits {
  /** With a service at once. */
  readonly atOnce: number;
  /** Waiting for that. */
  readonly waiting: number;
  /** Longest wait, milliseconds: a client that has given up must not be served later. */
  readonly waitMs: number;
}

interface Client {
  running: number;
  /** In the order of their arrival. */
  readonly waiting: Set<() => void>;
}

/**
 * Requests of each client that a service has at once; others of the same client wait in their order. So a service that
 * works on one thing after the other has only so many of a client before the next request of another one. A slot is
 * held until its response has been taken: responses that are not taken hold connections to the service, too.
 */
export class ClientConcurrencyLimit {
  readonly #limits: SlotLimits;
  /** Clients with a request; nothing is kept of others. */
  readonly #clients = new Map<string, Client>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Clients with requests here. */
  get size(): number {
    return this.#clients.size;
  }

  /** Requests with a service, or whose responses are being taken. */
  get running(): number {
    return this.#sum(({ running }) => running);
  }

  /** Requests that wait for a slot. */
  get waiting(): number {
    return this.#sum(({ waiting }) => waiting.size);
  }

  /**
   * Resolves with what releases the slot, when there is one; with null when too many of the client wait, or when none
   * is free in time. Each slot is released once.
   */
  async enter(name: string): Promise<(() => void) | null> {
    const client = this.#clients.get(name) ?? { running: 0, waiting: new Set() };
    if (client.running >= this.#limits.atOnce) {
      if (client.waiting.size >= this.#limits.waiting) return null;
      // The one that ends passes its place on.
      if (!(await this.#hasSlot(client))) return null;
    } else {
      client.running += 1;
      this.#clients.set(name, client);
    }
    return () => this.#leave(name, client);
  }

  #sum(of: (client: Client) => number): number {
    let sum = 0;
    for (const client of this.#clients.values()) sum += of(client);
    return sum;
  }

  #hasSlot({ waiting }: Client): Promise<boolean> {
    return new Promise((resolve) => {
      const start = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        waiting.delete(start);
        resolve(false);
      }, this.#limits.waitMs);
      waiting.add(start);
    });
  }

  #leave(name: string, client: Client): void {
    const [next] = client.waiting;
    if (next !== undefined) {
      client.waiting.delete(next);
      next();
      return;
    }
    client.running -= 1;
    if (client.running === 0) this.#clients.delete(name);
  }
}

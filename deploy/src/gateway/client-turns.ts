/** Bounds of the requests of one client. */
export interface TurnLimits {
  /** With a service at once. */
  readonly atOnce: number;
  /** Waiting for that. */
  readonly waiting: number;
}

interface Client {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Requests of each client that a service has at once; others of the same client wait in their order. So a service that
 * works on one thing after the other has only so many of a client before the next request of another one.
 */
export class ClientTurns {
  readonly #limits: TurnLimits;
  /** Clients with a request; nothing is kept of others. */
  readonly #clients = new Map<string, Client>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Clients with requests here. */
  get size(): number {
    return this.#clients.size;
  }

  /** Runs the task when it is its turn; null, at once, when too many of the client wait. */
  async run<T>(name: string, task: () => Promise<T>): Promise<T | null> {
    const client = this.#clients.get(name) ?? { running: 0, waiting: [] };
    if (client.running >= this.#limits.atOnce) {
      if (client.waiting.length >= this.#limits.waiting) return null;
      // The one that ends passes its place on.
      await new Promise<void>((resolve) => client.waiting.push(resolve));
    } else {
      client.running += 1;
      this.#clients.set(name, client);
    }
    try {
      return await task();
    } finally {
      this.#leave(name, client);
    }
  }

  #leave(name: string, client: Client): void {
    const next = client.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    client.running -= 1;
    if (client.running === 0) this.#clients.delete(name);
  }
}

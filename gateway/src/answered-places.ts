import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type LogPlaces, placesIn, placesText } from '@pm/kit/http';
import { headers as names } from '@pm/schemas/signing';

/** Limits of the places that answers named (limits.md). */
export interface AnsweredLimits {
  /** How long a place is handed on after the answer that named it, milliseconds. */
  readonly keptMs: number;
  /** Names of clients: wallets, keys of agents and addresses. */
  readonly clients: number;
  /** Partitions of one name. */
  readonly perClient: number;
  /** Places of all names together; about 100 bytes each. */
  readonly places: number;
}

/** Readers are some milliseconds behind; one that is behind for longer says so by itself (`/status`). */
export const answeredLimits: AnsweredLimits = {
  keptMs: 10_000,
  clients: 20_000,
  perClient: 256,
  places: 200_000,
};

interface Place {
  readonly offset: number;
  readonly untilMs: number;
}

/** The places of one name; the one that an answer named last comes last. */
type ClientPlaces = Map<number, Place>;

/**
 * How far in the log each client has been answered, so that its next request anywhere is not answered from before. What
 * does not fit is forgotten, the oldest first: such a client reads as one to which nothing was answered.
 */
export class AnsweredPlaces {
  readonly #limits: AnsweredLimits;
  readonly #monotonicMs: () => number;
  /** The name that was answered last comes last. */
  readonly #clients = new Map<string, ClientPlaces>();
  #count = 0;

  constructor(monotonicMs: () => number = () => performance.now(), limits = answeredLimits) {
    this.#monotonicMs = monotonicMs;
    this.#limits = limits;
  }

  /** Names of clients that are kept. */
  get size(): number {
    return this.#clients.size;
  }

  /** Places that are kept. */
  get places(): number {
    return this.#count;
  }

  /** An answer to the client with these names tells of the log up to here. */
  take(clientNames: readonly string[], text: string): void {
    const answered = placesIn(text);
    if (answered.size === 0) return;
    for (const name of clientNames) this.#raise(name, answered);
    for (const name of this.#clients.keys()) {
      const isOver = this.#clients.size > this.#limits.clients || this.#count > this.#limits.places;
      if (!isOver) return;
      this.#forget(name);
    }
  }

  /** The header that hands on what was answered to any of these names; undefined when nothing was. */
  of(clientNames: readonly string[]): string | undefined {
    const highest = new Map<number, number>();
    for (const name of clientNames)
      for (const [partition, { offset }] of this.#current(name))
        if (offset > (highest.get(partition) ?? -1)) highest.set(partition, offset);
    return highest.size === 0 ? undefined : placesText(highest);
  }

  #raise(name: string, answered: LogPlaces): void {
    const known = this.#clients.get(name) ?? new Map<number, Place>();
    this.#clients.delete(name);
    this.#clients.set(name, known);
    this.#count -= known.size;
    const untilMs = this.#monotonicMs() + this.#limits.keptMs;
    for (const [partition, offset] of answered) {
      const before = known.get(partition)?.offset ?? -1;
      known.delete(partition);
      known.set(partition, { offset: Math.max(before, offset), untilMs });
    }
    for (const partition of known.keys()) {
      if (known.size <= this.#limits.perClient) break;
      known.delete(partition);
    }
    this.#count += known.size;
  }

  /** The places of a name whose time has not passed; it forgets the others. */
  #current(name: string): ClientPlaces {
    const known = this.#clients.get(name);
    if (known === undefined) return none;
    const monotonicMs = this.#monotonicMs();
    for (const [partition, { untilMs }] of known) {
      if (untilMs > monotonicMs) return known;
      known.delete(partition);
      this.#count -= 1;
    }
    this.#clients.delete(name);
    return none;
  }

  #forget(name: string): void {
    this.#count -= this.#clients.get(name)?.size ?? 0;
    this.#clients.delete(name);
  }
}

const none: ClientPlaces = new Map();

const walletHeader = names.address.toLowerCase();
/** Characters of a header that count. */
const nameMaxChars = 64;

/**
 * The names of the client of a request: its address, the wallet that it names, and the key of its agent. Only ingress
 * names places, and only to a client that it has proved; who invents a name waits for what another one was answered.
 */
export function clientNames(headers: IncomingHttpHeaders, address: string): readonly string[] {
  const { [walletHeader]: wallet, authorization } = headers;
  const found = [`address ${address}`];
  if (typeof wallet === 'string')
    found.push(`wallet ${wallet.slice(0, nameMaxChars).toLowerCase()}`);
  if (authorization !== undefined)
    found.push(`agent ${createHash('sha256').update(authorization).digest('base64url')}`);
  return found;
}

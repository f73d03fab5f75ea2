import type { ConnectionLimits } from './listener-bounds.ts';

/** How many connections an address may open. */
export interface OpeningLimit {
  /** At once. */
  readonly most: number;
  /** In which it may open as many again, evenly, milliseconds. */
  readonly renewMs: number;
}

/** The limit that belongs to a share of connections: at a gateway an address has as many streams besides. */
export function openingLimitOf({
  perAddress,
  renewMs,
}: Pick<ConnectionLimits, 'perAddress' | 'renewMs'>): OpeningLimit {
  return { most: 2 * perAddress, renewMs };
}

/** Sums of gaps are rounded by less. */
const roundingMs = 0.001;
/** Addresses that are remembered; the one that opened none for the longest time is forgotten for one more. */
const addressesMax = 10_000;

/**
 * Bounds how fast each address opens connections, by the generic cell rate algorithm (ITU-T I.371). Times are monotonic
 * milliseconds.
 */
export class OpeningRates {
  readonly #limit: OpeningLimit;
  readonly #gapMs: number;
  /** When all that the address has opened is renewed. */
  readonly #renewedAtMs = new Map<string, number>();

  constructor(limit: OpeningLimit) {
    this.#limit = limit;
    this.#gapMs = limit.renewMs / limit.most;
  }

  /** Counts one more; false, and nothing counted, when the address is beyond its rate. */
  take(address: string, nowMs: number): boolean {
    const renewedAtMs = Math.max(this.#renewedAtMs.get(address) ?? nowMs, nowMs) + this.#gapMs;
    if (renewedAtMs - nowMs > this.#limit.renewMs + roundingMs) return false;
    // In the order of their newest ones.
    this.#renewedAtMs.delete(address);
    this.#renewedAtMs.set(address, renewedAtMs);
    if (this.#renewedAtMs.size > addressesMax) {
      const [oldest] = this.#renewedAtMs.keys();
      if (oldest !== undefined) this.#renewedAtMs.delete(oldest);
    }
    return true;
  }
}

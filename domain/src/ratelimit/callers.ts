import { rateRules } from '@pm/schemas/rate-limits';
import type { CountedKind } from '@pm/schemas/redis/cache';
import { ExpiringMap } from './expiring-map.ts';

/**
 * Kind of a caller: an address (of requests without a proof), an API key, an agent; the wallet of a key; the address of
 * all requests with a proof (`network`), and of those of wallets without money (`unfunded`); or a claimed key at an
 * address, whose proofs fail.
 */
export type CallerKind = CountedKind;

export interface Caller {
  readonly kind: CallerKind;
  readonly id: string;
}

/** A claimed key at an address; `key` is empty for a claim that names none. */
export function claimOf(address: Caller, key: string): Caller {
  return { kind: 'claim', id: `${address.id} ${key}` };
}

/** State of one rule of one caller in this process. Times are monotonic milliseconds. */
export interface Bucket {
  /** Number of the window since the epoch, by the clock of the store; -1 when nothing is known. */
  window: number;
  /** When it ends at the earliest. */
  endsAtMs: number;
  /** Taken from the store and not used yet. */
  leased: number;
  /** Upper bound of the units left in the store: it only decreases within a window. */
  remaining: number;
  /** Requests to the store in flight. */
  asking: number;
}

/** Count of one rule without the store. */
export interface LocalCount {
  window: number;
  used: number;
}

/** Counts of one caller in this process, by the index of the rule. */
export interface CallerCounts {
  readonly caller: Caller;
  readonly buckets: (Bucket | undefined)[];
  readonly local: (LocalCount | undefined)[];
}

/** Callers in one generation; at most two generations are kept. A forgotten caller costs a request to the store. */
const callersPerGeneration = 50_000;

/** The recently seen callers of one kind, bounded. */
export class SeenCallers {
  readonly #kind: CallerKind;
  readonly #seen: ExpiringMap<string, CallerCounts>;

  constructor(kind: CallerKind, max = callersPerGeneration) {
    this.#kind = kind;
    this.#seen = new ExpiringMap(max);
  }

  get size(): number {
    return this.#seen.size;
  }

  /** Undefined for a caller that was not seen recently. */
  find(id: string): CallerCounts | undefined {
    return this.#seen.get(id);
  }

  of(id: string): CallerCounts {
    const known = this.#seen.use(id);
    if (known !== undefined) return known;
    return this.#seen.set(id, { caller: { kind: this.#kind, id }, buckets: [], local: [] });
  }
}

export function bucketAt({ buckets }: CallerCounts, place: number): Bucket {
  const known = buckets[place];
  if (known !== undefined) return known;
  const fresh = { window: -1, endsAtMs: 0, leased: 0, remaining: 0, asking: 0 };
  buckets[place] = fresh;
  return fresh;
}

/** The limit of each rule, by its place, for each kind of caller. */
export type LimitTable = Readonly<Record<CallerKind, Float64Array>>;

/** Factors of the table by kind of caller; the others get the table. */
export interface LimitFactors {
  readonly agent: number;
  /** Factor for all keys of a wallet together. */
  readonly wallet: number;
  /** Factor for all keys and agents at an address together. */
  readonly network: number;
  /** Factor for all wallets without money at an address together. */
  readonly unfunded: number;
}

/** `scale` multiplies everything. No limit is below 1. */
export function limitTable(scale: number, factors: LimitFactors): LimitTable {
  const times = (factor: number) =>
    Float64Array.from(rateRules, ({ limit }) => Math.max(1, Math.floor(limit * scale * factor)));
  const table = times(1);
  return {
    address: table,
    key: table,
    agent: times(factors.agent),
    wallet: times(factors.wallet),
    network: times(factors.network),
    unfunded: times(factors.unfunded),
    claim: table,
  };
}

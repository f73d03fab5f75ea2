import type { CommandOf, PlaceOrder } from '@pm/schemas/log/orders';
import { copyOf } from './interned.ts';

/** The orders of a signer, a key, a market, an outcome; null and -1 mean any. */
export interface FenceScope {
  readonly signer: Buffer | null;
  readonly apiKey: Buffer | null;
  readonly market: number;
  readonly outcome: number;
}

/** Orders of the scope that ingress accepted until `acceptedAtMs` are refused by the book. */
export interface Fence extends FenceScope {
  readonly acceptedAtMs: number;
}

/**
 * Cancels of many orders apply to orders that have not reached the book yet, by a fence for each scope.
 *
 * Promises: an order is looked up in at most sixteen places, and in none when it was accepted after every fence; of one
 * scope the latest fence counts; a fence is kept until every order it covers would be too late for the book.
 */
export class Fences {
  /** By signer and key, then by market and outcome. */
  private readonly byOwner = new Map<string, Map<number, Fence>>();
  count = 0;
  private earliestMs = Number.POSITIVE_INFINITY;
  private latestMs = Number.NEGATIVE_INFINITY;

  /** Adds a fence or moves it forward; false when there would be more than `max`. */
  add(fence: Fence, max: number): boolean {
    const owner = ownerOf(fence.signer, fence.apiKey);
    const scope = scopeOf(fence.market, fence.outcome);
    const known = this.byOwner.get(owner)?.get(scope);
    if (known === undefined) {
      if (this.count >= max) return false;
      this.count += 1;
    } else if (known.acceptedAtMs >= fence.acceptedAtMs) {
      return true;
    }
    this.put(owner, scope, fence);
    return true;
  }

  covers(order: PlaceOrder): boolean {
    if (order.acceptedAtMs > this.latestMs) return false;
    const { signer, apiKey } = order;
    return (
      this.coversIn(ownerOf(signer, apiKey), order) ||
      this.coversIn(ownerOf(signer, null), order) ||
      this.coversIn(ownerOf(null, apiKey), order) ||
      this.coversIn(ownerOf(null, null), order)
    );
  }

  /** Forgets every fence for times before `beforeMs`. */
  forget(beforeMs: number): void {
    if (this.earliestMs >= beforeMs) return;
    const kept = this.inOrder().filter(({ acceptedAtMs }) => acceptedAtMs >= beforeMs);
    this.byOwner.clear();
    this.count = 0;
    this.earliestMs = Number.POSITIVE_INFINITY;
    this.latestMs = Number.NEGATIVE_INFINITY;
    for (const fence of kept) this.add(fence, kept.length);
  }

  /** By signer and key, then by market and outcome. */
  inOrder(): Fence[] {
    const owners = [...this.byOwner].sort(([a], [b]) => (a < b ? -1 : 1));
    return owners.flatMap(([, fences]) =>
      [...fences].sort(([a], [b]) => a - b).map(([, fence]) => fence),
    );
  }

  private put(owner: string, scope: number, fence: Fence): void {
    const { signer, apiKey, market, outcome, acceptedAtMs } = fence;
    const own = {
      signer: signer === null ? null : copyOf(signer),
      apiKey: apiKey === null ? null : copyOf(apiKey),
      market,
      outcome,
      acceptedAtMs,
    };
    const fences = this.byOwner.get(owner);
    if (fences === undefined) this.byOwner.set(owner, new Map([[scope, own]]));
    else fences.set(scope, own);
    if (acceptedAtMs < this.earliestMs) this.earliestMs = acceptedAtMs;
    if (acceptedAtMs > this.latestMs) this.latestMs = acceptedAtMs;
  }

  private coversIn(owner: string, order: PlaceOrder): boolean {
    const fences = this.byOwner.get(owner);
    if (fences === undefined) return false;
    const { market, outcome, acceptedAtMs } = order;
    const until = (ofMarket: number, ofOutcome: number): number =>
      fences.get(scopeOf(ofMarket, ofOutcome))?.acceptedAtMs ?? Number.NEGATIVE_INFINITY;
    return (
      acceptedAtMs <= until(-1, -1) ||
      acceptedAtMs <= until(market, -1) ||
      acceptedAtMs <= until(-1, outcome) ||
      acceptedAtMs <= until(market, outcome)
    );
  }
}

/** The fence of a command, cut at `latestMs`, beyond which no order is in time for the book; null without a scope. */
export function fenceOf(command: CommandOf<'CancelOrders'>, latestMs: number): Fence | null {
  const { signer, apiKey, market, outcome, acceptedAtMs } = command;
  if (acceptedAtMs <= 0 || market < -1 || outcome < -1 || outcome > 1) return null;
  return { signer, apiKey, market, outcome, acceptedAtMs: Math.min(acceptedAtMs, latestMs) };
}

function ownerOf(signer: Buffer | null, apiKey: Buffer | null): string {
  return `${signer?.toString('latin1') ?? ''}/${apiKey?.toString('latin1') ?? ''}`;
}

/** Outcomes are -1, 0 and 1. */
function scopeOf(market: number, outcome: number): number {
  return market * 4 + outcome;
}

import type { CommandOf, PlaceOrder } from '@pm/schemas';
import { copyOf } from './interned.ts';

/** Orders of whom and of what; null and -1 are everybody's and everything. */
export interface FenceScope {
  readonly signer: Buffer | null;
  readonly apiKey: Buffer | null;
  readonly market: number;
  readonly outcome: number;
}

/** Orders of the scope accepted until `acceptedAtMs` are not booked any more. */
export interface Fence extends FenceScope {
  readonly acceptedAtMs: number;
}

/**
 * What cancels of many orders have said about orders that are still on their way.
 *
 * Promises: an order is looked up in at most sixteen places, and in none when it was accepted after every fence; of one
 * scope the latest fence counts; a fence is kept until no order it covers can be in time for the book.
 */
export class Fences {
  /** By whom, then by what. */
  private readonly byWho = new Map<string, Map<number, Fence>>();
  count = 0;
  private earliestMs = Number.POSITIVE_INFINITY;
  private latestMs = Number.NEGATIVE_INFINITY;

  /** Adds a fence or moves it forward; false when there would be more than `max`. */
  add(fence: Fence, max: number): boolean {
    const who = whoOf(fence.signer, fence.apiKey);
    const what = whatOf(fence.market, fence.outcome);
    const known = this.byWho.get(who)?.get(what);
    if (known === undefined) {
      if (this.count >= max) return false;
      this.count += 1;
    } else if (known.acceptedAtMs >= fence.acceptedAtMs) {
      return true;
    }
    this.put(who, what, fence);
    return true;
  }

  covers(order: PlaceOrder): boolean {
    if (order.acceptedAtMs > this.latestMs) return false;
    const { signer, apiKey } = order;
    return (
      this.coversIn(whoOf(signer, apiKey), order) ||
      this.coversIn(whoOf(signer, null), order) ||
      this.coversIn(whoOf(null, apiKey), order) ||
      this.coversIn(whoOf(null, null), order)
    );
  }

  /** Forgets every fence set up for times before `beforeMs`. */
  forget(beforeMs: number): void {
    if (this.earliestMs >= beforeMs) return;
    const kept = this.inOrder().filter(({ acceptedAtMs }) => acceptedAtMs >= beforeMs);
    this.byWho.clear();
    this.count = 0;
    this.earliestMs = Number.POSITIVE_INFINITY;
    this.latestMs = Number.NEGATIVE_INFINITY;
    for (const fence of kept) this.add(fence, kept.length);
  }

  /** By whom and by what. */
  inOrder(): Fence[] {
    const people = [...this.byWho].sort(([a], [b]) => (a < b ? -1 : 1));
    return people.flatMap(([, fences]) =>
      [...fences].sort(([a], [b]) => a - b).map(([, fence]) => fence),
    );
  }

  private put(who: string, what: number, fence: Fence): void {
    const { signer, apiKey, market, outcome, acceptedAtMs } = fence;
    const own = {
      signer: signer === null ? null : copyOf(signer),
      apiKey: apiKey === null ? null : copyOf(apiKey),
      market,
      outcome,
      acceptedAtMs,
    };
    const fences = this.byWho.get(who);
    if (fences === undefined) this.byWho.set(who, new Map([[what, own]]));
    else fences.set(what, own);
    if (acceptedAtMs < this.earliestMs) this.earliestMs = acceptedAtMs;
    if (acceptedAtMs > this.latestMs) this.latestMs = acceptedAtMs;
  }

  private coversIn(who: string, order: PlaceOrder): boolean {
    const fences = this.byWho.get(who);
    if (fences === undefined) return false;
    const { market, outcome, acceptedAtMs } = order;
    const until = (ofMarket: number, ofOutcome: number): number =>
      fences.get(whatOf(ofMarket, ofOutcome))?.acceptedAtMs ?? Number.NEGATIVE_INFINITY;
    return (
      acceptedAtMs <= until(-1, -1) ||
      acceptedAtMs <= until(market, -1) ||
      acceptedAtMs <= until(-1, outcome) ||
      acceptedAtMs <= until(market, outcome)
    );
  }
}

/** The fence a command asks for, no farther ahead than orders can be in time for the book; null when it covers nothing. */
export function fenceOf(command: CommandOf<'CancelOrders'>, latestMs: number): Fence | null {
  const { signer, apiKey, market, outcome, acceptedAtMs } = command;
  if (acceptedAtMs <= 0 || market < -1 || outcome < -1 || outcome > 1) return null;
  return { signer, apiKey, market, outcome, acceptedAtMs: Math.min(acceptedAtMs, latestMs) };
}

function whoOf(signer: Buffer | null, apiKey: Buffer | null): string {
  return `${signer?.toString('latin1') ?? ''}/${apiKey?.toString('latin1') ?? ''}`;
}

/** Outcomes are -1, 0 and 1. */
function whatOf(market: number, outcome: number): number {
  return market * 4 + outcome;
}

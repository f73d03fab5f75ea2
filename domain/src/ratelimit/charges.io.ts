import type { RateRule } from '@pm/schemas/rate-limits';
import type { Caller } from './callers.ts';
import type { RateLimiter } from './limiter.io.ts';
import type { RuleResult } from './verdict.ts';

/** A caller, and the rules that a request counts against for it. */
export interface Charge {
  readonly caller: Caller;
  readonly rules: readonly RateRule[];
}

type Limiter = Pick<RateLimiter, 'take' | 'isSpent' | 'giveBack' | 'nowMs'>;
type Settled<T> = T | Promise<T>;

/**
 * Takes the cost of a request from all charges or from none. The verdict is the tightest one, or the refusal with the
 * longest wait. All charges ask the store at once. Never rejects.
 */
export function takeAll(
  limiter: Limiter,
  charges: readonly Charge[],
  items: number,
): Settled<RuleResult> {
  const spent = charges.flatMap(({ caller, rules }) => limiter.isSpent(caller, rules, items) ?? []);
  if (spent.length > 0) return decisive(spent);
  const askedAtMs = limiter.nowMs();
  return whenSettled(takenOf(limiter, charges, items), (verdicts) => {
    const verdict = decisive(verdicts);
    if (verdict.isAllowed) return verdict;
    charges.forEach((charge, at) => {
      if (verdicts[at]?.isAllowed) limiter.giveBack(charge, items, askedAtMs);
    });
    return verdict;
  });
}

/**
 * Takes the cost of a request from each charge separately: a charge that is refused leaves the others taken. For
 * requests that have already happened. The verdict is the tightest one, or the refusal with the longest wait. All
 * charges ask the store at once. Never rejects.
 */
export function takeEach(
  limiter: Limiter,
  charges: readonly Charge[],
  items: number,
): Settled<RuleResult> {
  return whenSettled(takenOf(limiter, charges, items), decisive);
}

function takenOf(
  limiter: Limiter,
  charges: readonly Charge[],
  items: number,
): readonly Settled<RuleResult>[] {
  return charges.map(({ caller, rules }) => limiter.take(caller, rules, items));
}

function whenSettled(
  taken: readonly Settled<RuleResult>[],
  conclude: (verdicts: readonly RuleResult[]) => RuleResult,
): Settled<RuleResult> {
  const isAtHand = (one: Settled<RuleResult>): one is RuleResult => 'isAllowed' in one;
  return taken.every(isAtHand) ? conclude(taken) : Promise.all(taken).then(conclude);
}

/** The refusal with the longest wait; without one the verdict with the smallest part left. */
function decisive(verdicts: readonly RuleResult[]): RuleResult {
  return verdicts.reduce((found, next) => {
    if (found.isAllowed !== next.isAllowed) return found.isAllowed ? next : found;
    if (!next.isAllowed) return next.resetSeconds > found.resetSeconds ? next : found;
    return next.remaining * found.limit < found.remaining * next.limit ? next : found;
  });
}

import type { RateRule } from '@pm/schemas';
import type { Caller } from './callers.ts';
import type { RateLimiter } from './limiter.io.ts';
import type { RuleVerdict } from './verdict.ts';

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
): Settled<RuleVerdict> {
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

/** The same, but a charge that is refused leaves the others taken: for what happened already. */
export function takeEach(
  limiter: Limiter,
  charges: readonly Charge[],
  items: number,
): Settled<RuleVerdict> {
  return whenSettled(takenOf(limiter, charges, items), decisive);
}

function takenOf(
  limiter: Limiter,
  charges: readonly Charge[],
  items: number,
): readonly Settled<RuleVerdict>[] {
  return charges.map(({ caller, rules }) => limiter.take(caller, rules, items));
}

function whenSettled(
  taken: readonly Settled<RuleVerdict>[],
  conclude: (verdicts: readonly RuleVerdict[]) => RuleVerdict,
): Settled<RuleVerdict> {
  const isAtHand = (one: Settled<RuleVerdict>): one is RuleVerdict => 'isAllowed' in one;
  return taken.every(isAtHand) ? conclude(taken) : Promise.all(taken).then(conclude);
}

/** The refusal with the longest wait; without one the verdict with the smallest part left. */
function decisive(verdicts: readonly RuleVerdict[]): RuleVerdict {
  return verdicts.reduce((found, next) => {
    if (found.isAllowed !== next.isAllowed) return found.isAllowed ? next : found;
    if (!next.isAllowed) return next.resetSeconds > found.resetSeconds ? next : found;
    return next.remaining * found.limit < found.remaining * next.limit ? next : found;
  });
}

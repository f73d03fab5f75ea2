import type { Outcome } from '@pm/domain/markets/market';
import { historyPoints, type PriceFacts } from './history.ts';
import type { HistoryPlan } from './history-plan.ts';

interface Written {
  readonly plan: HistoryPlan;
  /** JSON texts of the histories of both tokens, by outcome; undefined until requested. */
  readonly texts: [string | undefined, string | undefined];
}

/** Histories as JSON arrays, written once for prices that are kept. */
export class HistoryTexts {
  readonly #written = new WeakMap<PriceFacts, Written>();

  of(plan: HistoryPlan, facts: PriceFacts, outcome: Outcome): string {
    const { texts } = this.#writtenFor(plan, facts);
    texts[outcome] ??= JSON.stringify(historyPoints(plan, facts, outcome));
    return texts[outcome];
  }

  #writtenFor(plan: HistoryPlan, facts: PriceFacts): Written {
    const known = this.#written.get(facts);
    if (known !== undefined && isSame(known.plan, plan)) return known;
    const written: Written = { plan, texts: [undefined, undefined] };
    this.#written.set(facts, written);
    return written;
  }
}

function isSame(one: HistoryPlan, other: HistoryPlan): boolean {
  return one.fromS === other.fromS && one.toS === other.toS && one.stepS === other.stepS;
}

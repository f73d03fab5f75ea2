import { walletFromBytes } from '@pm/schemas/ids';
import type { FeedChange } from './changes.ts';
import { isWanted } from './replay-fold.ts';
import type { MarketReplayPlan, OwnReplayPlan } from './replay-plan.ts';

/**
 * Changes kept over all partitions, about a kilobyte each; a record with more than the share of its partition is kept
 * alone.
 */
export const recentChangesMax = 64_000;

interface KeptRecord {
  readonly offset: number;
  readonly changes: readonly FeedChange[];
}

/**
 * The newest changes of a partition in memory: after a short interruption thousands of clients resume at once, and none
 * of them needs the broker.
 */
export class RecentChanges {
  #records: KeptRecord[] = [];
  /** Records before it are dropped. */
  #start = 0;
  #count = 0;
  /** All changes of records with this input offset and later ones are here. */
  #from: number;
  readonly #changesMax: number;

  /** `from`: input offset of the first record that will be added; `partitions` share the memory. */
  constructor(from: number, partitions: number) {
    this.#from = from;
    this.#changesMax = Math.ceil(recentChangesMax / partitions);
  }

  get count(): number {
    return this.#count;
  }

  /** The changes of the next record that has any. */
  add(offset: number, changes: readonly FeedChange[]): void {
    this.#records.push({ offset, changes });
    this.#count += changes.length;
    while (this.#count > this.#changesMax && this.#start < this.#records.length - 1) this.#drop();
    if (this.#start * 2 <= this.#records.length) return;
    this.#records = this.#records.slice(this.#start);
    this.#start = 0;
  }

  /** The wanted changes; null when some of them are not here any more. */
  find(plan: MarketReplayPlan | OwnReplayPlan): readonly FeedChange[] | null {
    const first = Math.max(plan.start.inOffset, plan.fromInOffset);
    const found = this.#changesFrom(first, matcherOf(plan));
    if (first < this.#from && !follows(found[0], plan)) return null;
    return found.filter((change) => isWanted(change, plan));
  }

  #changesFrom(offset: number, isOf: (change: FeedChange) => boolean): readonly FeedChange[] {
    const found: FeedChange[] = [];
    for (let at = this.#placeOf(offset); at < this.#records.length; at += 1)
      for (const change of this.#records[at]?.changes ?? []) if (isOf(change)) found.push(change);
    return found;
  }

  #drop(): void {
    const dropped = this.#records[this.#start];
    this.#start += 1;
    this.#count -= dropped?.changes.length ?? 0;
    this.#from = (dropped?.offset ?? 0) + 1;
  }

  /** Index of the first record that is not before an input offset. */
  #placeOf(offset: number): number {
    let low = this.#start;
    let high = this.#records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#records[middle]?.offset ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Whether no wanted change can be before this one. */
function follows(change: FeedChange | undefined, plan: MarketReplayPlan | OwnReplayPlan): boolean {
  return change !== undefined && plan.fromInOffset === 0 && change.seq <= plan.afterSeq + 1;
}

function matcherOf(plan: MarketReplayPlan | OwnReplayPlan): (change: FeedChange) => boolean {
  if (plan.kind === 'own') {
    const wallet = walletFromBytes(plan.wallet);
    return (change) => change.channel === 'own' && change.wallet === wallet;
  }
  const { channel, market } = plan;
  return (change) => change.channel === channel && change.market === market;
}

import type { CatalogEvent, CatalogMarket } from '@pm/schemas';
import { sameFact } from './facts.ts';

/**
 * How a field counts once a market is traded:
 *
 *   final   it never changes: holders have bought it
 *   terms   by it the market pays or costs differently, so a second person approves a change (operator.md)
 *   free    it may change, or has a guard of its own
 */
type Weight = 'final' | 'terms' | 'free';

/** A new field has to say how it counts. */
const marketFields: Readonly<Record<keyof CatalogMarket, Weight>> = {
  kind: 'final',
  market: 'final',
  eventId: 'final',
  conditionId: 'final',
  questionId: 'final',
  token0: 'final',
  token1: 'final',
  outcome0: 'final',
  outcome1: 'final',
  question: 'final',
  negRisk: 'final',
  negRiskMarketId: 'final',
  groupItemTitle: 'terms',
  description: 'terms',
  resolutionSource: 'terms',
  endDateMs: 'terms',
  tick: 'terms',
  minSizeMicro: 'terms',
  feeRateBps: 'terms',
  nextFeeRateBps: 'terms',
  rebateBps: 'terms',
  takerDelayMs: 'terms',
  rewardsDailyMicro: 'terms',
  rewardsMinSizeMicro: 'terms',
  rewardsMaxSpread: 'terms',
  slug: 'free',
  image: 'free',
  icon: 'free',
  category: 'free',
  metadata: 'free',
  creator: 'free',
  startDateMs: 'free',
  createdAtMs: 'free',
  updatedAtMs: 'free',
  // These stop trading or let it go on, at the prices that orders name.
  active: 'free',
  closed: 'free',
  closedAtMs: 'free',
  archived: 'free',
  mode: 'free',
  // They follow from the rates, when these have changed or been announced.
  feeVersion: 'free',
  feeChangesAtMs: 'free',
  // Resolutions always need a second person.
  payout0: 'free',
  askedPayout0: 'free',
  proposedPayout0: 'free',
  paysAtMs: 'free',
  challengedAtMs: 'free',
  challenges: 'free',
  partition: 'free',
  epoch: 'free',
  listed: 'free',
};

/** Of an event with a traded market: its words are read with the question. */
const eventFields: Readonly<Record<keyof CatalogEvent, Weight>> = {
  kind: 'final',
  id: 'final',
  title: 'terms',
  description: 'terms',
  resolutionSource: 'terms',
  endDateMs: 'terms',
  ticker: 'free',
  slug: 'free',
  image: 'free',
  icon: 'free',
  startDateMs: 'free',
  creationDateMs: 'free',
  createdAtMs: 'free',
  updatedAtMs: 'free',
  active: 'free',
  closed: 'free',
  closedAtMs: 'free',
  archived: 'free',
  tagIds: 'free',
  seriesIds: 'free',
  metadata: 'free',
};

/** The heaviest field of a market in which two states of it differ. */
export function marketWeight(known: CatalogMarket, entry: CatalogMarket): Weight {
  return heaviest(marketFields, (name) => sameFact(name, known, entry));
}

/** The same of an event. */
export function eventWeight(known: CatalogEvent, entry: CatalogEvent): Weight {
  return heaviest(eventFields, (name) => sameFact(name, known, entry));
}

function heaviest(
  fields: Readonly<Record<string, Weight>>,
  isSame: (name: string) => boolean,
): Weight {
  const changed = new Set(
    Object.entries(fields).flatMap(([name, weight]) => (isSame(name) ? [] : [weight])),
  );
  if (changed.has('final')) return 'final';
  return changed.has('terms') ? 'terms' : 'free';
}

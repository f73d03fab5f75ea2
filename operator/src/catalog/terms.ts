import { sameFact } from '@pm/domain/catalog/facts';
import type { CatalogEvent, CatalogMarket } from '@pm/schemas/log/catalog';

/**
 * How a field counts once a market is traded:
 *
 *   final   it never changes: holders have bought it
 *   terms   by it the market pays or costs differently, so a second person approves a change (operator.md)
 *   free    it may change, or has a guard of its own
 */
type Weight = 'final' | 'terms' | 'free';

/** Fields that markets and events have. */
const entryFields = {
  description: 'terms',
  resolutionSource: 'terms',
  endDateMs: 'terms',
  slug: 'free',
  image: 'free',
  icon: 'free',
  metadata: 'free',
  startDateMs: 'free',
  createdAtMs: 'free',
  updatedAtMs: 'free',
  // These stop trading or let it go on, at the prices that orders name.
  active: 'free',
  closed: 'free',
  closedAtMs: 'free',
  archived: 'free',
} as const satisfies Partial<Record<keyof (CatalogMarket | CatalogEvent), Weight>>;

/** A new field has to say how it counts. */
const marketFields: Readonly<Record<keyof CatalogMarket, Weight>> = {
  ...entryFields,
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
  tick: 'terms',
  minSizeMicro: 'terms',
  feeRateBps: 'terms',
  nextFeeRateBps: 'terms',
  rebateBps: 'terms',
  takerDelayMs: 'terms',
  rewardsDailyMicro: 'terms',
  rewardsMinSizeMicro: 'terms',
  rewardsMaxSpread: 'terms',
  category: 'free',
  creator: 'free',
  // It stops trading or lets it go on, like `closed`.
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

/** Weights of the fields of an event with a traded market: its texts are read together with the question. */
const eventFields: Readonly<Record<keyof CatalogEvent, Weight>> = {
  ...entryFields,
  kind: 'final',
  id: 'final',
  title: 'terms',
  ticker: 'free',
  creationDateMs: 'free',
  tagIds: 'free',
  seriesIds: 'free',
};

/** The heaviest field of a market in which two states of it differ. */
export function marketWeight(known: CatalogMarket, entry: CatalogMarket): Weight {
  return heaviest(marketFields, (name) => sameFact(name, known, entry));
}

/** The heaviest field of an event in which two states of it differ. */
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

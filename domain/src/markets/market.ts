import type { FeeRate } from '@pm/schemas/http/reading';
import {
  type ConditionId,
  conditionIdFromBytes,
  type TokenId,
  tokenIdFromBytes,
} from '@pm/schemas/ids';
import type { CatalogMarket } from '@pm/schemas/log/catalog';

type Renamed =
  | 'kind'
  | 'askedPayout0'
  | 'conditionId'
  | 'questionId'
  | 'negRiskMarketId'
  | 'token0'
  | 'token1'
  | 'outcome0'
  | 'outcome1'
  | 'listed';

/** A market with its ids as texts: the bytes of the record it came in would keep the whole fetch in memory. */
export interface Market extends Omit<CatalogMarket, Renamed> {
  readonly conditionId: ConditionId;
  readonly questionId: string;
  /** Empty when it belongs to no group. */
  readonly negRiskMarketId: string;
  readonly tokens: readonly [TokenId, TokenId];
  readonly outcomes: readonly [string, string];
}

export type Outcome = 0 | 1;

/** One outcome token of a market. */
export interface Listing {
  readonly market: Market;
  readonly outcome: Outcome;
  readonly token: TokenId;
}

/**
 * The end of what has none (the catalog keeps 0), Unix milliseconds: the specification has a date there, and what never
 * ends comes last. A later end counts as none: no clock of 64 bits in nanoseconds goes beyond April 2262.
 */
export const openEndMs = Date.UTC(2261, 11, 31);

/** The end that is shown, Unix milliseconds. */
export function shownEndMs({ endDateMs }: { readonly endDateMs: number }): number {
  return endDateMs === 0 ? openEndMs : Math.min(endDateMs, openEndMs);
}

/** Field by field: the rest of an object would be copied slowly, and kept in a hash table. */
export function marketOf(entry: CatalogMarket): Market {
  return {
    market: entry.market,
    eventId: entry.eventId,
    conditionId: conditionIdFromBytes(entry.conditionId),
    questionId: conditionIdFromBytes(entry.questionId),
    tokens: [tokenIdFromBytes(entry.token0), tokenIdFromBytes(entry.token1)],
    outcomes: [entry.outcome0, entry.outcome1],
    question: entry.question,
    groupItemTitle: entry.groupItemTitle,
    slug: entry.slug,
    description: entry.description,
    resolutionSource: entry.resolutionSource,
    image: entry.image,
    icon: entry.icon,
    category: entry.category,
    creator: entry.creator,
    startDateMs: entry.startDateMs,
    endDateMs: shownEndMs(entry),
    createdAtMs: entry.createdAtMs,
    updatedAtMs: entry.updatedAtMs,
    active: entry.active,
    closed: entry.closed,
    archived: entry.archived,
    closedAtMs: entry.closedAtMs,
    negRisk: entry.negRisk,
    negRiskMarketId:
      entry.negRiskMarketId === null ? '' : conditionIdFromBytes(entry.negRiskMarketId),
    tick: entry.tick,
    minSizeMicro: entry.minSizeMicro,
    feeRateBps: entry.feeRateBps,
    nextFeeRateBps: entry.nextFeeRateBps,
    feeChangesAtMs: entry.feeChangesAtMs,
    rebateBps: entry.rebateBps,
    feeVersion: entry.feeVersion,
    rewardsDailyMicro: entry.rewardsDailyMicro,
    rewardsMinSizeMicro: entry.rewardsMinSizeMicro,
    rewardsMaxSpread: entry.rewardsMaxSpread,
    mode: entry.mode,
    takerDelayMs: entry.takerDelayMs,
    payout0: entry.payout0,
    proposedPayout0: entry.proposedPayout0,
    paysAtMs: entry.paysAtMs,
    challengedAtMs: entry.challengedAtMs,
    challenges: entry.challenges,
    metadata: entry.metadata,
    partition: entry.partition,
    epoch: entry.epoch,
  };
}

/** Whether an order may come in now. Ingress takes none while a resolution is proposed. */
export function acceptsOrders(market: Market): boolean {
  if (!market.active || market.closed || market.archived || market.proposedPayout0 >= 0)
    return false;
  return market.mode === 'OPEN' || market.mode === 'POST_ONLY';
}

/** Basis points in one. */
const one = 10_000;

/** The fee where none is given: markets are imported without a fee unless they name one. */
const defaultTerms = {
  feeRateBps: 0,
  nextFeeRateBps: -1,
  feeChangesAtMs: 0,
  rebateBps: 0,
  feeVersion: 1,
  category: '',
};

/** The fee of a market, or the default without one: shares x rate x (p(1-p))^exponent, taker only. */
export function feeRateResponse(
  market: Pick<Market, keyof typeof defaultTerms> = defaultTerms,
): FeeRate {
  const rate = market.feeRateBps / one;
  const notice =
    market.feeChangesAtMs === 0
      ? {}
      : {
          nextRate: market.nextFeeRateBps / one,
          nextRateAt: new Date(market.feeChangesAtMs).toISOString(),
        };
  return {
    base_fee: market.feeRateBps,
    fd: { r: rate, e: 1, to: true },
    fee_schedule: {
      rate,
      exponent: 1,
      takerOnly: true,
      rebateRate: market.rebateBps / one,
      category: market.category,
      version: market.feeVersion,
      source: 'local',
      ...notice,
    },
  };
}

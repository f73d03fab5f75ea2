import { Type } from 'typebox';
import { address, conditionId, count, dateTime, number, pageOf, text, tokenId } from './forms.ts';

/** Rewards of makers, rebates and fees of builders (conventions.md 6.5). */
const day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', examples: ['2026-06-01'] });

const rewardFields = {
  condition_id: conditionId,
  rewards_max_spread: number,
  rewards_min_size: number,
  rewards_config: Type.Array(
    Type.Object({
      id: Type.Integer(),
      asset_address: address,
      start_date: day,
      end_date: day,
      rate_per_day: number,
      total_rewards: number,
    }),
  ),
  sponsored_daily_rate: number,
  sponsors_count: count,
  native_daily_rate: number,
  total_daily_rate: number,
};
export const RewardEntry = Type.Object(rewardFields);
export const RewardEntryPage = pageOf(RewardEntry);

export const RewardMarket = Type.Object({
  ...rewardFields,
  question: text,
  market_slug: text,
  event_slug: text,
  image: text,
  market_competitiveness: number,
  market_id: text,
  event_id: text,
  group_item_title: text,
  created_at: dateTime,
  volume_24hr: number,
  spread: number,
  one_day_price_change: number,
  tokens: Type.Array(Type.Object({ token_id: tokenId, outcome: text, price: number })),
});
export const RewardMarketPage = pageOf(RewardMarket);

/** Rewards that wallets earned are not kept: these lists are empty. */
const nothing = Type.Object({});
export const UserRewardPage = Type.Object({
  ...pageOf(nothing).properties,
  data: Type.Array(nothing, { maxItems: 0 }),
});
export const UserRewardTotals = Type.Array(nothing, { maxItems: 0 });
export const UserRewardPercentages = Type.Object({}, { additionalProperties: false });

export const Rebate = Type.Object({
  date: day,
  condition_id: conditionId,
  asset_address: address,
  maker_address: address,
  rebated_fees_usdc: Type.String({ pattern: '^[0-9]+\\.[0-9]{6}$', examples: ['1.250000'] }),
  status: Type.Enum(['estimated', 'closed', 'below_minimum']),
});
export const Rebates = Type.Array(Rebate);

export const BuilderFees = Type.Object({
  builder_maker_flat_fee_bps: Type.Literal(0),
  builder_taker_fee_share_bps: Type.Literal(0),
  builder_maker_fee_rate_bps: Type.Literal(0),
  builder_taker_fee_rate_bps: Type.Literal(0),
});

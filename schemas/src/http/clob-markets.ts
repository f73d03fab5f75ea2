import { Type } from 'typebox';
import { FamilyMarketResponse, MarketResponse, SamplingMarket } from './catalog.ts';
import { SimplifiedMarket } from './catalog-lists.ts';
import {
  buySell,
  conditionId,
  decimal,
  outcomeIndex,
  pageOf,
  secondsText,
  text,
  tokenId,
} from './forms.ts';

/**
 * Markets of the order book family (conventions.md 5.5). At the root what does not exist is an empty text of the type
 * that the specification lists; the mounts have null or nothing.
 */
const mirrors = { creator: text, mirror_condition_id: text };
const tokens = Type.Array(
  Type.Object({ ...SamplingMarket.properties.tokens.items.properties, mirror_token_id: text }),
);

export const RootSamplingMarket = Type.Object({
  ...SamplingMarket.properties,
  ...mirrors,
  game_start_time: text,
  tokens,
});
export const RootSimplifiedMarket = Type.Object({
  ...SimplifiedMarket.properties,
  ...mirrors,
  tokens,
});

export const RootSamplingMarketPage = pageOf(RootSamplingMarket);
export const SimplifiedMarketPage = pageOf(SimplifiedMarket);
export const RootSimplifiedMarketPage = pageOf(RootSimplifiedMarket);

/** GET /markets/{condition}: the order book form with the catalog's words besides; `outcomes` is the array. */
export const BookMarket = Type.Object({
  ...FamilyMarketResponse.properties,
  ...SamplingMarket.properties,
});
export const RootBookMarket = Type.Object({
  ...MarketResponse.properties,
  ...RootSamplingMarket.properties,
});

/** GET /markets-by-token/{token}. */
export const MarketOfToken = Type.Object({
  condition_id: conditionId,
  creator: Type.Union([text, Type.Null()]),
  primary_token_id: tokenId,
  secondary_token_id: tokenId,
});

/** Element of live activity: a trade with who took it; amounts and times are texts. */
export const LiveTrade = Type.Object({
  event_type: Type.Literal('trade'),
  market: Type.Object({
    condition_id: conditionId,
    asset_id: tokenId,
    question: text,
    icon: text,
    slug: text,
  }),
  user: Type.Object({
    address: text,
    username: text,
    profile_picture: text,
    optimized_profile_picture: text,
    pseudonym: text,
  }),
  side: buySell,
  size: decimal,
  fee_rate_bps: text,
  price: decimal,
  outcome: text,
  outcome_index: outcomeIndex,
  transaction_hash: text,
  timestamp: secondsText,
});
export const LiveActivity = Type.Array(LiveTrade);

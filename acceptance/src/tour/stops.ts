import type { TourFacts } from './facts.ts';

/** One request of the tour. */
export interface Stop {
  /** Method and path in the table of routes: `GET /book`. */
  readonly route: string;
  /** Values of the parameters of its path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Signed with the visitor's key. */
  readonly isOwn?: boolean;
  /** Why its response may be empty, or 404, on a new exchange. */
  readonly mayBeEmpty?: string;
}

const notStored = 'earnings of wallets are not stored';
const noSports = 'there are no sports here';
const searchedChars = 40;
const noCreators = 'no creator is configured';
const noRewards = 'the market has no daily reward';

/** Every read that query-api serves, by subject. */
export function stopsOf(facts: TourFacts): readonly Stop[] {
  return [
    { route: 'GET /status' },
    { route: 'GET /openapi.json' },
    { route: 'GET /asyncapi.json' },
    { route: 'GET /v1/stream' },
    { route: 'GET /docs' },
    ...consoleStops(facts),
    ...eventStops(facts),
    ...catalogStops(facts),
    ...bookStops(facts),
    ...priceStops(facts),
    ...tokenStops(facts),
    ...ownStops(facts),
    ...reportStops(facts),
    ...builderStops(facts),
    ...rewardStops(facts),
    ...socialStops(facts),
    { route: 'GET /rate-limits', isOwn: true },
  ];
}

function consoleStops({ consoleFile }: TourFacts): readonly Stop[] {
  return [
    { route: 'GET /console/' },
    { route: 'GET /console/assets/:file', params: { file: consoleFile } },
    { route: 'GET /docs/:file', params: { file: 'start.js' } },
  ];
}

function eventStops({ event, tag }: TourFacts): readonly Stop[] {
  const { id, slug } = event;
  return [
    { route: 'GET /events', query: { limit: '3', order: 'volume24hr', tag_slug: tag.slug } },
    { route: 'GET /events/keyset', query: { limit: '3' } },
    { route: 'GET /events/pagination', query: { limit: '3' } },
    { route: 'GET /events/creators', mayBeEmpty: noCreators },
    { route: 'GET /events/creators/:id', params: { id: '1' }, mayBeEmpty: noCreators },
    { route: 'GET /events/slug/:slug', params: { slug } },
    { route: 'GET /events/:id', params: { id } },
    { route: 'GET /events/:id/tags', params: { id } },
  ];
}

function catalogStops({ event, market, tag, series }: TourFacts): readonly Stop[] {
  const { id, slug, conditionId: condition_id, tokens } = market;
  return [
    { route: 'GET /markets', query: { limit: '3', order: 'liquidity' } },
    { route: 'GET /markets/keyset', query: { limit: '3' } },
    { route: 'GET /markets/slug/:slug', params: { slug } },
    { route: 'GET /markets/:id', params: { id } },
    { route: 'GET /markets/:id/description', params: { id } },
    { route: 'GET /markets/:id/tags', params: { id } },
    { route: 'GET /tags', query: { limit: '5' } },
    { route: 'GET /tags/:id', params: { id: tag.id } },
    { route: 'GET /tags/:id/related-tags', params: { id: tag.id } },
    { route: 'GET /tags/:id/related-tags/tags', params: { id: tag.id } },
    { route: 'GET /tags/slug/:slug', params: { slug: tag.slug } },
    { route: 'GET /tags/slug/:slug/related-tags', params: { slug: tag.slug } },
    { route: 'GET /tags/slug/:slug/related-tags/tags', params: { slug: tag.slug } },
    { route: 'GET /series', query: { limit: '3' } },
    { route: 'GET /series/:id', params: { id: series.id } },
    { route: 'GET /series/slug/:slug', params: { slug: series.slug } },
    { route: 'GET /public-search', query: { q: event.title.slice(0, searchedChars) } },
    { route: 'GET /api/v1/markets', query: { limit: '3' } },
    { route: 'GET /sampling-markets' },
    { route: 'GET /sampling-simplified-markets' },
    { route: 'GET /simplified-markets' },
    { route: 'GET /markets-by-token/:token_id', params: { token_id: tokens[0] } },
    { route: 'GET /clob-markets/:condition_id', params: { condition_id } },
    { route: 'GET /markets/live-activity/:condition_id', params: { condition_id } },
    { route: 'GET /live-activity/events/:condition_id', params: { condition_id } },
    { route: 'GET /teams', mayBeEmpty: noSports },
    { route: 'GET /sports', mayBeEmpty: noSports },
    { route: 'GET /sports/market-types', mayBeEmpty: noSports },
    { route: 'GET /market-clarifications', mayBeEmpty: 'no market was clarified' },
  ];
}

function bookStops({ market }: TourFacts): readonly Stop[] {
  const [token_id] = market.tokens;
  const one = { query: { token_id } };
  const several = market.tokens.map((each) => ({ token_id: each, side: 'BUY' }));
  const both = { query: { token_ids: market.tokens.join(','), sides: 'BUY,SELL' } };
  const tokens = { query: { token_ids: market.tokens.join(',') } };
  return [
    { route: 'GET /book', ...one },
    { route: 'POST /books', body: several },
    { route: 'GET /price', query: { token_id, side: 'BUY' } },
    { route: 'GET /prices', ...both },
    { route: 'POST /prices', body: several },
    { route: 'GET /midpoint', ...one },
    { route: 'GET /midpoints', ...tokens },
    { route: 'POST /midpoints', body: several },
    { route: 'GET /spread', ...one },
    { route: 'GET /spreads', ...tokens },
    { route: 'POST /spreads', body: several },
    { route: 'GET /last-trade-price', ...one },
    { route: 'GET /last-trades-prices', ...tokens },
    { route: 'POST /last-trades-prices', body: several },
  ];
}

function priceStops({ market }: TourFacts): readonly Stop[] {
  const [token] = market.tokens;
  const hour = { interval: '1h', fidelity: '1' };
  return [
    { route: 'GET /prices-history', query: { market: token, ...hour } },
    { route: 'POST /batch-prices-history', body: { markets: market.tokens, ...hour, fidelity: 1 } },
    { route: 'GET /candles', query: { token_id: token, interval: '1m' } },
  ];
}

function tokenStops({ market }: TourFacts): readonly Stop[] {
  const [token_id] = market.tokens;
  return ['tick-size', 'neg-risk', 'fee-rate'].flatMap((rule) => [
    { route: `GET /${rule}`, query: { token_id } },
    { route: `GET /${rule}/:token_id`, params: { token_id } },
  ]);
}

/** Reads of the owner of an API key. */
function ownStops({ orderId, market }: TourFacts): readonly Stop[] {
  const money = { asset_type: 'COLLATERAL', signature_type: '0' };
  const stops: readonly Stop[] = [
    { route: 'GET /data/order/:id', params: { id: orderId } },
    { route: 'GET /data/orders', query: { market: market.conditionId } },
    { route: 'POST /data/orders', body: [{ orderId }] },
    { route: 'GET /data/pre-migration-orders', mayBeEmpty: 'nothing was migrated' },
    { route: 'GET /order-scoring', query: { order_id: orderId } },
    { route: 'POST /orders-scoring', body: [orderId] },
    { route: 'GET /data/trades', query: { market: market.conditionId } },
    { route: 'GET /balance-allowance', query: money },
    { route: 'GET /balance-allowance/update', query: money },
    { route: 'GET /notifications' },
    { route: 'GET /balances' },
  ];
  return stops.map((stop) => ({ ...stop, isOwn: true }));
}

function reportStops({ event, wallet, market }: TourFacts): readonly Stop[] {
  const user = { query: { user: wallet } };
  const here = { query: { market: market.conditionId } };
  return [
    { route: 'GET /positions', ...user },
    {
      route: 'GET /closed-positions',
      ...user,
      mayBeEmpty: 'the position of the visitor is open',
    },
    { route: 'GET /value', ...user },
    { route: 'GET /traded', ...user },
    { route: 'GET /activity', ...user },
    { route: 'GET /trades', query: { market: market.conditionId, limit: '5' } },
    { route: 'GET /oi', ...here },
    { route: 'GET /live-volume', query: { id: event.id } },
    { route: 'GET /holders', ...here },
    { route: 'GET /v1/leaderboard', query: { timePeriod: 'DAY', orderBy: 'VOL', limit: '5' } },
    { route: 'GET /v1/market-positions', ...here },
  ];
}

function builderStops({ builder }: TourFacts): readonly Stop[] {
  return [
    { route: 'GET /builder/trades', query: { builder_code: builder } },
    { route: 'GET /builder/volume', query: { builder } },
    { route: 'GET /v1/builders/leaderboard', query: { timePeriod: 'DAY' } },
    { route: 'GET /v1/builders/volume', query: { timePeriod: 'DAY' } },
    { route: 'GET /fees/builder-fees/:code', params: { code: builder } },
  ];
}

function rewardStops({ market, wallet }: TourFacts): readonly Stop[] {
  const { conditionId } = market;
  const day = new Date().toISOString().slice(0, 10);
  const earned = { isOwn: true, query: { date: day }, mayBeEmpty: notStored } as const;
  return [
    { route: 'GET /rewards/markets/current', mayBeEmpty: noRewards },
    {
      route: 'GET /rewards/markets/multi',
      query: { condition_ids: conditionId },
      mayBeEmpty: noRewards,
    },
    {
      route: 'GET /rewards/markets/:condition_id',
      params: { condition_id: conditionId },
      mayBeEmpty: noRewards,
    },
    { route: 'GET /rewards/user', ...earned },
    { route: 'GET /rewards/user/total', ...earned },
    { route: 'GET /rewards/user/percentages', ...earned },
    { route: 'GET /rewards/user/markets', ...earned },
    {
      route: 'GET /rebates/current',
      query: { maker_address: wallet, date: day },
      mayBeEmpty: 'the visitor made no market',
    },
  ];
}

function socialStops({ event, series, wallet, commentId }: TourFacts): readonly Stop[] {
  const about = { parent_entity_type: 'Event', parent_entity_id: event.id };
  return [
    { route: 'GET /comments', query: { ...about, get_positions: 'true' } },
    { route: 'GET /comments/keyset', query: about },
    { route: 'GET /comments/:id', params: { id: commentId } },
    { route: 'GET /comments/user_address/:user_address', params: { user_address: wallet } },
    { route: 'GET /events/:id/comments/count', params: { id: event.id } },
    { route: 'GET /series/:id/comments/count', params: { id: series.id } },
    { route: 'GET /public-profile', query: { address: wallet } },
    { route: 'GET /profiles/user_address/:user_address', params: { user_address: wallet } },
  ];
}

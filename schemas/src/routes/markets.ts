import { Type } from 'typebox';
import { SamplingPage } from '../http/catalog.ts';
import { CompactMarket } from '../http/catalog-lists.ts';
import {
  LiveActivity,
  MarketOfToken,
  RootSamplingMarketPage,
  RootSimplifiedMarketPage,
  SimplifiedMarketPage,
} from '../http/clob-markets.ts';
import { sample } from '../http/forms.ts';
import { offsetCursor, pathOf } from './parameters.ts';
import { route } from './route.ts';

const read = { method: 'GET', service: 'query-api', family: 'clob', auth: ['none'] } as const;
const paged = {
  ...read,
  headers: ['X-Behind'],
  query: Type.Object(offsetCursor),
  errors: { 400: 'invalid next_cursor' },
  examples: [{}, { query: { next_cursor: 'MA==' } }],
} as const;
const simplified = {
  200: {
    description: 'A page of 500, by market number.',
    schema: RootSimplifiedMarketPage,
    mounted: SimplifiedMarketPage,
  },
} as const;
const ofCondition = {
  ...read,
  params: pathOf.condition,
  examples: [{ params: { condition_id: sample.condition } }],
} as const;
const liveActivity = {
  ...ofCondition,
  // A text that is no condition names no market, and such a market has no trades.
  params: Type.Object({ condition_id: Type.String({ description: 'Condition id of a market.' }) }),
  headers: ['X-Complete-Through'],
  responses: { 200: { description: 'Newest first; at most 100.', schema: LiveActivity } },
} as const;

/** Market lists of the order book family (conventions.md 5.5). */
export const marketRoutes = {
  listSamplingMarkets: route({
    ...paged,
    path: '/sampling-markets',
    summary: 'Markets with a daily reward that take orders',
    responses: {
      200: {
        description: 'A page of 500, by market number.',
        schema: RootSamplingMarketPage,
        mounted: SamplingPage,
      },
    },
  }),
  listSamplingSimplifiedMarkets: route({
    ...paged,
    path: '/sampling-simplified-markets',
    summary: 'The same in a reduced form',
    responses: simplified,
  }),
  listSimplifiedMarkets: route({
    ...paged,
    path: '/simplified-markets',
    summary: 'All markets in a reduced form',
    responses: simplified,
  }),
  getMarketOfToken: route({
    ...read,
    path: '/markets-by-token/:token_id',
    summary: 'The condition of a token, and both tokens of it',
    params: pathOf.token,
    responses: { 200: { description: 'The market.', schema: MarketOfToken } },
    errors: { 400: 'Invalid token id', 404: 'market not found' },
    examples: [{ params: { token_id: sample.token } }],
  }),
  getCompactMarket: route({
    ...ofCondition,
    path: '/clob-markets/:condition_id',
    summary: 'The facts of a market that an order needs, with short keys',
    responses: { 200: { description: 'The market.', schema: CompactMarket } },
    errors: { 400: 'Invalid market', 404: 'market not found' },
  }),
  getLiveActivity: route({
    ...liveActivity,
    path: '/markets/live-activity/:condition_id',
    summary: 'The newest trades of a market',
  }),
  getLiveActivityOfEvent: route({
    ...liveActivity,
    path: '/live-activity/events/:condition_id',
    summary: 'The same under its older path',
  }),
} as const;

import { Type } from 'typebox';
import { address, conditionId, sample } from '../http/forms.ts';
import {
  Rebates,
  RewardEntryPage,
  RewardMarketPage,
  UserRewardPage,
  UserRewardPercentages,
  UserRewardTotals,
} from '../http/rewards.ts';
import { listOf, optional, pathOf, rowCursor, time } from './parameters.ts';
import { route } from './route.ts';

const read = { method: 'GET', service: 'query-api', family: 'clob', auth: ['none'] } as const;
const own = { ...read, auth: ['l2', 'readOnlyKey'] } as const;
const cursorError = { 400: 'invalid next_cursor' } as const;
const nothing = { data: [], next_cursor: 'LTE=', limit: 500, count: 0 } as const;

/** Rewards of makers and rebates (conventions.md 6.5). */
export const rewardRoutes = {
  listCurrentRewards: route({
    ...read,
    path: '/rewards/markets/current',
    summary: 'Open markets with a daily reward',
    query: Type.Object(rowCursor),
    responses: { 200: { description: 'A page of 500.', schema: RewardEntryPage } },
    errors: cursorError,
    examples: [{}],
  }),
  listRewardMarkets: route({
    ...read,
    path: '/rewards/markets/multi',
    headers: ['X-Behind', 'X-Complete-Through'],
    summary: 'The same with words and prices of the markets',
    query: Type.Object({
      condition_ids: optional(listOf(conditionId, 500, 'Condition ids.')),
      ...rowCursor,
    }),
    responses: { 200: { description: 'A page of 500.', schema: RewardMarketPage } },
    errors: { 400: 'invalid condition_ids; invalid next_cursor' },
    examples: [{}, { query: { condition_ids: sample.condition } }],
  }),
  getRewardMarket: route({
    ...read,
    path: '/rewards/markets/:condition_id',
    headers: ['X-Behind', 'X-Complete-Through'],
    summary: 'The reward of a market',
    params: pathOf.condition,
    responses: { 200: { description: 'A page of one, or of none.', schema: RewardMarketPage } },
    errors: { 400: 'Invalid market', 404: 'market not found' },
    examples: [{ params: { condition_id: sample.condition } }],
  }),
  listOwnRewards: route({
    ...own,
    path: '/rewards/user',
    summary: 'Rewards of the caller: none are kept',
    responses: { 200: { description: 'An empty page.', schema: UserRewardPage } },
    examples: [{ response: nothing }],
  }),
  getOwnRewardTotal: route({
    ...own,
    path: '/rewards/user/total',
    summary: 'Their total: none are kept',
    responses: { 200: { description: 'An empty list.', schema: UserRewardTotals } },
    examples: [{ response: [] }],
  }),
  getOwnRewardPercentages: route({
    ...own,
    path: '/rewards/user/percentages',
    summary: 'Their shares by market: none are kept',
    responses: { 200: { description: 'An empty object.', schema: UserRewardPercentages } },
    examples: [{ response: {} }],
  }),
  listOwnRewardMarkets: route({
    ...own,
    path: '/rewards/user/markets',
    summary: 'Markets they are of: none are kept',
    responses: { 200: { description: 'An empty page.', schema: UserRewardPage } },
    examples: [{ response: nothing }],
  }),
  getRebates: route({
    ...read,
    path: '/rebates/current',
    headers: ['X-Complete-Through'],
    summary: 'The rebates of a maker for a day, by market',
    query: Type.Object({ maker_address: address, date: optional(time('Today by default.')) }),
    responses: { 200: { description: 'Rebates; nothing is paid out.', schema: Rebates } },
    errors: { 400: 'maker_address is required; invalid maker_address; invalid date' },
    examples: [{ query: { maker_address: sample.wallet, date: '2026-06-01' } }],
  }),
} as const;

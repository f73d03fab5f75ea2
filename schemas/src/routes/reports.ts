import { Type } from 'typebox';
import { address, buySell, conditionId, sample } from '../http/forms.ts';
import {
  activitySorts,
  closedPositionSorts,
  marketPositionSorts,
  positionSorts,
  reportPeriods,
} from '../http/report-choices.ts';
import {
  Activities,
  ClosedPositions,
  HolderGroups,
  Leaderboard,
  LiveVolume,
  MarketPositionGroups,
  OpenInterest,
  Positions,
  PublicTrades,
  WalletTraded,
  WalletValue,
} from '../http/report-lists.ts';
import {
  catalogId,
  listOf,
  oneOf,
  optional,
  pageOfReport,
  plainDecimal,
  secondsOf,
  shortText,
  truth,
} from './parameters.ts';
import { route } from './route.ts';

const read = {
  method: 'GET',
  service: 'query-api',
  family: 'data',
  auth: ['none'],
  headers: ['X-Complete-Through'],
} as const;
const ofUser = {
  ...read,
  errors: { 400: 'missing_field: user; invalid_field: {name}; unknown_field: {name}' },
  examples: [{ query: { user: sample.wallet } }],
} as const;
const ofTrader = { ...ofUser, headers: ['X-Behind', 'X-Complete-Through'] } as const;
const errors = { 400: 'invalid_field: {name}; unknown_field: {name}' } as const;
const aged = { ...read, headers: ['X-Complete-Through', 'Age'], errors } as const;

const inMarkets = {
  market: optional(listOf(conditionId, 500, 'Condition ids.')),
  eventId: optional(listOf(catalogId, 100, 'Numbers of events.')),
};
const direction = { sortDirection: optional(oneOf(['ASC', 'DESC'], 'DESC by default.')) };
const side = { side: optional(buySell) };
const times = {
  start: optional(secondsOf('Included.')),
  end: optional(secondsOf('Included.')),
};
const title = { title: optional(shortText('A part of the title.', 100)) };
const list = (description: string) => ({ description });

/** Reports for everyone (conventions.md 6.1). */
export const reportRoutes = {
  listPositions: route({
    ...ofTrader,
    path: '/positions',
    limits: ['positions'],
    summary: 'Positions of a wallet, valued at displayed prices',
    query: Type.Object({
      user: address,
      ...inMarkets,
      sizeThreshold: optional(plainDecimal('The smallest size; 1 by default.')),
      redeemable: optional(truth('Of resolved markets only.')),
      mergeable: optional(truth('With both outcomes only.')),
      ...pageOfReport({ limit: 500, offset: 10_000, otherwise: 100 }),
      sortBy: optional(oneOf(positionSorts, 'TOKENS by default.')),
      ...direction,
      ...title,
    }),
    responses: { 200: { ...list('Positions.'), schema: Positions } },
  }),
  listClosedPositions: route({
    ...ofTrader,
    path: '/closed-positions',
    limits: ['closed-positions'],
    summary: 'Positions of a wallet without tokens left',
    query: Type.Object({
      user: address,
      ...inMarkets,
      ...title,
      sortBy: optional(oneOf(closedPositionSorts, 'REALIZEDPNL by default.')),
      ...direction,
      ...pageOfReport({ limit: 50, offset: 100_000, otherwise: 10 }),
    }),
    responses: { 200: { ...list('Closed positions.'), schema: ClosedPositions } },
  }),
  getValue: route({
    ...ofTrader,
    path: '/value',
    summary: 'The value of the tokens of a wallet',
    query: Type.Object({ user: address, ...inMarkets }),
    responses: { 200: { ...list('One entry.'), schema: WalletValue } },
  }),
  getTraded: route({
    ...ofUser,
    path: '/traded',
    summary: 'The number of markets a wallet traded in',
    query: Type.Object({ user: address }),
    responses: { 200: { ...list('The number.'), schema: WalletTraded } },
  }),
  listActivity: route({
    ...ofTrader,
    path: '/activity',
    summary: 'Trades, splits, merges and redemptions of a wallet',
    query: Type.Object({
      user: address,
      ...inMarkets,
      type: optional(
        listOf(
          Type.Enum([
            'TRADE',
            'SPLIT',
            'MERGE',
            'REDEEM',
            'REWARD',
            'CONVERSION',
            'MAKER_REBATE',
            'REFERRAL_REWARD',
            'YIELD',
            'DEPOSIT',
            'WITHDRAWAL',
          ]),
          20,
          'Types; those that never happen here find nothing.',
        ),
      ),
      ...side,
      ...times,
      sortBy: optional(oneOf(activitySorts, 'TIMESTAMP by default.')),
      ...direction,
      excludeDepositsWithdrawals: optional(truth('Changes nothing here.')),
      ...pageOfReport({ limit: 500, offset: 10_000, otherwise: 100 }),
    }),
    responses: { 200: { ...list('Activity.'), schema: Activities } },
  }),
  listTrades: route({
    ...read,
    path: '/trades',
    headers: ['X-Behind', 'X-Complete-Through'],
    limits: ['trades'],
    summary: 'The public ledger of trades',
    description: 'One row a fill, of its taker; with `takerOnly=false` of both sides.',
    query: Type.Object({
      user: optional(address),
      ...inMarkets,
      ...side,
      takerOnly: optional(truth('True by default.')),
      filterType: optional(oneOf(['CASH', 'TOKENS'], 'Needs `filterAmount`.')),
      filterAmount: optional(plainDecimal('The smallest notional or size.')),
      ...times,
      ...pageOfReport({ limit: 10_000, offset: 10_000, otherwise: 100 }),
    }),
    responses: { 200: { ...list('Newest first.'), schema: PublicTrades } },
    errors: { 400: `missing_field: filterAmount; ${errors[400]}` },
    examples: [{}, { query: { market: sample.condition, limit: '10' } }],
  }),
  getOpenInterest: route({
    ...aged,
    path: '/oi',
    summary: 'USDC behind the tokens of markets',
    query: Type.Object({ market: optional(listOf(conditionId, 500, 'Condition ids.')) }),
    responses: { 200: { ...list('By market; without one `GLOBAL`.'), schema: OpenInterest } },
    examples: [{}, { query: { market: sample.condition } }],
  }),
  getLiveVolume: route({
    ...aged,
    path: '/live-volume',
    summary: 'The notional of all fills of an event or of markets',
    query: Type.Object({
      id: optional(listOf(catalogId, 100, 'Numbers of events.')),
      ...inMarkets,
    }),
    responses: { 200: { ...list('One entry.'), schema: LiveVolume } },
    errors: { 400: `missing_field: id; ${errors[400]}` },
    examples: [{ query: { id: '1' } }],
  }),
  listHolders: route({
    ...read,
    path: '/holders',
    summary: 'The largest balances of each token of markets',
    query: Type.Object({
      market: listOf(conditionId, 50, 'Condition ids.'),
      limit: pageOfReport({ limit: 500, offset: 0, otherwise: 100 }).limit,
      minBalance: optional(plainDecimal('1 by default.')),
    }),
    responses: { 200: { ...list('A group per token.'), schema: HolderGroups } },
    errors: { 400: `missing_field: market; ${errors[400]}` },
    examples: [{ query: { market: sample.condition } }],
  }),
  getLeaderboard: route({
    ...aged,
    path: '/v1/leaderboard',
    summary: 'Traders by profit or volume',
    query: Type.Object({
      category: optional(
        oneOf(
          [
            'OVERALL',
            'POLITICS',
            'SPORTS',
            'CRYPTO',
            'FINANCE',
            'CULTURE',
            'MENTIONS',
            'WEATHER',
            'ECONOMICS',
            'TECH',
          ],
          'OVERALL by default.',
        ),
      ),
      timePeriod: optional(oneOf(reportPeriods, 'DAY by default.')),
      orderBy: optional(oneOf(['PNL', 'VOL'], 'PNL by default.')),
      ...pageOfReport({ least: 1, limit: 50, offset: 1_000, otherwise: 25 }),
      user: optional(address),
      userName: optional(shortText('In any case of letters.')),
    }),
    responses: { 200: { ...list('Ranked entries.'), schema: Leaderboard } },
    examples: [{}, { query: { timePeriod: 'WEEK', orderBy: 'VOL' } }],
  }),
  listMarketPositions: route({
    ...read,
    path: '/v1/market-positions',
    summary: 'Positions in a market, open and closed',
    query: Type.Object({
      market: conditionId,
      user: optional(address),
      status: optional(oneOf(['OPEN', 'CLOSED', 'ALL'], 'ALL by default.')),
      sortBy: optional(oneOf(marketPositionSorts, 'TOTAL_PNL by default.')),
      ...direction,
      ...pageOfReport({ limit: 500, offset: 10_000, otherwise: 50 }),
    }),
    responses: { 200: { ...list('A group per token.'), schema: MarketPositionGroups } },
    errors: { 400: `missing_field: market; ${errors[400]}` },
    examples: [{ query: { market: sample.condition } }],
  }),
} as const;

import { Type } from 'typebox';
import { address, conditionId, sample } from '../http/forms.ts';
import { reportPeriods } from '../http/report-choices.ts';
import {
  BuilderBoard,
  BuilderBoardDays,
  BuilderDays,
  BuilderTradePage,
} from '../http/report-lists.ts';
import { BuilderFees } from '../http/rewards.ts';
import {
  asset,
  oneOf,
  optional,
  pageOfReport,
  rowCursor,
  secondsOf,
  shortText,
  wholeNumber,
} from './parameters.ts';
import { route } from './route.ts';

const read = { method: 'GET', service: 'query-api', auth: ['none'] } as const;
const board = {
  ...read,
  family: 'data',
  headers: ['X-Complete-Through', 'Age'],
  errors: { 400: 'invalid_field: {name}; unknown_field: {name}' },
  examples: [{}, { query: { timePeriod: 'WEEK' } }],
} as const;
const timePeriod = optional(oneOf(reportPeriods, 'DAY by default.'));
const builderCode = Type.String({
  pattern: '^0x[0-9a-fA-F]{64}$',
  description: 'Builder code: 32 bytes.',
  examples: [sample.condition],
});

/** Trades, volume and fees of builders (conventions.md 6.5 and 6.1). */
export const builderRoutes = {
  getBuilderLeaderboard: route({
    ...board,
    path: '/v1/builders/leaderboard',
    summary: 'Builders by volume',
    query: Type.Object({
      timePeriod,
      ...pageOfReport({ limit: 50, offset: 1_000, otherwise: 25 }),
    }),
    responses: { 200: { description: 'Ranked entries.', schema: BuilderBoard } },
  }),
  getBuilderVolumes: route({
    ...board,
    path: '/v1/builders/volume',
    summary: 'Builders by volume, day by day',
    query: Type.Object({ timePeriod }),
    responses: { 200: { description: 'Oldest day first.', schema: BuilderBoardDays } },
  }),
  listBuilderTrades: route({
    ...read,
    family: 'clob',
    path: '/builder/trades',
    headers: ['X-Complete-Through'],
    summary: 'Trades of orders that name a builder, newest first',
    query: Type.Object({
      id: optional(shortText('Id of one trade; an unknown one has an empty list.')),
      maker_address: optional(address),
      market: optional(conditionId),
      asset_id: optional(asset),
      builder_code: optional(builderCode),
      builder: optional(builderCode),
      before: optional(secondsOf('Exclusive.')),
      after: optional(secondsOf('Exclusive.')),
      ...rowCursor,
    }),
    responses: { 200: { description: 'A page of 100.', schema: BuilderTradePage } },
    errors: { 400: 'invalid builder trade params; invalid next_cursor' },
    examples: [{}, { query: { builder_code: sample.condition } }],
  }),
  getBuilderVolume: route({
    ...read,
    family: 'clob',
    path: '/builder/volume',
    headers: ['X-Complete-Through', 'Age'],
    summary: 'The volume of a builder, day by day',
    query: Type.Object({
      builder: optional(builderCode),
      builder_code: optional(builderCode),
      days: optional(wholeNumber({ min: 1, max: 365 }, 'Days, with today; 30 by default. ')),
    }),
    responses: { 200: { description: 'Days with trades, oldest first.', schema: BuilderDays } },
    errors: { 400: 'builder is required; invalid builder; invalid days' },
    examples: [{ query: { builder: sample.condition } }],
  }),
} as const;

/** Routes for the fees of builders: builders charge nothing here (conventions.md 6.5). */
export const builderFeeRoutes = {
  getBuilderFees: route({
    ...read,
    family: 'clob',
    path: '/fees/builder-fees/:code',
    summary: 'The fees of a builder: all zero',
    params: Type.Object({ code: builderCode }),
    responses: { 200: { description: 'Rates in basis points.', schema: BuilderFees } },
    errors: { 400: 'invalid builder code' },
    examples: [{ params: { code: sample.condition } }],
  }),
} as const;

import { Type } from 'typebox';
import { sample, tokenId } from '../http/forms.ts';
import { FeeRate, NegRiskResponse, TickSizeResponse } from '../http/reading.ts';
import { optional, pathOf } from './parameters.ts';
import { route } from './route.ts';

const read = {
  method: 'GET',
  service: 'query-api',
  family: 'clob',
  auth: ['none'],
  errors: { 400: 'Invalid token id', 404: 'market not found' },
} as const;
const byQuery = {
  ...read,
  query: Type.Object({ token_id: tokenId }),
  examples: [{ query: { token_id: sample.token } }],
} as const;
const byPath = {
  ...read,
  params: pathOf.token,
  examples: [{ params: { token_id: sample.token } }],
} as const;

const tick = { 200: { description: 'A JSON number.', schema: TickSizeResponse } } as const;
const negRisk = { 200: { description: 'Whether it is.', schema: NegRiskResponse } } as const;
const fee = { 200: { description: 'The rate and its schedule.', schema: FeeRate } } as const;
const tickText = 'The smallest step of prices of a token';
const negRiskText = 'Whether orders of a token are signed for the neg-risk contract';

/** Rules of the market of a token (conventions.md 5.1). */
export const tokenRuleRoutes = {
  getTickSize: route({
    ...byQuery,
    path: '/tick-size',
    limits: ['tick-size'],
    summary: tickText,
    responses: tick,
  }),
  getTickSizeOf: route({
    ...byPath,
    path: '/tick-size/:token_id',
    limits: ['tick-size'],
    summary: tickText,
    responses: tick,
  }),
  getNegRisk: route({ ...byQuery, path: '/neg-risk', summary: negRiskText, responses: negRisk }),
  getNegRiskOf: route({
    ...byPath,
    path: '/neg-risk/:token_id',
    summary: negRiskText,
    responses: negRisk,
  }),
  getFeeRate: route({
    ...byQuery,
    path: '/fee-rate',
    summary: 'The fee rate of a token; without one the default',
    query: Type.Object({ token_id: optional(tokenId) }),
    responses: fee,
  }),
  getFeeRateOf: route({
    ...byPath,
    path: '/fee-rate/:token_id',
    summary: 'The fee rate of a token',
    responses: fee,
  }),
} as const;

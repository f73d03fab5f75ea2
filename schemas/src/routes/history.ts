import { Type } from 'typebox';
import { BatchHistoryBody } from '../http/batches.ts';
import { sample, tokenId } from '../http/forms.ts';
import {
  BatchPricesHistory,
  CandlesResponse,
  candlesPerRequestMax,
  PricesHistory,
} from '../http/reading.ts';
import { oneOf, optional, secondsOf, tokenOrCondition, wholeNumber } from './parameters.ts';
import { route } from './route.ts';

const read = {
  method: 'GET',
  service: 'query-api',
  family: 'clob',
  auth: ['none'],
  headers: ['X-Complete-Through'],
} as const;
const interval = oneOf(
  ['1m', '5m', '15m', '1h', '6h', '1d', '1w', 'max', 'all'],
  'Look-back; `1m` is a month. Excludes start and end.',
);
const history = [{ t: sample.seconds, p: 0.525 }] as const;

/** Price history and candles (conventions.md 5.3 and 5.4). */
export const historyRoutes = {
  getPricesHistory: route({
    ...read,
    path: '/prices-history',
    limits: ['prices-history'],
    summary: 'Midpoints of a token over time',
    query: Type.Object({
      market: tokenOrCondition,
      interval: optional(interval),
      startTs: optional(secondsOf('From here.')),
      endTs: optional(secondsOf('To here; now by default.')),
      start_ts: optional(secondsOf('The other spelling.')),
      end_ts: optional(secondsOf('The other spelling.')),
      fidelity: optional(wholeNumber({ min: 1, max: 1_000_000 }, 'Minutes of a bucket. ')),
    }),
    responses: { 200: { description: 'Oldest first.', schema: PricesHistory } },
    errors: {
      400: 'Invalid payload; Invalid token id; interval cannot be combined with start_ts/end_ts',
    },
    examples: [{ query: { market: sample.token, interval: '1d' }, response: { history } }],
  }),
  postBatchPricesHistory: route({
    ...read,
    method: 'POST',
    path: '/batch-prices-history',
    limits: ['batch-prices-history'],
    summary: 'Midpoints of up to 20 tokens over time',
    body: BatchHistoryBody,
    responses: { 200: { description: 'By the ids given.', schema: BatchPricesHistory } },
    errors: {
      400: 'Invalid payload; Payload exceeds the limit; interval cannot be combined with start_ts/end_ts',
    },
    examples: [
      {
        body: { markets: [sample.token], interval: '1d' },
        response: { history: { [sample.token]: history } },
      },
    ],
  }),
  getCandles: route({
    ...read,
    path: '/candles',
    limits: ['candles'],
    summary: 'Trades of a token in buckets',
    query: Type.Object({
      token_id: tokenId,
      interval: optional(oneOf(['1m', '5m', '1h', '1d'], 'Width of a bucket; `1m` by default.')),
      start: optional(secondsOf('From its bucket on.')),
      end: optional(secondsOf('To its bucket; now by default.')),
      limit: optional(wholeNumber({ min: 1, max: candlesPerRequestMax }, '500 by default. ')),
    }),
    responses: { 200: { description: 'Oldest first.', schema: CandlesResponse } },
    errors: {
      400: 'Invalid token id; Invalid payload; Payload exceeds the limit',
      404: 'No orderbook exists for the requested token id',
    },
    examples: [{ query: { token_id: sample.token, interval: '1h' } }],
  }),
} as const;

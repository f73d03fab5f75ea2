import { Type } from 'typebox';
import { PastBookResponse, TokenItems } from '../http/batches.ts';
import { buySell, sample, tokenId } from '../http/forms.ts';
import {
  BookSnapshot,
  DecimalsByToken,
  LastTradePrice,
  LastTradesPrices,
  MidpointResponse,
  PriceResponse,
  PricesResponse,
  SpreadResponse,
  tokensPerRequestMax,
} from '../http/reading.ts';
import { listOf, moment, oneOf, optional, wholeNumber } from './parameters.ts';
import { route } from './route.ts';

const read = {
  method: 'GET',
  service: 'query-api',
  family: 'clob',
  auth: ['none'],
  headers: ['X-Behind'],
} as const;
const ofToken = {
  ...read,
  query: Type.Object({ token_id: tokenId }),
  errors: { 400: 'Invalid token id', 404: 'No orderbook exists for the requested token id' },
  examples: [{ query: { token_id: sample.token } }],
} as const;

const batchErrors = { 400: 'Invalid payload; Payload exceeds the limit; Invalid side' } as const;
const byQuery = {
  ...read,
  query: Type.Object({
    token_ids: listOf(
      tokenId,
      tokensPerRequestMax,
      'Tokens; those that are not listed are left out.',
    ),
    sides: optional(listOf(buySell, tokensPerRequestMax, 'As many as tokens.')),
  }),
  errors: batchErrors,
} as const;
const byBody = { ...read, method: 'POST', body: TokenItems, errors: batchErrors } as const;
const items = [{ token_id: sample.token }] as const;

const bothReadings =
  'At the root BUY is the best ask and SELL the best bid, under `/clob` BUY is the best bid and SELL the best ask. A ' +
  'side may be in any case.';
const prices = {
  200: { description: 'By token; an empty side has no key.', schema: PricesResponse },
} as const;
const pricesExample = { [sample.token]: { BUY: '0.53', SELL: '0.52' } } as const;
const midpoints = {
  200: { description: 'By token; a token without one has no key.', schema: DecimalsByToken },
} as const;
const midpointsExample = { [sample.token]: '0.525' } as const;
const spreadsExample = { [sample.token]: '0.01' } as const;
const lastTrades = {
  200: {
    description: 'In the order asked, those never traded left out.',
    schema: LastTradesPrices,
  },
} as const;

/** Books and prices (conventions.md 5.1). */
export const bookRoutes = {
  getBook: route({
    ...ofToken,
    path: '/book',
    limits: ['book'],
    summary: 'The book of a token, now or at a moment',
    description:
      'Bids from low to high, asks from high to low: the best level is the last. `hash` is the SHA-1 of the body with an ' +
      'empty hash. `at`, `at_offset` and `level` ask for a past book (conventions.md, Past books).',
    headers: ['X-Behind', 'X-Complete-Through'],
    query: Type.Object({
      token_id: tokenId,
      at: optional(moment('The book as it was: Unix milliseconds or ISO 8601.')),
      at_offset: optional(wholeNumber({}, 'A record of the input of the partition. ')),
      level: optional(oneOf(['2', '3'], '3: every resting order. Needs a moment.')),
    }),
    responses: {
      200: { description: 'The book.', schema: Type.Union([BookSnapshot, PastBookResponse]) },
    },
    errors: {
      400: 'Invalid token id; Invalid at or at_offset; Invalid level',
      404: ofToken.errors[404],
    },
    examples: [
      { query: { token_id: sample.token } },
      { query: { token_id: sample.token, at: '2026-06-01T11:00:00Z' } },
    ],
  }),
  getBooks: route({
    ...byBody,
    path: '/books',
    limits: ['books'],
    summary: 'Books of up to 500 tokens',
    description: 'In the order asked; a `side` empties the other one.',
    responses: { 200: { description: 'Books.', schema: Type.Array(BookSnapshot) } },
    examples: [{ body: items }],
  }),
  getPrice: route({
    ...read,
    path: '/price',
    limits: ['price'],
    summary: 'The best price under a side',
    description: bothReadings,
    query: Type.Object({ token_id: tokenId, side: buySell }),
    responses: { 200: { description: 'The price.', schema: PriceResponse } },
    errors: { 400: 'Invalid token id; Invalid side', 404: ofToken.errors[404] },
    examples: [{ query: { token_id: sample.token, side: 'BUY' } }],
  }),
  getPrices: route({
    ...byQuery,
    path: '/prices',
    limits: ['prices'],
    summary: 'Best prices of up to 500 tokens',
    description: bothReadings,
    responses: prices,
    examples: [
      {
        query: { token_ids: sample.token, sides: 'BUY' },
        response: { [sample.token]: { BUY: '0.53' } },
      },
    ],
  }),
  postPrices: route({
    ...byBody,
    path: '/prices',
    limits: ['prices'],
    summary: 'Best prices of up to 500 tokens',
    description: bothReadings,
    responses: prices,
    examples: [{ body: items, response: pricesExample }],
  }),
  getMidpoint: route({
    ...ofToken,
    path: '/midpoint',
    limits: ['midpoint'],
    summary: 'Halfway between best bid and best ask',
    description: 'Under `/clob` a midpoint that does not exist is the displayed price.',
    responses: { 200: { description: 'The midpoint.', schema: MidpointResponse } },
  }),
  getMidpoints: route({
    ...byQuery,
    path: '/midpoints',
    limits: ['midpoints'],
    summary: 'Midpoints of up to 500 tokens',
    responses: midpoints,
    examples: [{ query: { token_ids: sample.token }, response: midpointsExample }],
  }),
  postMidpoints: route({
    ...byBody,
    path: '/midpoints',
    limits: ['midpoints'],
    summary: 'Midpoints of up to 500 tokens',
    responses: midpoints,
    examples: [{ body: items, response: midpointsExample }],
  }),
  getSpread: route({
    ...ofToken,
    path: '/spread',
    limits: ['spread'],
    summary: 'Best ask less best bid',
    responses: { 200: { description: 'The spread.', schema: SpreadResponse } },
  }),
  getSpreads: route({
    ...byQuery,
    path: '/spreads',
    limits: ['spreads'],
    summary: 'Spreads of up to 500 tokens',
    responses: midpoints,
    examples: [{ query: { token_ids: sample.token }, response: spreadsExample }],
  }),
  postSpreads: route({
    ...byBody,
    path: '/spreads',
    limits: ['spreads'],
    summary: 'Spreads of up to 500 tokens',
    responses: midpoints,
    examples: [{ body: items, response: spreadsExample }],
  }),
  getLastTradePrice: route({
    ...ofToken,
    path: '/last-trade-price',
    limits: ['last-trade-price'],
    summary: 'The last trade of a token, and the side of its taker',
    description: 'Under `/clob` a token never traded answers `{"price":"0","side":""}`.',
    responses: { 200: { description: 'The trade.', schema: LastTradePrice } },
  }),
  getLastTradesPrices: route({
    ...byQuery,
    path: '/last-trades-prices',
    limits: ['last-trades-prices'],
    summary: 'Last trades of up to 500 tokens',
    responses: lastTrades,
    examples: [{ query: { token_ids: sample.token } }],
  }),
  postLastTradesPrices: route({
    ...byBody,
    path: '/last-trades-prices',
    limits: ['last-trades-prices'],
    summary: 'Last trades of up to 500 tokens',
    responses: lastTrades,
    examples: [{ body: items }],
  }),
} as const;

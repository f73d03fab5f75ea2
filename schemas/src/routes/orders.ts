import { Type } from 'typebox';
import {
  FoundOrder,
  OrderIds,
  OrderLookUpBody,
  ScoringByOrder,
  ScoringResponse,
} from '../http/batches.ts';
import { address, conditionId, orderId, sample } from '../http/forms.ts';
import { OpenOrderPage } from '../http/private-reading.ts';
import { StoredOrder, TradePage } from '../http/reading.ts';
import { asset, optional, pathOf, rowCursor, secondsOf, tradeIdText } from './parameters.ts';
import { route } from './route.ts';

const read = {
  method: 'GET',
  service: 'query-api',
  family: 'clob',
  auth: ['l2', 'readOnlyKey'],
} as const;
const openOrders = Type.Object({
  id: optional(orderId),
  market: optional(conditionId),
  asset_id: optional(asset),
  ...rowCursor,
});
const listErrors = { 400: 'invalid order params; invalid next_cursor' } as const;

/** Orders and trades of the caller, read back (conventions.md 3.12). */
export const orderRoutes = {
  getOrder: route({
    ...read,
    auth: ['none', 'l2', 'readOnlyKey'],
    path: '/data/order/:id',
    summary: 'What became of an order',
    description:
      'Without credentials `owner` is null, and of an open order the maker is the zero address and no trades are listed; with them the order has to be the caller’s.',
    params: pathOf.order,
    responses: { 200: { description: 'The order in both published forms.', schema: StoredOrder } },
    errors: {
      400: 'Invalid orderID',
      404: 'order not found; `code` says why it was refused, when it was',
    },
    examples: [{ params: { id: sample.order } }],
  }),
  listOpenOrders: route({
    ...read,
    path: '/data/orders',
    limits: ['open-orders'],
    summary: 'Open orders of the caller, newest first',
    query: openOrders,
    responses: { 200: { description: 'A page of 100.', schema: OpenOrderPage } },
    errors: listErrors,
    examples: [{}, { query: { market: sample.condition } }],
  }),
  findOrders: route({
    ...read,
    method: 'POST',
    path: '/data/orders',
    limits: ['open-orders'],
    summary: 'Up to 500 orders of the caller by id',
    body: OrderLookUpBody,
    responses: {
      207: { description: 'An entry per id, in order.', schema: Type.Array(FoundOrder) },
    },
    errors: { 400: 'Invalid payload; Payload exceeds the limit' },
    examples: [{ body: [{ orderId: sample.order }] }],
  }),
  listPreMigrationOrders: route({
    ...read,
    path: '/data/pre-migration-orders',
    summary: 'An empty page: nothing was migrated to this exchange',
    query: openOrders,
    responses: { 200: { description: 'An empty page.', schema: OpenOrderPage } },
    errors: listErrors,
    examples: [{ response: { data: [], next_cursor: 'LTE=', limit: 100, count: 0, as_of: [] } }],
  }),
  getOrderScoring: route({
    ...read,
    path: '/order-scoring',
    summary: 'Whether an order of the caller earns rewards now',
    query: Type.Object({ order_id: orderId }),
    responses: { 200: { description: 'Whether it does.', schema: ScoringResponse } },
    errors: { 400: 'Invalid orderID' },
    examples: [{ query: { order_id: sample.order } }],
  }),
  getOrdersScoring: route({
    ...read,
    method: 'POST',
    path: '/orders-scoring',
    summary: 'The same for up to 500 orders',
    body: OrderIds,
    responses: { 200: { description: 'By order id.', schema: ScoringByOrder } },
    errors: { 400: 'Invalid payload; Payload exceeds the limit; Invalid orderID' },
    examples: [{ body: [sample.order], response: { [sample.order]: false } }],
  }),
  listOwnTrades: route({
    ...read,
    path: '/data/trades',
    limits: ['trades'],
    summary: 'Trades of the caller, newest first',
    query: Type.Object({
      id: optional(tradeIdText),
      maker_address: optional(address),
      taker: optional(address),
      maker: optional(address),
      market: optional(conditionId),
      asset_id: optional(asset),
      before: optional(secondsOf('Exclusive.')),
      after: optional(secondsOf('Exclusive.')),
      ...rowCursor,
    }),
    responses: { 200: { description: 'A page.', schema: TradePage } },
    errors: { 400: 'invalid trade params; invalid next_cursor' },
    examples: [{}, { query: { market: sample.condition } }],
  }),
} as const;

import { Type } from 'typebox';
import { CancelError } from '../http/error-bodies.ts';
import { conditionId, orderId, sample } from '../http/forms.ts';
import { OrderFinding } from '../http/order-finding.ts';
import {
  CancelMarketBody,
  CancelOrderBody,
  CancelResult,
  cancelsPerRequestMax,
  OrderSubmission,
  OrderToValidate,
  ordersPerRequestMax,
  PlacementResult,
} from '../http/trading.ts';
import { asset as assetForm, listOf, optional } from './parameters.ts';
import { route } from './route.ts';

const own = { service: 'ingress', family: 'clob', auth: ['l2'] } as const;

/** The largest body of a batch, bytes: 3,000 order ids to cancel fit into it. */
const batchBodyMaxBytes = 256 * 1024;

const submission = {
  order: {
    salt: '479249096354',
    maker: sample.wallet,
    signer: sample.wallet,
    tokenId: sample.token,
    makerAmount: '5200000',
    takerAmount: '10000000',
    side: 'BUY',
    signatureType: 0,
    timestamp: '1780315200000',
    expiration: '0',
    signature: sample.signature,
  },
  owner: sample.apiKey,
  orderType: 'GTC',
} as const;

const placed = {
  success: true,
  errorMsg: '',
  orderID: sample.order,
  orderHash: sample.order,
  status: 'live',
  makingAmount: '0',
  takingAmount: '0',
} as const;

/** A refused order: the status of its refusal, and the whole result as the body. */
const refused = (description: string) => ({
  description,
  schema: Type.Union([
    PlacementResult,
    Type.Object({
      error: Type.String(),
      code: Type.Optional(Type.String()),
      retry_after_seconds: Type.Optional(Type.Integer()),
      server_time: Type.Optional(Type.Integer()),
    }),
  ]),
});

const placement = {
  ...own,
  takesIdempotencyKey: true,
  takesTimeToBook: true,
  repetition: 'harmless',
  headers: ['Server-Timing', 'Idempotent-Replayed'],
} as const;

const orderRefusals = {
  400: refused('Refused; `code` says why (errors.md).'),
  403: refused('The key may only read.'),
  409: refused('`condition_paused` or `system_paused`.'),
  422: refused('`idempotency_key_reused`.'),
  425: refused('The partition of the market is restarting.'),
  429: refused('A limit is used up.'),
  500: refused('`internal_error`: the outcome is not known.'),
  503: refused(
    'A mode or a part that is away: nothing was placed. `order_unconfirmed`: it may be, and has its id. `idempotency_in_progress`: the first request is still running.',
  ),
} as const;

const cancelFailures = {
  400: { description: 'The body names nothing that can be canceled.', schema: CancelError },
  425: { description: 'The partition of the market is restarting.', schema: CancelError },
  503: {
    description: 'Not confirmed; what is known to be canceled is listed.',
    schema: CancelError,
  },
} as const;

const canceled = {
  200: { description: 'What was canceled, and why the rest was not.', schema: CancelResult },
  ...cancelFailures,
} as const;
const cancelExample = { canceled: [sample.order], not_canceled: {} } as const;
const cancel = {
  ...own,
  method: 'DELETE',
  headers: ['Server-Timing'],
  responses: canceled,
} as const;

/** Orders and cancels (conventions.md 3.12). */
export const tradingRoutes = {
  placeOrder: route({
    ...placement,
    method: 'POST',
    path: '/order',
    limits: ['orders'],
    opensPositions: 'request',
    summary: 'Place an order',
    body: OrderSubmission,
    responses: {
      200: { description: 'What became of the order.', schema: PlacementResult },
      ...orderRefusals,
    },
    examples: [{ body: submission, response: placed }],
  }),
  placeOrders: route({
    ...placement,
    method: 'POST',
    path: '/orders',
    bodyMaxBytes: batchBodyMaxBytes,
    limits: ['orders', 'order-batches'],
    opensPositions: 'each',
    summary: `Place 1 to ${ordersPerRequestMax} orders`,
    body: Type.Array(OrderSubmission, { minItems: 1, maxItems: ordersPerRequestMax }),
    responses: {
      200: {
        description: 'As many results as orders, in order.',
        schema: Type.Array(PlacementResult),
      },
      ...orderRefusals,
    },
    examples: [{ body: [submission], response: [placed] }],
  }),
  validateOrders: route({
    ...own,
    method: 'POST',
    path: '/orders/validate',
    bodyMaxBytes: batchBodyMaxBytes,
    limits: ['validate'],
    repetition: 'harmless',
    opensPositions: 'each',
    summary: 'Every check of placing, without placing',
    body: Type.Union([
      OrderToValidate,
      Type.Array(OrderToValidate, { minItems: 1, maxItems: ordersPerRequestMax }),
    ]),
    responses: { 200: { description: 'A finding per item.', schema: Type.Array(OrderFinding) } },
    errors: {
      400: 'Invalid order payload; Too many orders in payload: {count}, max allowed: {max}',
    },
    examples: [{ body: [submission] }],
  }),
  cancelOrder: route({
    ...cancel,
    path: '/order',
    limits: ['reserve', 'cancel-order'],
    repetition: 'harmless',
    summary: 'Cancel an order',
    query: Type.Object({ orderID: optional(orderId), orderId: optional(orderId) }),
    body: CancelOrderBody,
    bodyIsOptional: true,
    examples: [{ body: { orderID: sample.order }, response: cancelExample }],
  }),
  cancelOrders: route({
    ...cancel,
    path: '/orders',
    bodyMaxBytes: batchBodyMaxBytes,
    limits: ['reserve', 'cancel-orders'],
    repetition: 'harmless',
    summary: `Cancel 1 to ${cancelsPerRequestMax} orders by id`,
    query: Type.Object({
      orderIDs: optional(listOf(orderId, cancelsPerRequestMax, 'Ids, for a body that was lost.')),
    }),
    body: Type.Array(orderId, { minItems: 1, maxItems: cancelsPerRequestMax }),
    bodyIsOptional: true,
    examples: [{ body: [sample.order], response: cancelExample }],
  }),
  cancelAll: route({
    ...cancel,
    path: '/cancel-all',
    limits: ['reserve', 'cancel-all'],
    repetition: 'brief',
    summary: 'Cancel every order of the wallet',
    examples: [{ response: cancelExample }],
  }),
  cancelMarketOrders: route({
    ...cancel,
    path: '/cancel-market-orders',
    limits: ['reserve', 'cancel-market'],
    repetition: 'brief',
    summary: 'Cancel the orders of the wallet in a market or a token',
    query: Type.Object({
      market: optional(conditionId),
      asset_id: optional(assetForm),
      assetId: optional(assetForm),
    }),
    body: CancelMarketBody,
    bodyIsOptional: true,
    examples: [{ body: { market: sample.condition }, response: cancelExample }],
  }),
} as const;

import type { OrderHasher } from '@pm/domain/orders/eip712';
import type { Reservations } from '@pm/domain/orders/reservation.io';
import { checkerOf, invalidPayload } from '@pm/domain/requests/requests.io';
import { StageTimes } from '@pm/domain/requests/stage-times.io';
import { type HttpApp, type HttpHandler, refuse } from '@pm/kit/http';
import { OrderSubmission, OrderToValidate, ordersPerRequestMax } from '@pm/schemas/http/trading';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Authentication, authenticate } from '../http/authentication.io.ts';
import type { IdempotencyMemory } from '../http/idempotency.io.ts';
import type { IngressMetrics } from '../metrics.ts';
import { DryRun } from './dry-run.io.ts';
import { OrderPipeline, type OrderPipelineOptions } from './pipeline.io.ts';
import { batchResponse, singleResponse } from './placement-response.io.ts';
import { type PlacementRequest, Placements } from './placements.io.ts';
import type { SignaturePool } from './signature-pool.io.ts';
import { OrderSubmitter, type OrderSubmitterOptions } from './submit.io.ts';

/** Dependencies of the routes that take orders. */
export interface OrderServices extends OrderPipelineOptions, OrderSubmitterOptions {
  readonly clock: OrderSubmitterOptions['clock'];
  readonly authentication: Authentication;
  readonly idempotencyKeys: IdempotencyMemory;
  readonly hashes: Pick<OrderHasher, 'keccak' | 'structHash' | 'likelyId'>;
  readonly signatures: Pick<SignaturePool, 'check' | 'explain'>;
  readonly ledger: Pick<Reservations, 'reserve' | 'cancelReservation' | 'balance'>;
  readonly metrics: IngressMetrics;
}

/** POST /order, POST /orders and POST /orders/validate, over one pipeline. */
export function orderRoutes(services: OrderServices): readonly HttpHandler[] {
  const isSubmission = checkerOf(OrderSubmission);
  const pipeline = new OrderPipeline(services, isSubmission);
  const submitter = new OrderSubmitter(services);
  const placements = new Placements({ ...services, pipeline, submitter, isSubmission });
  const readSingle: ReadPlacement = ({ body }) => {
    return { route: '/order', items: [body], response: singleResponse };
  };
  const dryRun = new DryRun(services, new OrderPipeline(services, checkerOf(OrderToValidate)));
  return [
    placementRoute('/order', services, readSingle, placements),
    placementRoute('/orders', services, readBatch, placements),
    validateRoute(services.authentication, dryRun),
  ];
}

type ReadPlacement = (request: FastifyRequest, reply: FastifyReply) => PlacementRequest | null;

/**
 * POST /order: one order; a refused one has the status of its refusal and the full result, so that clients which read
 * `error` and clients which read `errorMsg` both understand (conventions.md 1.3). POST /orders: 1 to 15 orders; one
 * result each, in their order (conventions.md 3.7).
 */
function placementRoute(
  path: '/order' | '/orders',
  { authentication, clock }: Pick<OrderServices, 'authentication' | 'clock'>,
  read: ReadPlacement,
  placements: Placements,
): HttpHandler {
  return {
    method: 'POST',
    path,
    add(app: HttpApp, { url }) {
      const options = { config: { invalid: invalidPayload } };
      app.post(url, options, async (request, reply) => {
        const times = new StageTimes(clock);
        const caller = authenticate(request, reply, authentication);
        if (caller === null) return reply;
        times.mark('auth');
        const placement = read(request, reply);
        if (placement === null) return reply;
        return await placements.respond(placement, { request, reply, caller, times });
      });
    },
  };
}

/** The orders of a batch; null after the refusal was sent. */
function readBatch({ body: items }: FastifyRequest, reply: FastifyReply): PlacementRequest | null {
  if (!Array.isArray(items) || items.length === 0) {
    refuse(reply, 'invalid_payload');
    return null;
  }
  if (isTooLarge(items, reply)) return null;
  return { route: '/orders', items, response: batchResponse };
}

/**
 * POST /orders/validate: the items of POST /orders, checked in every way and placed in none. One finding per item; a
 * body that is one order and no array is one item. An item may have no signature (conventions.md 3.11).
 */
function validateRoute(authentication: Authentication, dryRun: DryRun): HttpHandler {
  return {
    method: 'POST',
    path: '/orders/validate',
    add(app, { url }) {
      const options = { config: { invalid: invalidPayload } };
      app.post(url, options, async (request, reply) => {
        const caller = authenticate(request, reply, authentication);
        if (caller === null) return reply;
        const { body } = request;
        const items: readonly unknown[] = Array.isArray(body) ? body : [body];
        if (body === undefined || items.length === 0) return refuse(reply, 'invalid_payload');
        if (isTooLarge(items, reply)) return reply;
        return await Promise.all(items.map((item) => dryRun.inspect(item, caller)));
      });
    },
  };
}

/** Whether a request has more orders than one may have; then the refusal was sent. */
function isTooLarge(items: readonly unknown[], reply: FastifyReply): boolean {
  if (items.length <= ordersPerRequestMax) return false;
  refuse(reply, 'too_many_orders', { count: items.length, max: ordersPerRequestMax });
  return true;
}

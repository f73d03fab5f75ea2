import type { DurableSend } from '@pm/domain/commands/command-channel.io';
import type { StageTimes } from '@pm/domain/requests/stage-times.io';
import {
  type OrderSampler,
  orderSampler,
  produceSpanOf,
  type TracedOrder,
} from '@pm/domain/traces/order-traces';
import { newSpanId, type RequestTrace, type SpanPlace, type Traces } from '@pm/kit/traces';
import type { PlacementResult } from '@pm/schemas/http/trading';
import type { CheckedOrder } from './check.ts';

/** The request of a traced order. */
export interface TracedRequest {
  readonly times: StageTimes;
  /** Trace of the request; absent when the request is not traced. */
  readonly requestTrace?: RequestTrace;
}

/** Begins the traces of orders. */
export class OrderTraces {
  readonly #traces: Traces;
  readonly #sample: OrderSampler;

  constructor(traces: Traces) {
    this.#traces = traces;
    this.#sample = orderSampler(traces.share);
  }

  /** The trace of an order that is about to be submitted; null when it has none. */
  begin(order: CheckedOrder, request: TracedRequest): OrderTrace | null {
    const traced = this.#sample(order.hash);
    return traced === null ? null : new OrderTrace(this.#traces, traced, { order, request });
  }
}

/** The spans of one order in ingress. Those of later processes continue that of the log (`produceSpanOf`). */
export class OrderTrace {
  readonly #traces: Traces;
  readonly #traced: TracedOrder;
  readonly #root: SpanPlace;
  readonly #request: TracedRequest;
  readonly #attributes: Readonly<Record<string, string | number>>;

  constructor(
    traces: Traces,
    traced: TracedOrder,
    { order, request }: { readonly order: CheckedOrder; readonly request: TracedRequest },
  ) {
    const { market, partition } = order.token.market;
    this.#traces = traces;
    this.#traced = traced;
    // Another attempt of the same order is another span of its trace.
    this.#root = { traceId: traced.traceId, spanId: newSpanId() };
    this.#request = request;
    this.#attributes = {
      'pm.order.id': traced.orderId,
      'pm.market': market,
      'pm.partition': partition,
    };
    request.requestTrace?.orders.push(this.#root);
    this.#addChecks(request.times);
  }

  /** A stage that ends now, milliseconds of the monotonic clock. */
  stage(name: 'reserve' | 'result', startMs: number, endMs: number): void {
    this.#addStage(name, startMs, endMs);
  }

  /** The envelope of the order is durable. */
  sent({ sequence, startedMs, endedMs }: DurableSend): void {
    this.#traces.add({
      ...produceSpanOf(this.#traced, sequence),
      parentId: this.#root.spanId,
      name: 'produce',
      kind: 'producer',
      startMs: startedMs,
      endMs: endedMs,
      attributes: { ...this.#attributes, 'pm.sequence': sequence },
    });
  }

  /** The result of the order is known, or that none came. */
  end({ code, status }: PlacementResult, endMs: number): void {
    const { times, requestTrace } = this.#request;
    this.#traces.add({
      ...this.#root,
      parentId: null,
      name: 'order',
      kind: 'server',
      startMs: times.beganMs,
      endMs,
      attributes: { ...this.#attributes, 'pm.outcome': code ?? status },
      links: requestTrace === undefined ? [] : [requestTrace],
    });
  }

  /** The stages before, which follow each other. */
  #addChecks(times: StageTimes): void {
    const provedMs = times.beganMs + times.msOf('auth');
    this.#addStage('authenticate', times.beganMs, provedMs);
    this.#addStage('check', provedMs, provedMs + times.msOf('validate'));
  }

  #addStage(name: string, startMs: number, endMs: number): void {
    const place = { traceId: this.#root.traceId, spanId: newSpanId() };
    const parentId = this.#root.spanId;
    this.#traces.add({ ...place, parentId, name, kind: 'internal', startMs, endMs });
  }
}

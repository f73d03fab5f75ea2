import {
  matchSpanOf,
  orderSampler,
  produceSpanOf,
  type TracedOrder,
  tracedOrdersIn,
} from '@pm/domain/traces/order-traces';
import { newSpanId, type Traces } from '@pm/kit/traces';
import type { Envelope } from '@pm/schemas/log/orders';
import type { OutputSlice } from './execution-writer.io.ts';
import type { TracedOrdersOf } from './record-processor.ts';
import type { ProcessedSlice } from './slices.io.ts';

/** When the work on an output began and ended, milliseconds of `performance.now()`. */
interface SliceTimes {
  readonly readMs: number;
  readonly beganMs: number;
  readonly appliedMs: number;
}

/**
 * The spans of orders in the matcher: from the fetch of their records to their outputs in the log. Only an owner has
 * them, and only of live records; a replay makes none.
 */
export class OrderTraces {
  readonly #traces: Traces;
  /** Passed to the processor, which reads the orders while they are decoded. */
  readonly ordersOf: TracedOrdersOf;
  readonly #times = new WeakMap<object, SliceTimes>();

  constructor(traces: Traces) {
    this.#traces = traces;
    const sample = orderSampler(traces.share);
    this.ordersOf = ({ commands }: Pick<Envelope, 'commands'>) => tracedOrdersIn(commands, sample);
  }

  /** The outputs of the slice are computed; its records were read at `readMs`. */
  applied({ outputs, tookMs }: ProcessedSlice, readMs: number): void {
    const appliedMs = performance.now();
    const times = { readMs, beganMs: appliedMs - tookMs, appliedMs };
    for (const output of outputs) if (output.traced.length > 0) this.#times.set(output, times);
  }

  /** The owner has stored the outputs, milliseconds after they were pushed. */
  stored(partition: number, { outputs }: Pick<OutputSlice, 'outputs'>, tookMs: number): void {
    const storedMs = performance.now();
    for (const output of outputs) {
      const times = this.#times.get(output);
      if (times === undefined) continue;
      const place = { partition, inOffset: output.inOffset, sequence: output.sequence };
      for (const order of output.traced) {
        this.#add(order, place, { ...times, pushedMs: storedMs - tookMs, storedMs });
      }
    }
  }

  #add(
    order: TracedOrder,
    { partition, inOffset, sequence }: { partition: number; inOffset: number; sequence: number },
    times: SliceTimes & { readonly pushedMs: number; readonly storedMs: number },
  ): void {
    const { traceId } = order;
    const match = matchSpanOf(order, inOffset);
    this.#traces.add({
      ...match,
      parentId: produceSpanOf(order, sequence).spanId,
      name: 'match',
      kind: 'consumer',
      startMs: times.readMs,
      endMs: times.storedMs,
      attributes: {
        'pm.order.id': order.orderId,
        'pm.partition': partition,
        'pm.offset': inOffset,
        'pm.sequence': sequence,
      },
    });
    const step = (name: string, startMs: number, endMs: number) =>
      this.#traces.add({
        traceId,
        spanId: newSpanId(),
        parentId: match.spanId,
        name,
        kind: 'internal',
        startMs,
        endMs,
      });
    step('apply', times.beganMs, times.appliedMs);
    step('store', times.pushedMs, times.storedMs);
  }
}

import type { Traces } from '@pm/kit/traces';
import type { Execution } from '@pm/schemas/log/executions';
import {
  matchSpanOf,
  type OrderSampler,
  orderSampler,
  readerSpanOf,
  type TracedOrder,
  tracedResultsIn,
} from './order-traces.ts';

/** The option of a reader of `executions` that traces orders. */
export interface TracedReader {
  /** Traces of a partition; absent while nothing is traced. */
  readonly tracesOf?: (partition: number) => ReaderTraces;
}

/**
 * The option of the reader with this name. `process` tells apart those that all read the same records; without it the
 * record that another process reads once more has the same span.
 */
export function tracedReader(traces: Traces | null, reader: string, process = ''): TracedReader {
  if (traces === null) return {};
  return { tracesOf: (partition) => new ReaderTraces(traces, { reader, process, partition }) };
}

/** A reader of one partition. */
interface Reader {
  readonly reader: string;
  readonly process: string;
  readonly partition: number;
}

/** An order whose effects are not stored yet. */
interface Waiting {
  readonly order: TracedOrder;
  /** In `executions`. */
  readonly offset: number;
  /** Offset of the record of the order in `orders`. */
  readonly inOffset: number;
  /** When its record was folded, milliseconds of `performance.now()`. */
  readonly foldedMs: number;
}

/** Orders of a partition that wait at most; further ones get no span. */
const waitingMax = 1_000;
/** A record whose clock is older was traced when it was new: it is read again, to restore a state; milliseconds. */
const newsMs = 600_000;

/** The spans of orders in a reader of one partition: from the fold of their record to its effects being stored. */
export class ReaderTraces {
  readonly #traces: Traces;
  readonly #reader: Reader;
  readonly #sample: OrderSampler;
  #waiting: Waiting[] = [];

  constructor(traces: Traces, reader: Reader) {
    this.#traces = traces;
    this.#reader = reader;
    this.#sample = orderSampler(traces.share);
  }

  /** The record at this offset of `executions` is being folded. */
  take(offset: number, execution: Pick<Execution, 'events' | 'inOffset' | 'timeMs'>): void {
    const { inOffset, timeMs } = execution;
    const orders = tracedResultsIn(execution, this.#sample);
    if (orders.length === 0 || timeMs < Date.now() - newsMs) return;
    const foldedMs = performance.now();
    for (const order of orders) {
      if (this.#waiting.length >= waitingMax) return;
      this.#waiting.push({ order, offset, inOffset, foldedMs });
    }
  }

  /** The effects of all records below this offset are stored. */
  stored(to: number): void {
    if (this.#waiting.length === 0) return;
    const storedMs = performance.now();
    const left: Waiting[] = [];
    for (const waiting of this.#waiting) {
      if (waiting.offset >= to) left.push(waiting);
      else this.#add(waiting, storedMs);
    }
    this.#waiting = left;
  }

  #add({ order, offset, inOffset, foldedMs }: Waiting, storedMs: number): void {
    const { reader, process, partition } = this.#reader;
    this.#traces.add({
      ...readerSpanOf(order, `${reader} ${process}`, inOffset),
      parentId: matchSpanOf(order, inOffset).spanId,
      name: reader,
      kind: 'consumer',
      startMs: foldedMs,
      endMs: storedMs,
      attributes: {
        'pm.order.id': order.orderId,
        'pm.partition': partition,
        'pm.offset': inOffset,
        'pm.execution.offset': offset,
      },
    });
  }
}

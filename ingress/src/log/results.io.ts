import { type ExecutionCodec, eachExecution } from '@pm/domain/executions/each-execution.io';
import type { Fault } from '@pm/kit/fault';
import type { LogReader, RecordBatch } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { type Execution, type ExecutionEvent, orderIdFromBytes } from '@pm/schemas';
import { extremeMarketOf } from '../catalog/market-rules.ts';
import type { ExtremePrices } from '../catalog/tick-refinements.io.ts';
import { answersOf, type EventsPlace } from '../orders/order-result.ts';
import type { CommandLine } from './command-channel.io.ts';
import type { DelayedAnswers } from './delayed-results.io.ts';
import type { PartitionHearings } from './partition-liveness.io.ts';
import type { AnswerMemory } from './recent-results.io.ts';
import { eventsByCommand, type ResultWaiters } from './result-waiters.ts';
import type { OpenLog } from './topics.io.ts';

export interface ResultSourceOptions {
  readonly codec: ExecutionCodec;
  /** Who waits, by the id of the key that signed the envelope, in hex. */
  readonly waiters: ReadonlyMap<string, ResultWaiters>;
  readonly hearings: PartitionHearings;
  readonly memory: Pick<AnswerMemory, 'keep'>;
  readonly delays: Pick<DelayedAnswers, 'follow' | 'settle'>;
  readonly extremes: Pick<ExtremePrices, 'note'>;
}

/**
 * Reads all partitions of `executions` from their ends: every ingress hears everything and picks out what it waits for
 * (traps.md). `onBatch` is the handler of a log reader.
 */
export class ResultSource {
  readonly #options: ResultSourceOptions;

  constructor(options: ResultSourceOptions) {
    this.#options = options;
  }

  /** Throws a `Fault` (stop) for a gap or for a record that is no execution. */
  onBatch(batch: RecordBatch): Promise<void> {
    const take = (execution: Execution) => this.#take(batch.partition, execution);
    return eachExecution(batch, this.#options.codec, take);
  }

  #take(partition: number, execution: Execution): void {
    const { hearings, waiters } = this.#options;
    if (!hearings.hear(partition, execution.inOffset, execution.timeMs)) return;
    if (execution.sequence < 0) return;
    if (execution.events.some(isAboutOrder)) this.#remember(partition, execution);
    this.#followDelays(execution);
    this.#noteExtremes(execution);
    waiters.get(execution.keyId.toString('hex'))?.settle(partition, execution);
  }

  #remember(partition: number, { events, inOffset }: Execution): void {
    const place: EventsPlace = { partition, inOffset };
    for (const [command, ofCommand] of eventsByCommand(events)) {
      for (const answer of answersOf(ofCommand, place)) {
        this.#options.memory.keep(answer, partition);
        if (command === leftOver) this.#options.delays.settle(answer);
      }
    }
  }

  #noteExtremes({ events }: Execution): void {
    for (const event of events) {
      const market = extremeMarketOf(event);
      if (market !== null) this.#options.extremes.note(market);
    }
  }

  /** Before whoever sent the order hears of its delay. */
  #followDelays({ events, keyId }: Execution): void {
    if (!this.#options.waiters.has(keyId.toString('hex'))) return;
    for (const event of events) {
      if (event.kind === 'OrderDelayed') {
        this.#options.delays.follow(orderIdFromBytes(event.orderId));
      }
    }
  }
}

/** The command that events of an earlier record are left over from, as the end of a delay. */
const leftOver = -1;

function isAboutOrder(event: ExecutionEvent): boolean {
  return (
    event.kind === 'OrderPlaced' || event.kind === 'OrderRefused' || event.kind === 'OrderRepeated'
  );
}

/** Reads results from the ends on: what came before is nobody's any more. */
export function followResults(
  { client, names, codecs, executionEnds }: OpenLog,
  options: Pick<ResultSourceOptions, 'hearings' | 'memory' | 'delays' | 'extremes'> & {
    readonly lines: readonly Pick<CommandLine, 'keyId' | 'waiters'>[];
    readonly log: Log;
    /** The results cannot be followed any further. */
    onFault(fault: Fault): void;
  },
): Promise<LogReader> {
  const { hearings, memory, delays, extremes, log } = options;
  const waiters = new Map(options.lines.map((line) => [line.keyId, line.waiters]));
  const source = new ResultSource({
    codec: codecs.executions,
    ...{ waiters, hearings, memory, delays, extremes },
  });
  return client.reader({
    topic: names.executions,
    positions: executionEnds,
    dense: true,
    onBatch: (batch) => source.onBatch(batch),
    onFault: (fault) => {
      if (fault.reaction === 'retry') log.warn({ code: fault.code }, 'results are held up');
      else options.onFault(fault);
    },
  });
}

import { type ExecutionCodec, eachExecution } from '@pm/kit/executions';
import type { Fault } from '@pm/kit/fault';
import type { LogReader, RecordBatch } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { Execution, ExecutionEvent } from '@pm/schemas';
import { answerOf } from '../core/placement-answer.ts';
import type { AnswerMemory } from './answer-memory-store.ts';
import type { CommandLine } from './command-line-store.ts';
import type { OpenLog } from './log-store.ts';
import type { PartitionHearings } from './partition-hearing-store.ts';
import { eventsByCommand, type ResultWaiters } from './result-waiters-store.ts';

export interface ResultSourceOptions {
  readonly codec: ExecutionCodec;
  /** Who waits, by the id of the key that signed the envelope, in hex. */
  readonly waiters: ReadonlyMap<string, ResultWaiters>;
  readonly hearings: PartitionHearings;
  readonly memory: Pick<AnswerMemory, 'keep'>;
}

/**
 * Reads all partitions of `executions` from their ends: every ingress hears everything and picks out what it waits for
 * (docs/traps.md). `onBatch` is the handler of a log reader.
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
    waiters.get(execution.keyId.toString('hex'))?.settle(partition, execution);
  }

  #remember(partition: number, { events, inOffset }: Execution): void {
    for (const ofCommand of eventsByCommand(events).values()) {
      const answer = answerOf(ofCommand, { partition, inOffset });
      if (answer !== null) this.#options.memory.keep(answer, partition);
    }
  }
}

function isAboutOrder(event: ExecutionEvent): boolean {
  return (
    event.kind === 'OrderPlaced' || event.kind === 'OrderRefused' || event.kind === 'OrderRepeated'
  );
}

/** Reads results from the ends on: what came before is nobody's any more. */
export function followResults(
  { client, names, codecs, executionEnds }: OpenLog,
  options: Pick<ResultSourceOptions, 'hearings' | 'memory'> & {
    readonly lines: readonly Pick<CommandLine, 'keyId' | 'waiters'>[];
    readonly log: Log;
    /** The results cannot be followed any further. */
    onFault(fault: Fault): void;
  },
): Promise<LogReader> {
  const { hearings, memory, log } = options;
  const waiters = new Map(options.lines.map((line) => [line.keyId, line.waiters]));
  const source = new ResultSource({ codec: codecs.executions, waiters, hearings, memory });
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

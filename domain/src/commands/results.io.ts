import type { Fault } from '@pm/kit/fault';
import { isStall, type RecordBatch } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { orderIdFromBytes } from '@pm/schemas/ids';
import type { Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import { extremeMarketOf } from '../catalog/market-rules.ts';
import { type ExecutionCodec, eachExecution } from '../executions/each-execution.io.ts';
import { newestInputs } from '../executions/newest-inputs.io.ts';
import type { FundedWallets } from '../orders/funded-wallets.ts';
import { type EventsPlace, resultsOf } from '../orders/order-result.ts';
import type { ClockWitness } from './clock-witness.io.ts';
import type { CommandChannel } from './command-channel.io.ts';
import type { DelayedResults } from './delayed-results.io.ts';
import { type FollowedResults, followAdded } from './opened-partitions.io.ts';
import type { PartitionLiveness } from './partition-liveness.ts';
import type { ReadOffsets } from './read-offsets.io.ts';
import type { RecentResults } from './recent-results-cache.ts';
import { eventsByCommand } from './result-waiters.ts';
import type { CommandTopics } from './topics.io.ts';

export interface ResultReaderOptions {
  readonly codec: ExecutionCodec;
  /** The channels of this process by the id of their key, in hex. */
  readonly channels: ReadonlyMap<string, Pick<CommandChannel, 'take'>>;
  readonly partitions: PartitionLiveness;
  /** The program keeps results of orders. */
  readonly recentResults?: Pick<RecentResults, 'begin' | 'keep' | 'end'>;
  readonly readOffsets?: Pick<ReadOffsets, 'begin' | 'note'>;
  readonly delayedResults?: Pick<DelayedResults, 'follow' | 'settle'>;
  readonly fundedWallets?: Pick<FundedWallets, 'take'>;
  /** Takes the number of each market that is seen at an extreme price: the program refines ticks. */
  readonly extremePrices?: { note(market: number): void };
  /** The program bears witness to the time. */
  readonly witness?: Pick<ClockWitness, 'see'>;
}

/**
 * Reads all partitions of `executions` from their ends: every process reads everything and picks out the results that
 * it waits for (traps.md). `onBatch` is the handler of a log reader.
 */
export class ResultReader {
  readonly #options: ResultReaderOptions;

  constructor(options: ResultReaderOptions) {
    this.#options = options;
  }

  /** Throws a `Fault` (stop) for a gap or for a record that is no execution. */
  async onBatch(batch: RecordBatch): Promise<void> {
    const { partition, records, offsets } = batch;
    const { readOffsets, codec } = this.#options;
    const next = offsets?.to ?? (records.at(-1)?.offset ?? -1) + 1;
    readOffsets?.begin(partition, next);
    await eachExecution(batch, codec, (execution) => this.#take(partition, execution));
    readOffsets?.note(partition, next);
  }

  #take(partition: number, execution: Execution): void {
    const { partitions, channels } = this.#options;
    if (!partitions.observe(partition, execution.inOffset, execution.timeMs)) return;
    this.#options.witness?.see(partition, execution.timeMs);
    if (execution.sequence < 0) return;
    if (execution.events.some(isAboutOrder)) this.#remember(partition, execution);
    this.#noteEnds(execution);
    this.#options.fundedWallets?.take(execution.events);
    this.#followDelays(execution);
    this.#noteExtremes(execution);
    channels.get(execution.keyId.toString('hex'))?.take(partition, execution);
  }

  #remember(partition: number, { events, inOffset, timeMs }: Execution): void {
    const { recentResults, delayedResults } = this.#options;
    if (recentResults === undefined) return;
    const place: EventsPlace = { partition, inOffset };
    for (const [command, ofCommand] of eventsByCommand(events)) {
      for (const result of resultsOf(ofCommand, place)) {
        recentResults.keep(result, partition, timeMs);
        if (command === leftOver) delayedResults?.settle(result);
      }
    }
  }

  /** Comes behind the results of the record, which may have placed the order. */
  #noteEnds({ events }: Execution): void {
    const { recentResults } = this.#options;
    if (recentResults === undefined) return;
    for (const event of events) {
      if (event.kind === 'OrderCanceled') recentResults.end(event.orderId);
      if (event.kind === 'Fill' && event.makerRestMicro === 0)
        recentResults.end(event.makerOrderId);
    }
  }

  #noteExtremes({ events }: Execution): void {
    const { extremePrices } = this.#options;
    if (extremePrices === undefined) return;
    for (const event of events) {
      const market = extremeMarketOf(event);
      if (market !== null) extremePrices.note(market);
    }
  }

  /** Comes before the result of the command, so that a delayed order is followed before it is waited for. */
  #followDelays({ events, keyId }: Execution): void {
    if (!this.#options.channels.has(keyId.toString('hex'))) return;
    for (const event of events) {
      if (event.kind === 'OrderDelayed') {
        this.#options.delayedResults?.follow(orderIdFromBytes(event.orderId));
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

/** Reads results from the ends on: no request waits for earlier ones. Rejects with the faults of `newestInputs`. */
export async function followResults(
  { client, names, codecs, executionEnds }: CommandTopics,
  options: Omit<ResultReaderOptions, 'codec' | 'channels'> & {
    readonly channel: Pick<CommandChannel, 'keyId' | 'take'>;
    readonly log: Log;
    /** Pause between fetches, milliseconds; default none. */
    readonly restMs?: number;
    /** The results cannot be followed any further. */
    onFault(fault: Fault): void;
  },
): Promise<FollowedResults> {
  const { channel, log, onFault, restMs = 0, ...observers } = options;
  const { partitions, recentResults } = observers;
  const channels = new Map([[channel.keyId, channel]]);
  const codec = codecs.executions;
  const topic = names.executions;
  const source = new ResultReader({ codec, channels, ...observers });
  const newest = await newestInputs({ client, codec, topic }, executionEnds);
  partitions.begin(newest);
  // No clock is known for a partition whose log has ended and holds no record any more.
  const clocks = [...executionEnds].map(([partition, end]) => {
    const clockMs = newest.get(partition)?.clockMs ?? (end === 0 ? 0 : Number.POSITIVE_INFINITY);
    return [partition, clockMs] as const;
  });
  recentResults?.begin(new Map(clocks));
  const read = (positions: ReadonlyMap<number, number>) =>
    client.reader({
      topic,
      positions,
      dense: true,
      restMs,
      onBatch: (batch) => source.onBatch(batch),
      onFault: (fault) => {
        if (isStall(fault)) log.warn({ code: fault.code }, 'results are held up');
        else onFault(fault);
      },
    });
  await read(executionEnds);
  const added = { client, topic, partitions, log, follow: read };
  return {
    followOpened: () => followAdded({ ...added, ...(recentResults && { recentResults }) }),
  };
}

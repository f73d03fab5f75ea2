import type { LogProducer } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import type { Command, Envelope } from '@pm/schemas/log/orders';
import type { SignOffKey } from '../signoff/keys.ts';
import { sealEnvelope } from '../signoff/records.ts';
import { Sequences } from '../signoff/sequences.ts';
import { EnvelopeSender, isCertainlyUnsent } from './envelope-sender.io.ts';
import type { PartitionLiveness } from './partition-liveness.ts';
import { type CommandResult, type FinalResult, ResultWaiters } from './result-waiters.ts';
import { SentSequences } from './sent-sequences.ts';
import { type Waiter, WaitingShares } from './waiting-shares.ts';

export interface CommandChannelOptions {
  readonly key: SignOffKey;
  readonly codec: Pick<RecordCodec<Envelope>, 'encode' | 'fingerprint'>;
  readonly producer: Pick<LogProducer, 'send'>;
  readonly topic: string;
  /** Says which partitions are opened: no record goes to any other. */
  readonly partitions: Pick<PartitionLiveness, 'has'>;
  /** Unix milliseconds, which runs of sequences begin with. */
  nowMs(): number;
  /** See `Sequences`. */
  readonly runsAhead: number;
  readonly waitMs: number;
  /** Another process has sent an envelope of the run of this one. */
  onForeign(): void;
  /** A partition has rejected an envelope under this key, and not because another run had outrun it. */
  onRejected?(partition: number): void;
}

/** Everything that goes to the log under one sign-off key, and the commands that wait for their results. */
export interface CommandChannel {
  /** Hex of the key's id. */
  readonly keyId: string;
  readonly envelopes: EnvelopeSender;
  readonly waiters: ResultWaiters;
  readonly commands: CommandSender;
  /** Takes an execution whose input names this key. */
  take(partition: number, execution: Execution): void;
}

export function openCommandChannel(options: CommandChannelOptions): CommandChannel {
  const { key, codec, producer, topic, partitions } = options;
  const waiters = new ResultWaiters();
  const sequences = new Sequences(options.runsAhead);
  const sent = new SentSequences();
  const envelopes = new EnvelopeSender({
    producer,
    topic,
    seal: (envelope) => sealEnvelope(codec, key, envelope),
    nextSequence: (partition) => sent.add(sequences.next(options.nowMs()), partition),
  });
  const { waitMs } = options;
  const commands = new CommandSender({ envelopes, waiters, partitions, waitMs });
  const take = (partition: number, execution: Execution) => {
    const { sequence } = execution;
    const isTaken = !execution.events.some(({ kind }) => kind === 'RecordRejected');
    const isForeign = isTaken && sequences.isOfThisRun(sequence) && !sent.has(sequence, partition);
    if (isForeign) options.onForeign();
    const isOutrun = waiters.settle(partition, execution);
    if (!isTaken && !isOutrun) options.onRejected?.(partition);
    if (isForeign || isOutrun) sequences.leaveRunOf(sequence, options.nowMs());
  };
  return { keyId: key.keyId.toString('hex'), envelopes, waiters, commands, take };
}

export interface CommandSenderOptions {
  readonly envelopes: Pick<EnvelopeSender, 'add'>;
  readonly waiters: ResultWaiters;
  readonly partitions: Pick<PartitionLiveness, 'has'>;
  /** How long a result is waited for, milliseconds. */
  readonly waitMs: number;
  /** Places for those who wait; tests make them few. */
  readonly shares?: WaitingShares;
}

/** An envelope that is durable, and from when to when that took, milliseconds of the monotonic clock. */
export interface DurableSend {
  readonly sequence: number;
  readonly startedMs: number;
  readonly endedMs: number;
}

/** Who waits for a command, and whether it may use the places that are kept for cancels. */
export interface Waiting {
  readonly waiter: Waiter | null;
  readonly mayUseReserve: boolean;
  /** Called for each envelope of the command that became durable, which may be after its result. */
  readonly onDurable?: ((sent: DurableSend) => void) | undefined;
}

/** Commands of the exchange itself. */
const ownWaiting: Waiting = { waiter: null, mayUseReserve: true };

/** How often a command goes again whose envelope was outrun: the first time it is one of another run. */
const resendsMax = 5;

type Outrun = Extract<FinalResult, { kind: 'outrun' }>;

const overloaded: CommandResult = { kind: 'unsent', code: 'overloaded' };

/** Result for a partition that is not opened: a command before the opening would stay on its log and be rejected. */
const notOpened: CommandResult = { kind: 'unsent', code: 'partition_not_ready' };

/** Sends commands to the log and waits for their results, bounded in number and time. */
export class CommandSender {
  readonly #options: CommandSenderOptions;
  readonly #shares: WaitingShares;

  constructor(options: CommandSenderOptions) {
    this.#options = options;
    this.#shares = options.shares ?? new WaitingShares();
  }

  /**
   * The result of a command. An envelope of a run that another process uses too, or that the partition no longer
   * keeps, may come too late and then changed nothing: its commands go again, in another run. `overloaded` at once
   * where the waiter has no place, and `partition_not_ready` where the partition is not opened.
   */
  async run(
    partition: number,
    command: Command,
    { waiter, mayUseReserve, onDurable }: Waiting = ownWaiting,
  ): Promise<CommandResult> {
    if (!this.#options.partitions.has(partition)) return notOpened;
    if (!this.#shares.take(waiter, mayUseReserve)) return overloaded;
    try {
      return await this.#run(partition, command, onDurable);
    } finally {
      this.#shares.leave(waiter);
    }
  }

  async #run(
    partition: number,
    command: Command,
    onDurable: Waiting['onDurable'],
  ): Promise<CommandResult> {
    for (let left = resendsMax; left > 0; left -= 1) {
      const result = await this.#send(partition, command, onDurable);
      if (result.kind !== 'outrun') return result;
    }
    const result = await this.#send(partition, command, onDurable);
    return result.kind === 'outrun' ? { kind: 'rejected' } : result;
  }

  #send(
    partition: number,
    command: Command,
    onDurable: Waiting['onDurable'],
  ): Promise<CommandResult | Outrun> {
    const { envelopes, waiters, waitMs } = this.#options;
    const ticket = envelopes.add(partition, command);
    if (ticket === null) return Promise.resolve(overloaded);
    const { sequence, command: index } = ticket;
    const waiting = { partition, sequence, index, command };
    const startedMs = performance.now();
    let sentMs = 0;
    return new Promise((resolve) => {
      const conclude = (result: CommandResult | FinalResult) => {
        clearTimeout(timer);
        waiters.remove(waiting);
        resolve(
          result.kind === 'executed' ? { ...result, times: timesOf(startedMs, sentMs) } : result,
        );
      };
      const timer = setTimeout(() => conclude({ kind: 'pending' }), waitMs);
      waiters.add(waiting, conclude);
      ticket.sent.then(
        (offset) => {
          sentMs = performance.now();
          if (offset >= 0) waiters.locate(sequence, offset);
          onDurable?.({ sequence, startedMs, endedMs: sentMs });
        },
        (error: unknown) => {
          // An unknown outcome is not a failure: the record may be on the log, so the result is waited for.
          if (isCertainlyUnsent(error)) conclude(unsentBy(error));
        },
      );
    });
  }
}

/** A result may be read before the send is acknowledged; then the log took all of the time. */
function timesOf(startedMs: number, sentMs: number) {
  const endedMs = performance.now();
  if (sentMs === 0) return { logMs: endedMs - startedMs, matchMs: 0 };
  return { logMs: sentMs - startedMs, matchMs: endedMs - sentMs };
}

function unsentBy(error: unknown): CommandResult {
  const isFull = error instanceof Error && Reflect.get(error, 'code') === 'queue_full';
  return isFull ? overloaded : { kind: 'unsent', code: 'internal_error' };
}

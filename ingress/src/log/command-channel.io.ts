import type { SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import type { LogProducer } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import type { Command, Envelope } from '@pm/schemas';
import { isCertainlyUnsent, OrderSink } from './envelope-sender.io.ts';
import { type CommandResult, ResultWaiters } from './result-waiters.ts';

export interface CommandLineOptions {
  readonly key: SignOffKey;
  readonly codec: Pick<RecordCodec<Envelope>, 'encode'>;
  readonly producer: Pick<LogProducer, 'send'>;
  readonly topic: string;
  readonly partitions: number;
  /** Unix milliseconds; sequences start from it, so that they grow from process to process under one key. */
  readonly nowMs: number;
  readonly waitMs: number;
}

/** Everything that goes to the log under one sign-off key, and who waits for it. */
export interface CommandLine {
  /** Hex of the key's id. */
  readonly keyId: string;
  readonly sink: OrderSink;
  readonly waiters: ResultWaiters;
  readonly runner: CommandRunner;
}

/** A process sends fewer envelopes in a millisecond than this. */
const sequencesPerMs = 1_000;

export function openCommandLine(options: CommandLineOptions): CommandLine {
  const { key, codec, producer, topic, partitions } = options;
  const waiters = new ResultWaiters();
  const sink = new OrderSink({
    producer,
    topic,
    partitions,
    seal: (envelope) => sealEnvelope(codec, key, envelope),
    firstSequence: options.nowMs * sequencesPerMs,
  });
  const runner = new CommandRunner({ sink, waiters, waitMs: options.waitMs });
  return { keyId: key.keyId.toString('hex'), sink, waiters, runner };
}

/** `CommandOutcome` of the routes: a result, certainly unsent, or unknown within the time. */
export type RunOutcome =
  | (CommandResult & { readonly times?: { readonly logMs: number; readonly matchMs: number } })
  | { readonly kind: 'unsent'; readonly code: 'overloaded' | 'internal_error' }
  | { readonly kind: 'pending' };

export interface CommandRunnerOptions {
  readonly sink: Pick<OrderSink, 'add'>;
  readonly waiters: ResultWaiters;
  /** How long a result is waited for, milliseconds. */
  readonly waitMs: number;
}

/** Commands that wait for their results; beyond it the door says 503. */
const waitingCommandsMax = 20_000;

const overloaded: RunOutcome = { kind: 'unsent', code: 'overloaded' };

/** Puts commands on the log and waits for what they did, bounded. */
export class CommandRunner {
  readonly #options: CommandRunnerOptions;

  constructor(options: CommandRunnerOptions) {
    this.#options = options;
  }

  run(partition: number, command: Command): Promise<RunOutcome> {
    const { sink, waiters, waitMs } = this.#options;
    if (waiters.count >= waitingCommandsMax) return Promise.resolve(overloaded);
    const ticket = sink.add(partition, command);
    if (ticket === null) return Promise.resolve(overloaded);
    const { sequence, command: index } = ticket;
    const startedMs = performance.now();
    let sentMs = 0;
    return new Promise((resolve) => {
      const conclude = (outcome: RunOutcome) => {
        clearTimeout(timer);
        waiters.remove(sequence, index);
        resolve(
          outcome.kind === 'answered' ? { ...outcome, times: timesOf(startedMs, sentMs) } : outcome,
        );
      };
      const timer = setTimeout(() => conclude({ kind: 'pending' }), waitMs);
      waiters.add(sequence, index, conclude);
      ticket.sent.then(
        () => {
          sentMs = performance.now();
        },
        (error: unknown) => {
          // An unknown outcome is not a failure: the record may be on the log, so the result is waited for.
          if (isCertainlyUnsent(error)) conclude(unsentBy(error));
        },
      );
    });
  }
}

/** A result may be heard before the send is acknowledged; then the log took all of the time. */
function timesOf(startedMs: number, sentMs: number) {
  const endedMs = performance.now();
  if (sentMs === 0) return { logMs: endedMs - startedMs, matchMs: 0 };
  return { logMs: sentMs - startedMs, matchMs: endedMs - sentMs };
}

function unsentBy(error: unknown): RunOutcome {
  const isFull = error instanceof Error && Reflect.get(error, 'code') === 'queue_full';
  return isFull ? overloaded : { kind: 'unsent', code: 'internal_error' };
}

import type { SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import type { LogProducer } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import type { Command, Envelope } from '@pm/schemas';
import { EnvelopeSender, isCertainlyUnsent } from './envelope-sender.io.ts';
import { type CommandResult, ResultWaiters } from './result-waiters.ts';

export interface CommandChannelOptions {
  readonly key: SignOffKey;
  readonly codec: Pick<RecordCodec<Envelope>, 'encode'>;
  readonly producer: Pick<LogProducer, 'send'>;
  readonly topic: string;
  readonly partitions: number;
  /** Unix milliseconds; sequences start from it, so that they grow from process to process under one key. */
  readonly nowMs: number;
  readonly waitMs: number;
}

/** Everything that goes to the log under one sign-off key, and the commands that wait for their results. */
export interface CommandChannel {
  /** Hex of the key's id. */
  readonly keyId: string;
  readonly envelopes: EnvelopeSender;
  readonly waiters: ResultWaiters;
  readonly commands: CommandSender;
}

/** A process sends fewer envelopes in a millisecond than this. */
const sequencesPerMs = 1_000;

export function openCommandChannel(options: CommandChannelOptions): CommandChannel {
  const { key, codec, producer, topic, partitions } = options;
  const waiters = new ResultWaiters();
  const envelopes = new EnvelopeSender({
    producer,
    topic,
    partitions,
    seal: (envelope) => sealEnvelope(codec, key, envelope),
    firstSequence: options.nowMs * sequencesPerMs,
  });
  const commands = new CommandSender({ envelopes, waiters, waitMs: options.waitMs });
  return { keyId: key.keyId.toString('hex'), envelopes, waiters, commands };
}

export interface CommandSenderOptions {
  readonly envelopes: Pick<EnvelopeSender, 'add'>;
  readonly waiters: ResultWaiters;
  /** How long a result is waited for, milliseconds. */
  readonly waitMs: number;
}

/** Commands that wait for their results; beyond it requests are refused as `overloaded`. */
const waitingCommandsMax = 20_000;

const overloaded: CommandResult = { kind: 'unsent', code: 'overloaded' };

/** Sends commands to the log and waits for their results, bounded in number and time. */
export class CommandSender {
  readonly #options: CommandSenderOptions;

  constructor(options: CommandSenderOptions) {
    this.#options = options;
  }

  run(partition: number, command: Command): Promise<CommandResult> {
    const { envelopes, waiters, waitMs } = this.#options;
    if (waiters.count >= waitingCommandsMax) return Promise.resolve(overloaded);
    const ticket = envelopes.add(partition, command);
    if (ticket === null) return Promise.resolve(overloaded);
    const { sequence, command: index } = ticket;
    const startedMs = performance.now();
    let sentMs = 0;
    return new Promise((resolve) => {
      const conclude = (result: CommandResult) => {
        clearTimeout(timer);
        waiters.remove(sequence, index);
        resolve(
          result.kind === 'executed' ? { ...result, times: timesOf(startedMs, sentMs) } : result,
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

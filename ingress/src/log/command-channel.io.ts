import type { SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import type { LogProducer } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import type { Envelope } from '@pm/schemas';
import { CommandRunner } from './command-runner.io.ts';
import { OrderSink } from './envelope-sender.io.ts';
import { ResultWaiters } from './result-waiters.ts';

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

import { Fault } from '@pm/kit/fault';
import type { LogProducer } from '@pm/kit/kafka';
import { type Command, envelopeCommandsMax } from '@pm/schemas/log/orders';

/** The place of a command among the envelopes of this process: its number in `executions`. */
export interface CommandTicket {
  readonly sequence: number;
  readonly command: number;
  /**
   * The offset of its envelope, once that is durable; negative when the broker no longer knows it. Rejects with the
   * producer's `Fault`.
   */
  readonly sent: Promise<number>;
}

export interface EnvelopeSenderOptions {
  readonly producer: Pick<LogProducer, 'send'>;
  /** The topic `orders` as the broker calls it. */
  readonly topic: string;
  /** Encodes and signs one envelope. */
  seal(envelope: { partition: number; sequence: number; commands: readonly Command[] }): Buffer;
  /** The sequence of the next envelope, larger than all before under the same key. */
  nextSequence(partition: number): number;
}

/** Commands of one partition that wait for the send in flight; beyond it requests are refused as `overloaded`. */
export const commandsQueueMax = 8 * envelopeCommandsMax;

/** Room that only cancels may use, so that a flood of orders never prevents cancels. */
const cancelsReserve = 8 * envelopeCommandsMax;

interface OpenEnvelope {
  readonly sequence: number;
  readonly commands: Command[];
  readonly sent: Promise<number>;
  resolve(offset: number): void;
  reject(error: unknown): void;
}

/**
 * Puts commands into envelopes, one open per partition: alone under low load, together while the send before is in
 * flight, so that signature, record and request are shared (architecture.md).
 */
export class EnvelopeSender {
  readonly #options: EnvelopeSenderOptions;
  readonly #waiting = new Map<number, OpenEnvelope[]>();
  readonly #sending = new Set<number>();
  readonly #queued = new Map<number, number>();

  constructor(options: EnvelopeSenderOptions) {
    this.#options = options;
  }

  /** Commands of a partition that are not durable yet. */
  queued(partition: number): number {
    return this.#queued.get(partition) ?? 0;
  }

  /** Takes a command for the next envelope; null when the partition's queue is full. */
  add(partition: number, command: Command): CommandTicket | null {
    if (this.queued(partition) >= roomFor(command)) return null;
    const envelopes = this.#waiting.get(partition) ?? [];
    this.#waiting.set(partition, envelopes);
    this.#queued.set(partition, this.queued(partition) + 1);
    const last = envelopes.at(-1);
    const open = last !== undefined && last.commands.length < envelopeCommandsMax ? last : null;
    const envelope = open ?? this.#open(partition, envelopes);
    envelope.commands.push(command);
    this.#start(partition);
    const { sequence, sent } = envelope;
    return { sequence, command: envelope.commands.length - 1, sent };
  }

  #open(partition: number, envelopes: OpenEnvelope[]): OpenEnvelope {
    let resolve: (offset: number) => void = () => {};
    let reject: (error: unknown) => void = () => {};
    const sent = new Promise<number>((done, failed) => {
      resolve = done;
      reject = failed;
    });
    // A caller that waits for a ticket sees the rejection; a ticket without one must not end the process.
    sent.catch(() => {});
    const envelope = {
      sequence: this.#options.nextSequence(partition),
      commands: [],
      sent,
      resolve,
      reject,
    };
    envelopes.push(envelope);
    return envelope;
  }

  #start(partition: number): void {
    if (this.#sending.has(partition)) return;
    this.#sending.add(partition);
    void this.#drain(partition);
  }

  async #drain(partition: number): Promise<void> {
    // Commands that one request adds in this iteration of the event loop go into one envelope.
    await Promise.resolve();
    const envelopes = this.#waiting.get(partition) ?? [];
    for (let next = envelopes.shift(); next !== undefined; next = envelopes.shift()) {
      await this.#send(partition, next);
      this.#queued.set(partition, this.queued(partition) - next.commands.length);
    }
    this.#sending.delete(partition);
  }

  async #send(partition: number, envelope: OpenEnvelope): Promise<void> {
    const { sequence, commands } = envelope;
    try {
      const value = this.#options.seal({ partition, sequence, commands });
      const [place] = await this.#options.producer.send([
        { topic: this.#options.topic, partition, key: null, value },
      ]);
      envelope.resolve(place?.offset ?? -1);
    } catch (error) {
      envelope.reject(error);
    }
  }
}

const cancelKinds: ReadonlySet<Command['kind']> = new Set([
  'CancelOrder',
  'CancelByIds',
  'CancelOrders',
]);

function roomFor({ kind }: Command): number {
  return cancelKinds.has(kind) ? commandsQueueMax + cancelsReserve : commandsQueueMax;
}

/** Whether a failed send has certainly left nothing on the log (see `LogProducer.send`). */
export function isCertainlyUnsent(error: unknown): boolean {
  return error instanceof Fault && certainlyUnsent.has(error.code);
}

const certainlyUnsent: ReadonlySet<string> = new Set([
  'queue_full',
  'partition_unknown',
  'not_sent',
  'client_closed',
]);

import type { SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { Sequences } from '@pm/domain/signoff/sequences';
import type { LogProducer } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import type { Envelope } from '@pm/schemas';
import type { Engine } from '../core/index.ts';

/** The part of the engine that says when a tick is due, and whether the owner key may send one. */
export type TickedEngine = Pick<Engine, 'opened' | 'nextExpiryMs' | 'signOffKey'>;

interface TickPublisherParts {
  readonly producer: Pick<LogProducer, 'send'>;
  readonly codec: Pick<RecordCodec<Envelope>, 'encode' | 'fingerprint'>;
  /** The OWNER key. */
  readonly key: SignOffKey;
  readonly topic: string;
  readonly partition: number;
  /** Milliseconds between ticks; they come when the clock passes a multiple of it. */
  readonly everyMs: number;
  readonly log: Log;
}

/**
 * Moves the clock of one partition by appending ticks to its own input: every `everyMs`, at the same moments as those
 * of the other partitions, and as soon as an order expires or a delay ends. Ticks of one moment are one request, one
 * fetch and one wake-up of each reader. One tick is in flight at a time. It does not wait for the engine to process it:
 * while the owner lags, the ticks between the orders show how old each order was.
 */
export class TickPublisher {
  readonly #parts: TickPublisherParts;
  #sending = false;
  #lastMs = Number.NEGATIVE_INFINITY;
  readonly #sequences = new Sequences();
  #warned = false;

  constructor(parts: TickPublisherParts) {
    this.#parts = parts;
  }

  /** Appends a tick when one is due. Resolves when it is durable or given up; the next tick replaces a lost one. */
  async publishDue(nowMs: number, engine: TickedEngine): Promise<void> {
    if (this.#sending || !this.#isDue(nowMs, engine) || !this.#isKnown(engine)) return;
    const { producer, codec, key, topic, partition, log } = this.#parts;
    this.#sending = true;
    this.#lastMs = nowMs;
    const commands = [{ kind: 'Tick', timeMs: nowMs } as const];
    const sequence = this.#nextSequence(nowMs, engine);
    const value = sealEnvelope(codec, key, { partition, sequence, commands });
    try {
      await producer.send([{ topic, partition, key: null, value }]);
    } catch (error) {
      log.warn({ partition, err: error }, 'a tick was not appended');
    } finally {
      this.#sending = false;
    }
  }

  /** All matchers sign with one key: the runs of the owners before may be ahead of this machine's clock. */
  #nextSequence(nowMs: number, engine: TickedEngine): number {
    const own = engine.signOffKey(this.#parts.key.keyId);
    if (own !== null) this.#sequences.pass(own.used.floor);
    return this.#sequences.next(nowMs);
  }

  /** An expiry causes one tick: until that tick is processed, only the interval counts. */
  #isDue(nowMs: number, { nextExpiryMs }: TickedEngine): boolean {
    const { everyMs } = this.#parts;
    if (Math.floor(nowMs / everyMs) > Math.floor(this.#lastMs / everyMs)) return true;
    return nextExpiryMs <= nowMs && this.#lastMs < nextExpiryMs;
  }

  /** A tick of a key that the partition does not list would be a dead letter. */
  #isKnown(engine: TickedEngine): boolean {
    const { key, partition, log } = this.#parts;
    const known = engine.opened ? engine.signOffKey(key.keyId) : null;
    const mayTick = known?.active === true && known.role === 'OWNER';
    if (!mayTick && engine.opened && !this.#warned) {
      log.warn({ partition }, 'no ticks: the owner key is not set in this partition');
    }
    this.#warned = !mayTick && engine.opened;
    return mayTick;
  }
}

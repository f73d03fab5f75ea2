import type { SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import type { LogProducer } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import type { Envelope } from '@pm/schemas';
import type { MatchingEngine } from './record-processor.ts';

interface TickSinkParts {
  readonly producer: Pick<LogProducer, 'send'>;
  readonly codec: Pick<RecordCodec<Envelope>, 'encode'>;
  /** The OWNER key. */
  readonly key: SignOffKey;
  readonly topic: string;
  readonly partition: number;
  /** Milliseconds between ticks. */
  readonly everyMs: number;
  readonly log: Log;
}

/**
 * Moves the clock of one partition by appending ticks to its own input: every `everyMs`, and as soon as an order
 * expires. Only one is on its way at a time. It does not wait for the engine to reach it: while the owner lags, the
 * ticks between the orders are what tells how old each order was.
 */
export class TickSink {
  readonly #parts: TickSinkParts;
  #sending = false;
  #lastMs = Number.NEGATIVE_INFINITY;
  #sequence = 0;
  #warned = false;

  constructor(parts: TickSinkParts) {
    this.#parts = parts;
  }

  /**
   * Appends a tick when one is due. Resolves when it is durable or given up; a lost tick is made up for by the next.
   */
  async beat(nowMs: number, engine: MatchingEngine): Promise<void> {
    if (this.#sending || !this.#isDue(nowMs, engine) || !this.#isKnown(engine)) return;
    const { producer, codec, key, topic, partition, log } = this.#parts;
    this.#sending = true;
    this.#lastMs = nowMs;
    const commands = [{ kind: 'Tick', timeMs: nowMs } as const];
    const value = sealEnvelope(codec, key, { partition, sequence: this.#sequence, commands });
    this.#sequence += 1;
    try {
      await producer.send([{ topic, partition, key: null, value }]);
    } catch (error) {
      log.warn({ partition, err: error }, 'a tick was not appended');
    } finally {
      this.#sending = false;
    }
  }

  /** An expiry is told once: until the tick for it has come round, the interval alone counts. */
  #isDue(nowMs: number, { nextExpiryMs }: MatchingEngine): boolean {
    if (nowMs - this.#lastMs >= this.#parts.everyMs) return true;
    return nextExpiryMs <= nowMs && this.#lastMs < nextExpiryMs;
  }

  /** A tick of a key the partition does not know would be a dead letter. */
  #isKnown(engine: MatchingEngine): boolean {
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

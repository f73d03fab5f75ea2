import type { SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { Sequences } from '@pm/domain/signoff/sequences';
import type { Clock } from '@pm/kit/clock';
import type { LogProducer, RecordPlace } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import type { Command, Envelope } from '@pm/schemas/log/orders';
import type { Engine } from '../core/index.ts';
import { TickTime } from './tick-time.ts';
import { UnreadTicks } from './unread-ticks.ts';

/** The part of the engine that says when a tick is due, its time and term, and whether the owner key may send one. */
export type TickedEngine = Pick<
  Engine,
  'opened' | 'nextExpiryMs' | 'awaitsTick' | 'signOffKey' | 'term' | 'timeMs' | 'witnessMs'
>;

/** Records that were applied, as far as ticks are concerned. */
interface AppliedRecords {
  /** Offset of the next input. */
  readonly nextOffset: number;
  /** When ingress took the newest order of them; 0 without one. */
  readonly acceptedAtMs: number;
}

interface TickPublisherParts {
  readonly producer: Pick<LogProducer, 'send'>;
  readonly codec: Pick<RecordCodec<Envelope>, 'encode' | 'fingerprint'>;
  /** The OWNER key. */
  readonly key: SignOffKey;
  readonly topic: string;
  readonly partition: number;
  /** Milliseconds between ticks. */
  readonly everyMs: number;
  readonly clock: Clock;
  /** By chance, so that two matchers that begin to send at one moment have other runs of sequences. */
  readonly runsAhead?: number;
  readonly log: Log;
}

/**
 * Moves the clock of one partition by appending ticks to its own input: every `everyMs` of the monotonic clock, at the
 * same moments as those of the other partitions, and as soon as an order expires or a delay ends, or orders are held
 * for a tick. Ticks of one moment are one request, one fetch and one wake-up of each reader. One tick is in flight at a
 * time; and those for held orders follow each other when the one before was read, so all that were held meanwhile share
 * one. It does not wait for the
 * engine to process it: while the owner lags, the ticks between the orders show how old each order was. Claims are
 * signed with the same key and numbered in the same run.
 */
export class TickPublisher {
  readonly #parts: TickPublisherParts;
  readonly #time = new TickTime();
  readonly #unread: UnreadTicks;
  /** Unix milliseconds when the monotonic clock was 0, as of the opening: processes tick together. */
  readonly #phaseMs: number;
  #sending = false;
  /** The newest tick: when it was sent, monotonic, and its time. */
  #lastMs = Number.NEGATIVE_INFINITY;
  #lastTimeMs = Number.NEGATIVE_INFINITY;
  readonly #sequences: Sequences;
  #lastSequence = -1;
  #warned = false;

  constructor(parts: TickPublisherParts) {
    this.#parts = parts;
    this.#phaseMs = parts.clock.nowMs() - parts.clock.monotonicMs();
    this.#unread = new UnreadTicks(parts.everyMs);
    this.#sequences = new Sequences(parts.runsAhead);
  }

  /** Which of the ticks were read again. */
  get unread(): Pick<UnreadTicks, 'ageMs' | 'stillMs' | 'end' | 'reopened'> {
    return this.#unread;
  }

  /** Records of the partition were applied; ticks of other owners and times of ingress are among them. */
  applied({ nextOffset, acceptedAtMs }: AppliedRecords, { timeMs }: TickedEngine): void {
    const nowMs = this.#parts.clock.monotonicMs();
    this.#unread.applied(nextOffset);
    this.#time.seen(timeMs, nowMs);
    if (acceptedAtMs > 0) this.#time.accepted(acceptedAtMs, nowMs);
  }

  /**
   * Appends a tick when one is due. Resolves when it is durable (true), when it is given up, which the next tick makes
   * good, or when none is due.
   */
  async publishDue(engine: TickedEngine): Promise<boolean> {
    const { clock } = this.#parts;
    const nowMs = clock.monotonicMs();
    const logged = {
      timeMs: engine.timeMs,
      witnessMs: engine.witnessMs,
      isRead: this.#unread.areRead,
    };
    const timeMs = this.#time.at({ wallMs: clock.nowMs(), monotonicMs: nowMs }, logged);
    if (this.#sending || !this.#isDue(nowMs, timeMs, engine) || !this.#isKnown(engine))
      return false;
    this.#sending = true;
    [this.#lastMs, this.#lastTimeMs] = [nowMs, timeMs];
    this.#time.written(timeMs, nowMs);
    this.#unread.sent(nowMs);
    try {
      const [place] = await this.#append(engine, { kind: 'Tick', timeMs, term: engine.term });
      if (place !== undefined)
        this.#unread.stored({ offset: place.offset, sentMs: nowMs }, clock.monotonicMs());
      return true;
    } catch (error) {
      const { partition, log } = this.#parts;
      log.warn({ partition, err: error }, 'a tick was not appended');
      return false;
    } finally {
      this.#sending = false;
    }
  }

  /**
   * Claims the next term for a process; `noOwner` resigns. Resolves with the offset of the claim, or null when it was
   * not stored as far as is known.
   */
  async claim(engine: TickedEngine, owner: Buffer): Promise<number | null> {
    if (!this.#isKnown(engine)) return null;
    try {
      const term = engine.term + 1;
      const places = await this.#append(engine, { kind: 'ClaimPartition', term, owner });
      return places[0]?.offset ?? null;
    } catch (error) {
      const { partition, log } = this.#parts;
      log.warn({ partition, err: error }, 'a claim was not appended');
      return null;
    }
  }

  #append(engine: TickedEngine, command: Command): Promise<readonly RecordPlace[]> {
    const { producer, codec, key, topic, partition, clock } = this.#parts;
    const sequence = this.#nextSequence(clock.nowMs(), engine);
    const value = sealEnvelope(codec, key, { partition, sequence, commands: [command] });
    return producer.send([{ topic, partition, key: null, value }]);
  }

  /**
   * All matchers sign with one key: the runs of the owners before may be ahead of this machine's clock, and one of them
   * may be in the run of this process.
   */
  #nextSequence(nowMs: number, engine: TickedEngine): number {
    const own = engine.signOffKey(this.#parts.key.keyId);
    if (own !== null) this.#sequences.pass(own.used.floor);
    const met = own?.used.newest.find((one) => this.#sequences.isOfThisRun(one)) ?? -1;
    if (met > this.#lastSequence) this.#sequences.leaveRunOf(met, nowMs);
    this.#lastSequence = this.#sequences.next(nowMs);
    return this.#lastSequence;
  }

  /** An expiry causes one tick, and so does a held order: until that tick is processed, only the interval counts. */
  #isDue(nowMs: number, timeMs: number, { nextExpiryMs, awaitsTick }: TickedEngine): boolean {
    const { everyMs } = this.#parts;
    const intervalOf = (ms: number) => Math.floor((ms + this.#phaseMs) / everyMs);
    if (intervalOf(nowMs) > intervalOf(this.#lastMs)) return true;
    if (awaitsTick && this.#unread.areRead) return true;
    return nextExpiryMs <= timeMs && this.#lastTimeMs < nextExpiryMs;
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

import { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { isAnswer } from './kafkajs-errors.ts';
import { type LogClientLimits, leaderRetryMs } from './limits.ts';
import { NotReached } from './not-reached.ts';
import { BatchNumbers, PartitionBatch, type ProducerIdentity } from './partition-batch.ts';
import type { SequencedRecords } from './produce-request.ts';
import type { ProduceWire } from './produce-wire.io.ts';
import {
  type AttemptFailure,
  lostAttempt,
  refusedAttempt,
  uncoveredAttempt,
} from './send-failure.ts';
import { type SendQueue, type TakenSize, topicsOf } from './send-queue.ts';
import { pause } from './waiting.io.ts';

/** Dependencies of the lanes of a producer. */
interface LaneParts {
  readonly limits: LogClientLimits;
  readonly log: Log;
  readonly wire: Pick<ProduceWire, 'leaderOf' | 'load' | 'openIdentity' | 'produce'>;
  readonly queue: SendQueue;
  monotonicMs(): number;
}

/**
 * A lane per leading broker, each with one request in flight: a request holds the partitions of one leader only, so no
 * broker's answer can stand for another's, and a slow broker holds up its own partitions. A partition has one batch at
 * a time. A batch that fails goes again under the same numbers, to the leader of that moment, until its time is over.
 */
export class LeaderLanes {
  readonly #parts: LaneParts;
  readonly #numbers: BatchNumbers;
  /** The unsettled batch of each partition. */
  readonly #open = new Map<string, PartitionBatch>();
  readonly #timers = new Map<PartitionBatch, NodeJS.Timeout>();
  readonly #busy = new Set<string>();
  #isDue = false;
  #closed = false;
  #loading: Promise<void> | null = null;
  #opening: Promise<void> | null = null;
  #wakeup: NodeJS.Timeout | undefined;

  constructor(parts: LaneParts) {
    this.#parts = parts;
    this.#numbers = new BatchNumbers(parts.limits);
  }

  /** Whether nothing waits and nothing is in flight. */
  get isIdle(): boolean {
    return this.#open.size === 0 && this.#parts.queue.records === 0;
  }

  /** Sends what can be sent, until `giveUp`. Records of one iteration of the event loop go into one request. */
  wake(): void {
    if (this.#isDue || this.#closed) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#dispatch();
    });
  }

  /** Gives up everything: what was sent is unknown, the rest was not sent. */
  giveUp(cause: unknown): void {
    this.#closed = true;
    clearTimeout(this.#wakeup);
    for (const batch of [...this.#open.values()]) this.#fail(batch, lostAttempt(cause, batch.sent));
    this.#rejectWaiting(this.#parts.queue.keys(), { closed: true });
  }

  #dispatch(): void {
    if (this.#closed) return;
    // One moment for both: a batch that is not due is waited for.
    const nowMs = this.#parts.monotonicMs();
    for (const [node, keys] of this.#readyByLeader(nowMs)) {
      if (this.#busy.has(node)) continue;
      const request = this.#requestOf(keys);
      if (request.length > 0) void this.#send(node, request);
    }
    // Numbering a batch may use the last numbers of an identity up.
    if (this.#numbers.identity === null) this.#openIdentity();
    this.#wakeForRetries(nowMs);
  }

  /** Partitions with something to send, by the broker that leads them. */
  #readyByLeader(nowMs: number): ReadonlyMap<string, readonly string[]> {
    const { wire, queue } = this.#parts;
    const ready = new Map<string, string[]>();
    const add = (key: string) => {
      const node = wire.leaderOf(key);
      if (node === null) {
        this.#leaderless(key);
        return;
      }
      const keys = ready.get(node);
      if (keys === undefined) ready.set(node, [key]);
      else keys.push(key);
    };
    for (const [key, batch] of this.#open)
      if (!batch.inFlight && batch.notBeforeMs <= nowMs && this.#loading === null) add(key);
    for (const key of queue.keys()) if (!this.#open.has(key)) add(key);
    return ready;
  }

  /** The time of a batch runs also while its partition has no leader. */
  #leaderless(key: string): void {
    const batch = this.#open.get(key) ?? this.#openBatch(key, { records: 0, bytes: 0 });
    if (batch === null) return;
    batch.attempts += 1;
    this.#again(batch, lostAttempt(new Error('no leader'), false));
    this.#load([key]);
  }

  /** Batches of one identity: those that go again first, then new ones. */
  #requestOf(keys: readonly string[]): readonly PartitionBatch[] {
    const request: PartitionBatch[] = [];
    const taken = { records: 0, bytes: 0 };
    for (const key of keys) {
      if (request[0]?.alone === true) break;
      const again = this.#open.get(key);
      if (again === undefined && !this.#mayGrow(request)) continue;
      const batch = again ?? this.#openBatch(key, taken);
      if (batch === null || !this.#joins(batch, request)) continue;
      request.push(batch);
      if (again !== undefined) taken.records += again.records.length;
    }
    return request;
  }

  /** Whether an unsettled batch may go into the request; numbers it when it has no numbers yet. */
  #joins(batch: PartitionBatch, [first]: readonly PartitionBatch[]): boolean {
    if (first !== undefined && batch.alone) return false;
    batch.stamp ??= this.#numbers.stamp(batch.key, batch.records.length);
    return batch.stamp !== null && (first === undefined || sameIdentity(batch, first));
  }

  /** Whether a new batch, under the present identity, may go into the request. */
  #mayGrow([first]: readonly PartitionBatch[]): boolean {
    const { identity } = this.#numbers;
    return identity !== null && (first === undefined || first.stamp?.identity === identity);
  }

  /** The next batch of a partition without one; null when the request is full. */
  #openBatch(key: string, taken: TakenSize): PartitionBatch | null {
    const parts = this.#parts.queue.take(key, taken);
    if (parts.length === 0) return null;
    const batch = new PartitionBatch(key, parts);
    this.#open.set(key, batch);
    const expire = () => this.#fail(batch, lostAttempt(new Error('its time is over'), batch.sent));
    this.#timers.set(batch, setTimeout(expire, this.#parts.limits.sendTimeoutMs));
    return batch;
  }

  async #send(node: string, request: readonly PartitionBatch[]): Promise<void> {
    const identity = request[0]?.stamp?.identity;
    if (identity === undefined) return;
    this.#busy.add(node);
    for (const batch of request) batch.inFlight = true;
    const onSent = () => {
      // One that was given up while the broker was connected is reported as not sent: it must not be.
      if (request.some(({ settled }) => settled)) throw new NotReached(new Error('given up'));
      for (const batch of request) batch.sent = true;
    };
    try {
      const batches = request.map(sequencedOf);
      const offsets = await this.#parts.wire.produce(node, { identity, batches, onSent });
      this.#ended(node, request);
      for (const batch of request) this.#covered(batch, offsets.get(batch.key));
    } catch (error) {
      this.#ended(node, request);
      this.#refused(request, error);
    }
    this.wake();
  }

  #ended(node: string, request: readonly PartitionBatch[]): void {
    this.#busy.delete(node);
    for (const batch of request) {
      batch.inFlight = false;
      batch.sent = false;
      batch.attempts += 1;
    }
  }

  #covered(batch: PartitionBatch, firstOffset: number | undefined): void {
    if (batch.settled) return;
    if (firstOffset === undefined) {
      this.#fail(batch, uncoveredAttempt);
      return;
    }
    this.#close(batch);
    batch.resolve(firstOffset);
  }

  #refused(request: readonly PartitionBatch[], error: unknown): void {
    const isRefused = isAnswer(error) && !(error instanceof NotReached);
    for (const batch of request) {
      if (batch.settled) continue;
      if (isRefused && request.length > 1) this.#askAlone(batch, error);
      else if (isRefused) this.#again(batch, refusedAttempt(error));
      else this.#again(batch, lostAttempt(error, !(error instanceof NotReached)));
    }
    this.#load(request.filter(({ settled }) => !settled).map(({ key }) => key));
  }

  /** Some of the partitions may have been appended, which the broker then says of each. */
  #askAlone(batch: PartitionBatch, error: unknown): void {
    batch.alone = true;
    this.#again(batch, lostAttempt(error, true));
  }

  #again(batch: PartitionBatch, failure: AttemptFailure): void {
    batch.mayBeWritten ||= failure.mayBeWritten;
    if (!failure.retriable) {
      this.#fail(batch, failure);
      return;
    }
    const { limits, log, monotonicMs } = this.#parts;
    const { topic, partition, attempts } = batch;
    batch.notBeforeMs = monotonicMs() + leaderRetryMs(attempts - 1, failure.wasAnswered, limits);
    log.warn({ topic, partition, attempts, ...failure.facts }, 'a batch is sent again');
  }

  /** The end of a batch that is not known to be written. */
  #fail(batch: PartitionBatch, failure: AttemptFailure): void {
    if (batch.settled) return;
    this.#close(batch);
    const { key, topic, partition, stamp } = batch;
    const facts = { topic, partition, ...failure.facts };
    if (stamp !== null) this.#numbers.retire(stamp.identity, failure.endsProducerId);
    const isUnknown = batch.mayBeWritten || failure.mayBeWritten;
    if (isUnknown) {
      this.#parts.log.error(facts, 'the outcome of a batch is unknown');
      batch.reject(new Fault('send_outcome_unknown', 'release', { facts }));
    } else batch.reject(new Fault('not_sent', 'retry', { facts }));
    // Refused for its own sake: those after it are not concerned.
    if (isUnknown || failure.retriable)
      this.#rejectWaiting([key], { ...facts, behindFailed: true });
    this.wake();
  }

  #close(batch: PartitionBatch): void {
    clearTimeout(this.#timers.get(batch));
    this.#timers.delete(batch);
    this.#open.delete(batch.key);
  }

  #rejectWaiting(keys: readonly string[], facts: Record<string, string | number | boolean>): void {
    const { queue } = this.#parts;
    for (const key of keys)
      for (const part of queue.takeAll(key)) part.reject(new Fault('not_sent', 'retry', { facts }));
  }

  /** Looks for the leaders of these partitions; batches that go again wait for it. */
  #load(keys: readonly string[]): void {
    if (this.#loading !== null || keys.length === 0) return;
    const { wire, log } = this.#parts;
    this.#loading = wire
      .load(topicsOf(keys))
      .catch((error: unknown) => log.warn({ err: error }, 'leaders could not be looked up'))
      .finally(() => {
        this.#loading = null;
        this.wake();
      });
  }

  #openIdentity(): void {
    if (this.#opening !== null || this.isIdle) return;
    const { queue, log } = this.#parts;
    this.#opening = this.#nextIdentity()
      .then((identity) => this.#numbers.begin(identity))
      .catch((error: unknown) => {
        log.warn({ err: error }, 'no producer id');
        this.#rejectWaiting(queue.keys(), { cause: 'no producer id' });
      })
      .finally(() => {
        this.#opening = null;
        this.wake();
      });
  }

  /** A broker that has just started gives none yet. */
  async #nextIdentity(): Promise<ProducerIdentity> {
    const { wire, limits, monotonicMs } = this.#parts;
    const untilMs = monotonicMs() + limits.sendTimeoutMs;
    for (let waitMs = limits.initialRetryMs; ; waitMs = Math.min(waitMs * 2, limits.maxRetryMs)) {
      try {
        return await wire.openIdentity();
      } catch (error) {
        if (this.#closed || monotonicMs() + waitMs > untilMs) throw error;
        await pause(waitMs);
      }
    }
  }

  /** One timer for the earliest batch that goes again. */
  #wakeForRetries(nowMs: number): void {
    clearTimeout(this.#wakeup);
    const waits = [...this.#open.values()]
      .filter(({ inFlight, notBeforeMs }) => !inFlight && notBeforeMs > nowMs)
      .map(({ notBeforeMs }) => notBeforeMs - nowMs);
    if (waits.length > 0) this.#wakeup = setTimeout(() => this.wake(), Math.min(...waits));
  }
}

function sameIdentity(one: PartitionBatch, other: PartitionBatch): boolean {
  return one.stamp?.identity === other.stamp?.identity;
}

function sequencedOf({ topic, partition, records, stamp }: PartitionBatch): SequencedRecords {
  return { topic, partition, records, firstSequence: stamp?.firstSequence ?? 0 };
}

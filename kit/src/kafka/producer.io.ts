import { Fault, within } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { failureFacts } from './kafkajs-errors.ts';
import { LeaderLanes } from './leader-lanes.io.ts';
import type { LogClientLimits } from './limits.ts';
import { type PendingCall, pendingCall } from './pending-call.ts';
import type { ProduceWire } from './produce-wire.io.ts';
import type { OutgoingRecord, RecordPlace } from './records.ts';
import { placeOf, SendQueue, topicsOf } from './send-queue.ts';
import { pause } from './waiting.io.ts';

/** Idempotent acks=all sends, one in flight per leading broker; all waiting records go into the next one. */
export interface LogProducer {
  /**
   * Appends the records; those of one partition stay together and in order. Resolves, in order, when all are durable.
   * Rejects with a `Fault`:
   * `queue_full` (retry): at once, nothing was queued;
   * `partition_unknown` (retry): the broker does not know it, nothing of this call was written;
   * `not_sent` (retry): no connection, the broker refused it, or an earlier send to the same partition failed; nothing
   * of this call was written;
   * `send_outcome_unknown` (release): the time ran out (`sendTimeoutMs`), or the result does not cover every partition
   * of this call; the records may or may not be in the log, read its tail. Records that are still on their way are
   * never appended after later ones of this producer;
   * `client_closed` (stop): after `close()`.
   */
  send(records: readonly OutgoingRecord[]): Promise<readonly RecordPlace[]>;
  /** Records that wait for a request in flight. */
  readonly queuedRecords: number;
  /** Waits for what is queued and in flight, at most `closeTimeoutMs`. */
  close(): Promise<void>;
}

/** The parts of the client that a producer uses. */
export interface ProducerParts {
  readonly limits: LogClientLimits;
  readonly log: Log;
  readonly wire: ProducerWire;
}

/** The part of the wire that a producer uses. */
export type ProducerWire = Pick<
  ProduceWire,
  'isKnown' | 'leaderOf' | 'load' | 'openIdentity' | 'produce' | 'disconnect'
>;

const closeCheckMs = 5;

/**
 * One request in flight per leader is not about speed: overlapping sends of an idempotent kafkajs producer lose
 * acknowledged records after one lost response, and a send to several leaders after a change of one (traps.md).
 */
export class LaneProducer implements LogProducer {
  readonly #parts: ProducerParts;
  readonly #queue: SendQueue;
  readonly #lanes: LeaderLanes;
  /** The last call of each partition that waits until the partition is known; later calls follow it. */
  readonly #learning = new Map<string, Promise<void>>();
  #closed = false;
  /** After the wait of `close`. */
  #ended = false;

  constructor(parts: ProducerParts) {
    const { limits, log, wire } = parts;
    this.#parts = parts;
    this.#queue = new SendQueue(limits);
    const monotonicMs = () => performance.now();
    this.#lanes = new LeaderLanes({ limits, log, wire, queue: this.#queue, monotonicMs });
  }

  get queuedRecords(): number {
    return this.#queue.records;
  }

  send(records: readonly OutgoingRecord[]): Promise<readonly RecordPlace[]> {
    if (this.#closed) return Promise.reject(new Fault('client_closed', 'stop'));
    if (records.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const call = pendingCall(records, { resolve, reject });
      const size = sizeOf(call);
      if (this.#queue.hasRoom(size)) {
        this.#queue.reserve(size);
        this.#take(call);
      } else
        reject(new Fault('queue_full', 'retry', { facts: { queuedRecords: this.#queue.records } }));
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const untilMs = performance.now() + this.#parts.limits.closeTimeoutMs;
    while (!this.#lanes.isIdle && performance.now() < untilMs) await pause(closeCheckMs);
    this.#ended = true;
    this.#lanes.giveUp(new Error('the producer was closed'));
    await this.#parts.wire.disconnect();
  }

  #take(call: PendingCall): void {
    const keys = [...call.parts.keys()];
    const isReady = (key: string) => this.#parts.wire.isKnown(key) && !this.#learning.has(key);
    if (keys.every(isReady)) this.#enqueue(call);
    else this.#learnFirst(call, keys);
  }

  #enqueue(call: PendingCall): void {
    for (const [key, part] of call.parts) this.#queue.push(key, part);
    this.#lanes.wake();
  }

  /** Without it a topic that does not exist would hold up every other record. */
  #learnFirst(call: PendingCall, keys: readonly string[]): void {
    const earlier = keys.map((key) => this.#learning.get(key));
    const learnt = Promise.all(earlier)
      .then(() => this.#learn(call, keys))
      .finally(() => {
        for (const key of keys) if (this.#learning.get(key) === learnt) this.#learning.delete(key);
      });
    for (const key of keys) this.#learning.set(key, learnt);
  }

  /** Looks for the partitions until each is known or the tries are used up; never rejects. */
  async #learn(call: PendingCall, keys: readonly string[]): Promise<void> {
    const { limits, wire } = this.#parts;
    const unknown = () => keys.filter((key) => !wire.isKnown(key));
    const late = () => new Error('no answer');
    try {
      for (let tried = 0; unknown().length > 0 && tried < limits.maxMetadataTries; tried += 1) {
        if (tried > 0) await pause(limits.initialRetryMs * 2 ** tried);
        await within(wire.load(topicsOf(unknown())), limits.sendTimeoutMs, late);
      }
    } catch (cause) {
      this.#refuse(call, new Fault('not_sent', 'retry', { facts: failureFacts(cause), cause }));
      return;
    }
    const [missing] = unknown();
    if (missing !== undefined) this.#refuse(call, partitionUnknown(missing));
    else if (this.#ended) this.#refuse(call, new Fault('not_sent', 'retry'));
    else this.#enqueue(call);
  }

  #refuse(call: PendingCall, fault: Fault): void {
    this.#queue.release(sizeOf(call));
    call.refuse(fault);
  }
}

function sizeOf({ records, bytes }: PendingCall): { records: number; bytes: number } {
  return { records: records.length, bytes };
}

function partitionUnknown(key: string): Fault {
  return new Fault('partition_unknown', 'retry', { facts: placeOf(key) });
}

import { assert } from '../assert/index.ts';
import { Fault, within } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { PartitionMissing, type ProducerSession } from './idempotent-session.io.ts';
import { failureOf } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import type { PartitionDirectory } from './partition-directory.io.ts';
import type { OutgoingRecord, RecordPlace } from './records.ts';
import { bytesOf, type PendingSend, placeKey, SendQueue } from './send-queue.ts';

/** One idempotent acks=all send in flight; all waiting records go into the next one. */
export interface LogProducer {
  /**
   * Appends the records; the ones of one call go into one send. Resolves, in order, when durable. Rejects with a
   * `Fault`:
   * `queue_full` (retry): at once, nothing was queued;
   * `partition_unknown` (retry): the broker does not know it, nothing of this call was written;
   * `not_sent` (retry): no connection, or an earlier send to the same partition has an unknown outcome; nothing was
   * written;
   * `send_outcome_unknown` (release): retries ran out (`sendTimeoutMs`), or the result does not cover every partition
   * of this call; the records may or may not be in the log, read its tail;
   * `client_closed` (stop): after `close()`.
   */
  send(records: readonly OutgoingRecord[]): Promise<readonly RecordPlace[]>;
  /** Records that wait for the send in flight. */
  readonly queuedRecords: number;
  /** Waits for what is queued and in flight, at most `closeTimeoutMs`. */
  close(): Promise<void>;
}

/** The parts of the client that a producer uses. */
export interface ProducerParts {
  readonly limits: LogClientLimits;
  readonly log: Log;
  readonly directory: PartitionDirectory;
  openSession(): Promise<ProducerSession>;
}

/**
 * The single-flight rule is not about speed: overlapping sends on an idempotent kafkajs producer lose acknowledged
 * records after one lost response (traps.md).
 */
export class SingleFlightProducer implements LogProducer {
  readonly #parts: ProducerParts;
  readonly #queue: SendQueue;
  #session: ProducerSession | null;
  #sessionRecords = 0;
  #pump: Promise<void> | null = null;
  #closed = false;

  constructor(parts: ProducerParts, session: ProducerSession) {
    this.#parts = parts;
    this.#queue = new SendQueue(parts.limits);
    this.#session = session;
  }

  get queuedRecords(): number {
    return this.#queue.records;
  }

  send(records: readonly OutgoingRecord[]): Promise<readonly RecordPlace[]> {
    if (this.#closed) return Promise.reject(new Fault('client_closed', 'stop'));
    if (records.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      if (this.#queue.push({ records, bytes: bytesOf(records), resolve, reject })) this.#start();
      else
        reject(new Fault('queue_full', 'retry', { facts: { queuedRecords: this.#queue.records } }));
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const late = () =>
      new Fault('not_sent', 'retry', { facts: { queuedRecords: this.queuedRecords } });
    try {
      await within(this.#pump ?? Promise.resolve(), this.#parts.limits.closeTimeoutMs, late);
    } catch (fault) {
      rejectAll(
        this.#queue.takeMatching(() => true),
        fault,
      );
    }
    await this.#session?.close();
    this.#session = null;
  }

  #start(): void {
    this.#pump ??= this.#drain().finally(() => {
      this.#pump = null;
      if (this.#queue.records > 0) this.#start();
    });
  }

  async #drain(): Promise<void> {
    // Records of one turn of the event loop go into one send.
    await Promise.resolve();
    while (this.#queue.records > 0) await this.#sendOne(this.#queue.takeBatch());
  }

  async #sendOne(batch: readonly PendingSend[]): Promise<void> {
    const session = await this.#prepare(batch);
    if (session === null) return;
    const sends = this.#refuseUnknown(batch);
    const records = sends.flatMap((send) => send.records);
    if (records.length === 0) return;
    try {
      const late = () => new Error('send timed out');
      const places = await within(session.send(records), this.#parts.limits.sendTimeoutMs, late);
      this.#sessionRecords += records.length;
      const uncovered = settle(sends, places);
      if (uncovered.length > 0) this.#fail(uncovered, new ResultIncomplete());
    } catch (error) {
      this.#fail(sends, error);
    }
  }

  /** A live session and known partitions, or `null` when the broker cannot be asked: nothing was sent then. */
  async #prepare(batch: readonly PendingSend[]): Promise<ProducerSession | null> {
    const { limits, directory } = this.#parts;
    const late = () => new Error('no answer');
    try {
      const unknown = batch
        .flatMap((send) => send.records)
        .filter((one) => !directory.isKnown(one));
      if (unknown.length > 0) await within(directory.learn(unknown), limits.sendTimeoutMs, late);
      if (this.#sessionRecords > limits.maxRecordsPerProducerId) await this.#dropSession();
      this.#session ??= await this.#open();
      return this.#session;
    } catch (error) {
      rejectAll(batch, new Fault('not_sent', 'retry', { facts: causeFacts(error), cause: error }));
      return null;
    }
  }

  async #open(): Promise<ProducerSession> {
    const opening = this.#parts.openSession();
    const late = () => {
      opening.then((session) => session.abandon()).catch(() => {});
      return new Error('no connection');
    };
    this.#sessionRecords = 0;
    return within(opening, this.#parts.limits.sendTimeoutMs, late);
  }

  async #dropSession(): Promise<void> {
    await this.#session?.close();
    this.#session = null;
  }

  #refuseUnknown(batch: readonly PendingSend[]): readonly PendingSend[] {
    const { directory } = this.#parts;
    return batch.filter((send) => {
      const unknown = send.records.find((record) => !directory.isKnown(record));
      if (unknown !== undefined) send.reject(partitionUnknown(unknown));
      return unknown === undefined;
    });
  }

  /** The outcome is unknown unless the guard stopped the send before its first byte. */
  #fail(sends: readonly PendingSend[], error: unknown): void {
    const facts = causeFacts(error);
    this.#session?.abandon();
    this.#session = null;
    if (error instanceof PartitionMissing) {
      rejectAll(sends, new Fault('partition_unknown', 'retry', { facts, cause: error }));
      return;
    }
    this.#parts.log.error({ ...facts, records: sends.length }, 'the outcome of a send is unknown');
    rejectAll(sends, new Fault('send_outcome_unknown', 'release', { facts, cause: error }));
    const touched = new Set(sends.flatMap((send) => send.records).map(placeKey));
    const queuedAfter = this.#queue.takeMatching((send) =>
      send.records.some((one) => touched.has(placeKey(one))),
    );
    rejectAll(
      queuedAfter,
      new Fault('not_sent', 'retry', { facts: { ...facts, behindUnknown: true } }),
    );
  }
}

/** A result lacks a partition that was sent to. */
class ResultIncomplete extends Error {
  override readonly name = 'ResultIncomplete';
}

/** Resolves what the result covers as a whole; returns the other sends, whose outcome is unknown. */
function settle(
  sends: readonly PendingSend[],
  places: readonly (RecordPlace | null)[],
): readonly PendingSend[] {
  const uncovered: PendingSend[] = [];
  let first = 0;
  for (const send of sends) {
    const own = places.slice(first, first + send.records.length);
    first += send.records.length;
    const covered = own.filter((place) => place !== null);
    if (covered.length === own.length) send.resolve(covered);
    else uncovered.push(send);
  }
  assert(first === places.length, 'every record of a send has a place or none');
  return uncovered;
}

function rejectAll(sends: readonly PendingSend[], error: unknown): void {
  for (const send of sends) send.reject(error);
}

function partitionUnknown({ topic, partition }: OutgoingRecord): Fault {
  return new Fault('partition_unknown', 'retry', { facts: { topic, partition } });
}

function causeFacts(error: unknown): Record<string, string> {
  const { name, type } = failureOf(error);
  return type === '' ? { cause: name } : { cause: name, type };
}

import { setImmediate } from 'node:timers/promises';
import { Fault } from '@pm/kit/fault';
import type { OutgoingRecord, RecordPlace } from '@pm/kit/kafka';
import type { LogRanges, RangeRead } from '../../src/partition/log-ranges.io.ts';
import type { InputRecord } from '../../src/partition/record-processor.ts';

/** The fate of a send, decided before each one. */
export type SendResult = 'store' | 'lose' | 'store_and_lose_answer' | 'refuse';

/** A log in memory, as its readers and writers see it. */
export class MemoryLog implements LogRanges {
  readonly #topics = new Map<string, InputRecord[]>();
  readonly #lows = new Map<string, number>();
  /** Records per delivered batch. */
  batchRecords = 7;
  /** Sends so far. */
  sends = 0;
  /** Turns of the event loop that the next send takes. */
  turns: () => number = () => 0;
  verdict: (records: readonly OutgoingRecord[]) => SendResult = () => 'store';
  /** Holds a send up. */
  before: (records: readonly OutgoingRecord[]) => Promise<void> = async () => {};

  records(topic: string): readonly InputRecord[] {
    return this.#topics.get(topic) ?? [];
  }

  append(topic: string, value: Buffer | null): number {
    const records = this.#topics.get(topic) ?? [];
    this.#topics.set(topic, records);
    records.push({ offset: records.length, value });
    return records.length - 1;
  }

  /** Replaces a stored record, as a broken disk would. */
  tamper(topic: string, offset: number, value: Buffer): void {
    const records = this.#topics.get(topic) ?? [];
    records[offset] = { offset, value };
  }

  /** Retention removes the records before `low`. */
  truncateBefore(topic: string, low: number): void {
    this.#lows.set(topic, low);
  }

  /** The newest records are lost, as by a broker elected without them. */
  truncateFrom(topic: string, high: number): void {
    this.#topics.get(topic)?.splice(high);
  }

  async bounds(topic: string) {
    return { low: this.#lows.get(topic) ?? 0, high: this.records(topic).length };
  }

  async read({ topic, partition, from, to, onBatch }: RangeRead): Promise<void> {
    const { low, high } = await this.bounds(topic);
    if (from < low || to > high) {
      const facts = { topic, partition, from, to, low, high };
      throw new Fault('offset_out_of_range', 'stop', { facts });
    }
    for (let at = from; at < to; at += this.batchRecords) {
      const records = this.records(topic).slice(at, Math.min(to, at + this.batchRecords));
      await onBatch({ records: records.map((one) => ({ ...one, key: null, timestampMs: 0 })) });
    }
  }

  async send(records: readonly OutgoingRecord[]): Promise<readonly RecordPlace[]> {
    this.sends += 1;
    const verdict = this.verdict(records);
    await this.before(records);
    for (let left = this.turns(); left > 0; left -= 1) await setImmediate();
    if (verdict === 'refuse') throw new Fault('not_sent', 'retry');
    if (verdict === 'lose') throw new Fault('send_outcome_unknown', 'release');
    const places = records.map(({ topic, partition, value }) => ({
      partition,
      offset: this.append(topic, value),
    }));
    if (verdict !== 'store') throw new Fault('send_outcome_unknown', 'release');
    return places;
  }
}

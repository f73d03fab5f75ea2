import { setImmediate } from 'node:timers/promises';
import type { Fault } from '@pm/kit/fault';
import type { OpenCopies } from '../../src/partition/copy-reading.io.ts';
import type { MemoryLog } from './memory-log.ts';

const topic = 'executions';

type Options = Parameters<OpenCopies>[0];

/** Reads of `executions` in memory; a test says when records are delivered. */
export class MemoryCopies {
  readonly #log: MemoryLog;
  #open: { readonly options: Options; next: number; isBusy: boolean } | null = null;

  /** Readers that were opened so far. */
  opened = 0;

  constructor(log: MemoryLog) {
    this.#log = log;
  }

  readonly open: OpenCopies = async (options) => {
    const reading = { options, next: options.from, isBusy: false };
    this.#open = reading;
    this.opened += 1;
    return {
      close: async () => {
        if (this.#open === reading) this.#open = null;
      },
    };
  };

  /** The reader has a fault. */
  fail(fault: Fault): void {
    this.#open?.options.onFault(fault);
  }

  /** Delivers up to so many records, unless earlier ones are still being handled. */
  async deliver(count = Number.POSITIVE_INFINITY): Promise<void> {
    await setImmediate();
    const reading = this.#open;
    if (reading === null || reading.isBusy) return;
    const records = this.#log.records(topic).slice(reading.next, reading.next + count);
    if (records.length === 0) return;
    reading.isBusy = true;
    reading.next += records.length;
    void reading.options.onRecords(records).finally(() => {
      reading.isBusy = false;
    });
    await setImmediate();
  }
}

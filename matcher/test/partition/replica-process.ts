import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { defaultUnseenLimits } from '../../src/partition/unseen-outputs.ts';
import { MatcherProcess, type ProcessOptions, topicNames } from './matcher-process.ts';
import type { MemoryLog } from './memory-log.ts';

/** Longest wait for the records of a fetch, milliseconds of the machine: far more than their signatures take. */
const takenMs = 10_000;

/** Rounds of the event loop in which everything that runs comes to its next wait. */
const turnsToSettle = 12;

export async function settle(turns = turnsToSettle): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate();
}

interface ReplicaOptions extends ProcessOptions {
  /** Until a partition that has failed is restored again, milliseconds of the process. */
  readonly restoreWaitMs?: number;
}

/** A process with a replica, step by step as a test says: a fetch, copies, or its timer. It stands still otherwise. */
export class ReplicaProcess {
  readonly process: MatcherProcess;
  readonly #log: MemoryLog;
  /** First record that no fetch has brought. */
  #next = 0;
  #isBusy = false;
  #taken: Promise<unknown> = Promise.resolve();
  #isUp = false;
  #restoredMs = Number.NEGATIVE_INFINITY;
  readonly #restoreWaitMs: number;
  readonly #outputsMax: number;
  restores = 0;

  constructor(log: MemoryLog, options: ReplicaOptions = {}) {
    this.#log = log;
    this.#restoreWaitMs = options.restoreWaitMs ?? 0;
    this.#outputsMax = (options.unseen ?? defaultUnseenLimits).outputsMax;
    this.process = new MatcherProcess(log, { tickMs: 100, ...options });
  }

  get status() {
    return this.process.owned.status();
  }

  /** Restores the partition, also after a fault. */
  async restore(): Promise<void> {
    this.process.faults.length = 0;
    this.process.askedMs = Number.NEGATIVE_INFINITY;
    this.restores += 1;
    this.#isUp = false;
    try {
      this.#next = await this.process.owned.restore();
      this.#isUp = true;
    } catch {
      // Tried again by the next step.
    }
  }

  /** Fetches so many records and processes them; one fetch at a time. */
  async fetch(count = Number.POSITIVE_INFINITY): Promise<void> {
    if (!(await this.#isLive())) return;
    if (this.#isBusy) return await this.#untilTaken();
    const askedMs = this.process.nowMs;
    const all = this.#log.records(topicNames.orders);
    const records = all.slice(this.#next, this.#next + count);
    const next = this.#next + records.length;
    const isAll = next === all.length;
    this.process.askedMs = Number.NEGATIVE_INFINITY;
    this.#isBusy = true;
    const taking =
      records.length === 0
        ? Promise.resolve()
        : this.process.owned.process({ records, highWatermark: all.length });
    this.#taken = taking
      .then(() => {
        this.#next = next;
        if (isAll) this.process.askedMs = askedMs;
      })
      .catch((error: unknown) => this.process.faults.push(error))
      .finally(() => {
        this.#isBusy = false;
      });
    await this.#untilTaken();
  }

  /** Until the records of the fetch are processed, or the replica has no room for their outputs. */
  async #untilTaken(): Promise<void> {
    const untilMs = performance.now() + takenMs;
    // Sign-offs are checked in other threads, so turns of the event loop are no measure.
    while (this.#isBusy && this.status.unseenOutputs < this.#outputsMax) {
      if (performance.now() > untilMs) throw new Error('records are not processed');
      await Promise.race([this.#taken, pause(1)]);
    }
  }

  async copies(count?: number): Promise<void> {
    await this.process.copies.deliver(count);
  }

  /** Work of the timer that runs every few milliseconds. */
  async timer(): Promise<void> {
    if (!(await this.#isLive())) return;
    this.process.owned.publishDueTick();
    void this.process.owned.claimIfDue();
    await setImmediate();
  }

  /** All that there is. */
  async read(): Promise<void> {
    await this.fetch();
    await settle();
    await this.copies();
    await settle();
  }

  /** One round of everything. */
  async round(): Promise<void> {
    await this.fetch();
    await this.copies();
    await this.timer();
    await settle(3);
  }

  async #isLive(): Promise<boolean> {
    if (this.process.faults.length === 0 && this.#isUp) return true;
    const { nowMs } = this.process;
    if (this.#isBusy || nowMs - this.#restoredMs < this.#restoreWaitMs) return false;
    this.#restoredMs = nowMs;
    await this.restore();
    return false;
  }
}

import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '@pm/kit/clock';
import type { Log } from '@pm/kit/log';

/** Work for one reader that can be done in small steps. */
export interface StartTask {
  /** Does one step of at most some milliseconds; whether there is another one now. */
  step(): boolean;
}

/** Work on snapshots and replays before records and frames have their chance again, milliseconds. */
const sliceMs = 5;

/** A slice that took less needs no pause. */
const shortMs = 1;
const pauseMaxMs = 100;

/**
 * Schedules the first messages of the subscriptions of all connections: each connection does one step after the other,
 * in slices. However many large books are asked for, live messages and heartbeats go on between them, and have half of
 * the time.
 */
export class StartScheduler {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #log: Log;
  readonly #openers = new Set<StartTask>();
  #isRunning = false;

  constructor(clock: Pick<Clock, 'monotonicMs'>, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Openers with a step to do. */
  get size(): number {
    return this.#openers.size;
  }

  /** The opener has a step to do; the first slice begins at once. */
  add(opener: StartTask): void {
    this.#openers.add(opener);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  remove(opener: StartTask): void {
    this.#openers.delete(opener);
  }

  async #run(): Promise<void> {
    while (this.#openers.size > 0) {
      const beganAtMs = this.#clock.monotonicMs();
      this.#slice();
      const tookMs = this.#clock.monotonicMs() - beganAtMs;
      if (tookMs < shortMs) await setImmediate();
      else await wait(Math.min(tookMs, pauseMaxMs));
    }
    this.#isRunning = false;
  }

  #slice(): void {
    const endsAtMs = this.#clock.monotonicMs() + sliceMs;
    for (const opener of this.#openers) {
      // At the end of the line, so that every other one has its step before.
      this.#openers.delete(opener);
      if (this.#stepOf(opener)) this.#openers.add(opener);
      if (this.#clock.monotonicMs() >= endsAtMs) return;
    }
  }

  /** An opener answers for its own faults: one that throws does not go on. */
  #stepOf(opener: StartTask): boolean {
    try {
      return opener.step();
    } catch (error) {
      this.#log.error({ err: error }, 'a subscription was not begun');
      return false;
    }
  }
}

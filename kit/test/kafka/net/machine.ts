import type { Owner, Scheduler } from '../../time/scheduler.ts';

/** A process on its own machine: it stands still, dies, and has a wall clock that may be set. */
export class Machine implements Owner {
  readonly name: string;
  readonly #scheduler: Scheduler;
  isAlive = true;
  pausedUntilMs = 0;
  /** How far its wall clock is off, milliseconds. */
  skewMs = 0;
  events = 0;
  /** When something was done to it last. */
  disturbedMs = Number.NEGATIVE_INFINITY;
  /** Microtasks that it asked for since the newest event began: without end they would never let go of the thread. */
  microtasks = { event: -1, count: 0 };

  constructor(name: string, scheduler: Scheduler) {
    this.name = name;
    this.#scheduler = scheduler;
  }

  kill(): void {
    this.isAlive = false;
  }

  /** Stands still, as by SIGSTOP: nothing of it happens, and what comes in waits. */
  pause(ms: number): void {
    this.pausedUntilMs = Math.max(this.pausedUntilMs, this.#scheduler.nowMs + ms);
    this.disturbedMs = this.pausedUntilMs;
  }

  /** Sets its wall clock, by so many milliseconds. */
  setClock(byMs: number): void {
    this.skewMs += byMs;
    this.disturbedMs = Math.max(this.disturbedMs, this.#scheduler.nowMs);
  }

  get isPaused(): boolean {
    return this.pausedUntilMs > this.#scheduler.nowMs;
  }

  /** Runs code of this process as an event of its own. */
  enter(run: () => void, delayMs = 0): void {
    this.#scheduler.after(delayMs, this, run);
  }

  /** Resolves after so many milliseconds of this process. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#scheduler.after(ms, this, resolve));
  }
}

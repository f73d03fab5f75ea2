import type { Clock } from '@pm/kit/clock';
import type { Owner, Scheduler } from '../../../kit/test/time/scheduler.ts';
import type { Network } from './network.ts';

/** How a server answers a request; what it does after the first answer counts for nothing. */
export interface Answer<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** A request, and what its caller hears when no answer comes in time. */
export interface Request {
  readonly timeoutMs: number;
  late(): Error;
}

/**
 * A process: all that its code does are events of its own, so that it can die, stand still or be cut off at every wait.
 * A process that starts again is another machine.
 */
export class Machine implements Owner {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly #network: Network;
  isAlive = true;
  pausedUntilMs = 0;
  /** Until then no server hears it as a member of a group, though it works on. */
  unheardUntilMs = 0;
  diedAtMs = Number.POSITIVE_INFINITY;
  /** How far its wall clock is off, milliseconds. */
  skewMs = 0;
  readonly clock: Clock;

  constructor(name: string, scheduler: Scheduler, network: Network) {
    this.name = name;
    this.scheduler = scheduler;
    this.#network = network;
    this.clock = {
      nowMs: () => Math.floor(scheduler.nowMs + this.skewMs),
      monotonicMs: () => scheduler.nowMs,
    };
  }

  kill(): void {
    this.isAlive = false;
    this.diedAtMs = this.scheduler.nowMs;
  }

  /** Stands still, as by SIGSTOP: nothing of it happens, and what comes in waits. */
  pause(ms: number): void {
    this.pausedUntilMs = Math.max(this.pausedUntilMs, this.scheduler.nowMs + ms);
  }

  /** Whether a server that waits for a sign of life hears one now. */
  get isHeard(): boolean {
    const { nowMs } = this.scheduler;
    return this.isAlive && this.pausedUntilMs <= nowMs && this.unheardUntilMs <= nowMs;
  }

  /** Runs code of this machine as its next event. */
  enter(run: () => void, delayMs = 0): void {
    this.scheduler.after(delayMs, this, run);
  }

  /** Resolves after so many milliseconds of this machine. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.scheduler.after(ms, this, resolve));
  }

  /**
   * A request to a server, which `serve` carries out when it arrives. Requests and answers take their time and get
   * lost; of those that were on their way when this machine died, some arrive.
   */
  request<T>({ timeoutMs, late }: Request, serve: (answer: Answer<T>) => void): Promise<T> {
    const { scheduler } = this;
    const network = this.#network;
    return new Promise<T>((resolve, reject) => {
      let isSettled = false;
      const timer = scheduler.after(timeoutMs, this, () => {
        isSettled = true;
        reject(late());
      });
      const conclude = (settle: () => void) => {
        if (network.losesAnswer()) return;
        scheduler.after(network.delayMs(), this, () => {
          if (isSettled) return;
          isSettled = true;
          timer.cancel();
          settle();
        });
      };
      if (network.losesRequest()) return;
      scheduler.after(network.delayMs(), null, () => {
        if (!this.isAlive && scheduler.random.chance(diesWithRequest)) return;
        serve({
          resolve: (value) => conclude(() => resolve(value)),
          reject: (error) => conclude(() => reject(error)),
        });
      });
    });
  }
}

/** Share of the requests under way that die with their process. */
const diesWithRequest = 0.5;

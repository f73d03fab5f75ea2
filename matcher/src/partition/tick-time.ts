import { clockLeapMaxMs } from '@pm/schemas/log/log-rules';

/** Both clocks of this machine at one moment, milliseconds. */
export interface MachineTime {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Times that are in the log as far as it was applied, Unix milliseconds. */
export interface LoggedTime {
  readonly timeMs: number;
  readonly witnessMs: number;
  /** Whether every tick that is known to be stored was applied. */
  readonly isRead: boolean;
}

/** A wall clock that is behind the clock of the partition by more than this is not believed alone, milliseconds. */
const behindMaxMs = 1_000;

/**
 * The time that an owner writes into its ticks: the wall clock, unless it contradicts the clock of the partition. That
 * one is continued by the monotonic clock, and where both differ the times at which ingress took orders decide. So a
 * wall clock that leaps, by any distance in either direction, neither stops the partition nor moves it
 * (docs/decisions.md, "Time goes on where a wall clock leaps").
 */
export class TickTime {
  /** The latest clock of the partition that was seen or written. */
  #newestMs = Number.NEGATIVE_INFINITY;
  /** Unix milliseconds when the monotonic clock was 0: by the clock of the partition, and by ingress. */
  #partitionZeroMs = Number.NEGATIVE_INFINITY;
  #ingressZeroMs = Number.NEGATIVE_INFINITY;

  /** The clock of the partition after records were applied. */
  seen(timeMs: number, monotonicMs: number): void {
    if (timeMs <= this.#newestMs) return;
    this.#newestMs = timeMs;
    this.#partitionZeroMs = timeMs - monotonicMs;
  }

  /** When ingress took the newest order that was applied. */
  accepted(acceptedAtMs: number, monotonicMs: number): void {
    this.#ingressZeroMs = acceptedAtMs - monotonicMs;
  }

  /** A tick of this time was sent. */
  written(timeMs: number, monotonicMs: number): void {
    this.#newestMs = Math.max(this.#newestMs, timeMs);
    this.#partitionZeroMs = timeMs - monotonicMs;
  }

  /** Unix milliseconds for the next tick. */
  at({ wallMs, monotonicMs }: MachineTime, logged: LoggedTime): number {
    const continuedMs = this.#continued(monotonicMs, logged);
    // Further ahead, the tick would be refused.
    const latestMs = Math.max(continuedMs, logged.witnessMs) + clockLeapMaxMs;
    if (wallMs >= continuedMs - behindMaxMs && wallMs <= latestMs) return Math.floor(wallMs);
    const ingressMs = this.#ingressZeroMs + monotonicMs;
    const isNearWall = Math.abs(ingressMs - wallMs) < Math.abs(ingressMs - continuedMs);
    // The partition is ahead of both: it stands until they have caught up.
    if (wallMs < continuedMs && isNearWall) return Math.floor(wallMs);
    const isLater = ingressMs > continuedMs && ingressMs <= latestMs;
    return Math.floor(isLater ? ingressMs : continuedMs);
  }

  /** Ticks that were not stored, as while the log was away, have moved nothing: it goes on from the log. */
  #continued(monotonicMs: number, { timeMs, witnessMs, isRead }: LoggedTime): number {
    const continuedMs = Math.max(timeMs, this.#partitionZeroMs + monotonicMs);
    const latestMs = Math.max(timeMs, witnessMs) + clockLeapMaxMs;
    return isRead && continuedMs > latestMs ? timeMs : continuedMs;
  }
}

/** Time as an argument: only `main.ts` makes the real one. */
export interface Clock {
  /** Wall time, milliseconds since 1970-01-01 UTC. */
  nowMs(): number;
  /** Milliseconds that never run backwards, for waits and durations. */
  monotonicMs(): number;
}

/** The clocks of this machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

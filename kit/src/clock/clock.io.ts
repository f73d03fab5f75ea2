/**
 * Time as an argument: only `main.ts` makes the real one. `npm run check` refuses differences of wall time, and `Date`
 * read anywhere else, outside of the files that `tools/wall-clock.json` names.
 */
export interface Clock {
  /** Wall time, milliseconds since 1970-01-01 UTC, which may be set: content of records, responses and signatures. */
  nowMs(): number;
  /** Milliseconds that never run backwards: intervals, leases, sessions, windows and ages. */
  monotonicMs(): number;
}

/** The clocks of this machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

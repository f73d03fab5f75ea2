import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** Answers are read at least between so many requests that are late. */
const lateBurstMax = 16;

/**
 * Calls `act` at each moment (milliseconds from now, in order), whether or not what it began earlier has ended. A
 * moment that has passed is acted on at once. `plannedAt` is on the clock of `performance.now`.
 */
export async function pace(
  momentsMs: readonly number[],
  act: (index: number, plannedAt: number) => void,
): Promise<void> {
  const started = performance.now();
  for (const [index, momentMs] of momentsMs.entries()) {
    const plannedAt = started + momentMs;
    const wait = plannedAt - performance.now();
    if (wait > 0) await sleep(wait);
    else if (index % lateBurstMax === 0) await turn();
    act(index, plannedAt);
  }
}

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** Answers are read at least between so many requests that are late. */
const lateBurstMax = 16;

/**
 * Calls `act` at each moment (milliseconds from now, in order) and never before it, whether or not what it began
 * earlier has ended. A moment that has passed is acted on at once. `plannedAt` is on the clock of `performance.now`.
 */
export async function pace(
  momentsMs: readonly number[],
  act: (index: number, plannedAt: number) => void,
): Promise<void> {
  const started = performance.now();
  for (const [index, momentMs] of momentsMs.entries()) {
    const plannedAt = started + momentMs;
    if (performance.now() < plannedAt) await sleepUntil(plannedAt);
    else if (index % lateBurstMax === 0) await turn();
    act(index, plannedAt);
  }
}

/** Timers fire up to a millisecond early. */
async function sleepUntil(atMs: number): Promise<void> {
  for (let wait = atMs - performance.now(); wait > 0; wait = atMs - performance.now())
    await sleep(Math.ceil(wait));
}

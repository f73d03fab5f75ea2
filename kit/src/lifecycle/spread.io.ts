import { setTimeout as pause } from 'node:timers/promises';

/** Pause between two groups, milliseconds. */
const stepMs = 50;

/**
 * Runs all, in order and in groups of about the same size over a time, so that clients which are closed do not come
 * back elsewhere all at once; without a time, or once the signal is aborted, those that are left run at once.
 */
export async function runSpread(
  runs: readonly (() => void)[],
  { overMs, signal }: { readonly overMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const steps = Math.min(runs.length, Math.ceil(overMs / stepMs));
  let next = 0;
  for (let step = 1; step < steps && !signal.aborted; step += 1) {
    const until = Math.ceil((runs.length * step) / steps);
    for (const run of runs.slice(next, until)) run();
    next = until;
    await pause(stepMs, undefined, { signal }).catch(() => {});
  }
  for (const run of runs.slice(next)) run();
}

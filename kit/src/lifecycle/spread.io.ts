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
  const beganMs = performance.now();
  for (let next = 0; next < runs.length; ) {
    const share = (performance.now() - beganMs + stepMs) / overMs;
    const until = share < 1 && !signal.aborted ? Math.ceil(runs.length * share) : runs.length;
    for (const run of runs.slice(next, until)) run();
    next = Math.max(next, until);
    if (next < runs.length) await pause(stepMs, undefined, { signal }).catch(() => {});
  }
}

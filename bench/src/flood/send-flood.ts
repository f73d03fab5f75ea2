import { setTimeout as sleep } from 'node:timers/promises';
import type { FloodJob, FloodResult } from './job.ts';

/** Requests of a flood that are in flight at once; beyond that they are counted as not sent. */
const inFlightMax = 512;

/**
 * Sends at planned moments for so many seconds, whether or not answers come. What could not be sent in its time is
 * sent late, in bursts, as a client would that was held up.
 */
export async function sendFlood(
  { perSecond, seconds }: Pick<FloodJob, 'perSecond' | 'seconds'>,
  send: (index: number) => Promise<string>,
): Promise<FloodResult> {
  const answers: Record<string, number> = {};
  const count = (word: string) => {
    answers[word] = (answers[word] ?? 0) + 1;
  };
  const planned = Math.floor(perSecond * seconds);
  const started = performance.now();
  const running = new Set<Promise<void>>();
  for (let index = 0; index < planned; index += 1) {
    const wait = started + (index * 1000) / perSecond - performance.now();
    // A timer is no finer than a millisecond; shorter waits make bursts.
    if (wait > 1) await sleep(wait);
    if (performance.now() - started > seconds * 1000 || running.size >= inFlightMax) {
      count('not sent');
      if (index % inFlightMax === 0) await sleep(1);
      continue;
    }
    const one: Promise<void> = send(index)
      .then(count)
      .finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
  return { planned, answers };
}

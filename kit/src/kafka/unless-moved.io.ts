import { within } from '../fault/index.ts';
import { LeaderMoved } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { pause } from './waiting.io.ts';

/** How it is found out that a broker is silent because another one has its work. */
export interface MovedLeaders {
  /** A request that takes so long is suspect, milliseconds. */
  readonly silenceMs: number;
  /** Looks up the leaders at another broker. */
  look(): Promise<unknown>;
  /** Whether all that the request is about is led by another broker now. */
  hasMoved(): boolean;
}

/**
 * The result of a request; rejects with `LeaderMoved` as soon as it is known that another broker leads what it is
 * about. A broker that hangs keeps its connections open and would hold up its former partitions until the time limit of
 * the request.
 */
export function unlessMoved<T>(
  request: Promise<T>,
  moved: MovedLeaders,
  { leaderLookMs }: Pick<LogClientLimits, 'leaderLookMs'>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const watch = async (): Promise<void> => {
      while (!isOver) {
        await within(moved.look(), leaderLookMs, () => new Error('no answer')).catch(() => {});
        if (isOver) return;
        if (moved.hasMoved()) end(() => reject(new LeaderMoved('its leader is another broker')));
        else await pause(leaderLookMs);
      }
    };
    const timer = setTimeout(() => void watch(), moved.silenceMs);
    const end = (settle: () => void): void => {
      isOver = true;
      clearTimeout(timer);
      settle();
    };
    request.then(
      (result) => end(() => resolve(result)),
      (error: unknown) => end(() => reject(error)),
    );
  });
}

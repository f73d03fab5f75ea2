import type { Log } from '../log/index.ts';

/** Repeated work, never two rounds at once. */
export interface Rounds {
  /** Runs one round; resolves with the pause before the next, milliseconds. */
  round(): Promise<number>;
  /** Reports a failed round; returns the pause before the next, milliseconds. */
  onFailure(error: unknown): number;
  /** Pause before the first round, milliseconds; default 0. */
  readonly firstMs?: number;
}

/** Repeats a check with the same pause after each; a failure is a warning in the log. */
export function repeatCheck(
  check: () => Promise<void>,
  how: {
    /** Milliseconds. */
    readonly everyMs: number;
    readonly log: Log;
    /** The log line of a check that failed. */
    readonly failure: string;
  },
): { close(): Promise<void> } {
  const { everyMs, log, failure } = how;
  return runRounds({
    round: async () => {
      await check();
      return everyMs;
    },
    onFailure: (error) => {
      log.warn({ err: error }, failure);
      return everyMs;
    },
  });
}

/** `close` waits for the running round and starts no other. */
export function runRounds({ round, onFailure, firstMs = 0 }: Rounds): { close(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let running: Promise<void> = Promise.resolve();
  const turn = async (): Promise<void> => {
    const pauseMs = await round().catch(onFailure);
    if (!isClosed) timer = setTimeout(begin, pauseMs);
  };
  const begin = (): void => {
    running = turn();
  };
  if (firstMs > 0) timer = setTimeout(begin, firstMs);
  else begin();
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}

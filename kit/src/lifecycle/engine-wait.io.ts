import { setTimeout as pause } from 'node:timers/promises';
import { within } from '../fault/index.ts';
import { openOpsListener } from '../health/index.ts';
import type { Log } from '../log/index.ts';

/** An engine as a process that waits for it asks. */
export interface EngineProbe {
  /** Short name, e.g. `kafka`. */
  readonly name: string;
  /** Resolves when the engine does what this process needs of it. */
  probe(): Promise<void>;
}

export interface EngineWaitOptions {
  readonly opsHost: string;
  readonly opsPort: number;
  readonly engines: readonly EngineProbe[];
}

/** The reason of a process that is not ready because it waits for an engine: `waiting:kafka`. */
export const waitingPrefix = 'waiting:';

/** Pauses between probes, milliseconds: they double from the first to the longest. */
const firstPauseMs = 250;
const longestPauseMs = 2_000;

/** Time limit of a probe, milliseconds. */
const probeTimeoutMs = 15_000;

/** A wait is logged once in so many attempts, which is about a minute. */
const loggedEvery = 30;

interface Wait {
  readonly sinceMs: number;
  attempts: number;
  /** Names of the engines that did not answer the last probe. */
  away: readonly string[];
}

/**
 * Waits, for as long as it takes, until all engines answer; ends at once when the signal is aborted. Meanwhile the
 * operator's listener says what is waited for: `/ready` and `/serving` are 503 with `waiting:<engine>`. Rejects when
 * that address is taken.
 */
export async function waitForEngines(
  { opsHost: host, opsPort: port, engines }: EngineWaitOptions,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const wait: Wait = { sinceMs: Date.now(), attempts: 0, away: engines.map(({ name }) => name) };
  const reasons = () => wait.away.map((name) => `${waitingPrefix}${name}`);
  const ops = await openOpsListener({
    host,
    port,
    metrics: noMetrics,
    health: {
      status: () => ({ waiting: wait }),
      ready: () => ({ ready: false, reasons: reasons() }),
      serving: () => ({ serving: false, reasons: reasons() }),
    },
  });
  const ended = endOf(signal);
  try {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      wait.away = await awayOf(engines, ended);
      wait.attempts += 1;
      if (wait.away.length === 0 || signal.aborted) return;
      if (wait.attempts % loggedEvery === 1) log.warn({ ...wait }, 'waiting for engines');
      await pause(pauseMs, undefined, { signal }).catch(() => {});
    }
  } finally {
    await ops.close();
  }
}

/** A process that waits measures nothing. */
const noMetrics = { text: async () => '', contentType: 'text/plain; version=0.0.4' };

/** Rejects when the signal is aborted. */
function endOf(signal: AbortSignal): Promise<never> {
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  ended.catch(() => {});
  return ended;
}

async function awayOf(
  engines: readonly EngineProbe[],
  ended: Promise<never>,
): Promise<readonly string[]> {
  const late = () => new Error('no answer');
  const asked = engines.map(({ probe }) =>
    Promise.race([within(probe(), probeTimeoutMs, late), ended]),
  );
  const answers = await Promise.allSettled(asked);
  return engines
    .filter((_, index) => answers[index]?.status === 'rejected')
    .map(({ name }) => name);
}

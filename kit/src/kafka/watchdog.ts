/** A lane as the watchdog sees it. */
export interface WatchedLane {
  readonly open: boolean;
  /** When the newest fetch of its partition was answered by the leader, on the clock of the watchdog. */
  readonly answeredMs: number;
  /** Whether it is fetched: one that is full waits for its handler, not for the wire. */
  hasRoom(): boolean;
}

/** Lanes that wait for the wire in vain. */
export interface Silences<Lane> {
  /** Without an answer for half of the limit. */
  readonly late: ReadonlySet<Lane>;
  /** Without an answer for the limit; each once. */
  readonly stalled: readonly { readonly lane: Lane; readonly silentMs: number }[];
}

interface Watch {
  readonly sinceMs: number;
  isReported: boolean;
}

/**
 * Watches what comes back, lane by lane, not loops that turn: kafkajs' consumers can stop silently while the process is
 * up (traps.md), and a broker can answer for one partition and not for another. An empty fetch is progress, so a quiet
 * topic raises no alarm. Pure: the clock is monotonic milliseconds.
 */
export class Watchdog {
  readonly #stallMs: number;
  readonly #now: () => number;
  #watches = new Map<WatchedLane, Watch>();
  #lastCheckMs: number;

  constructor(stallMs: number, now: () => number) {
    this.#stallMs = stallMs;
    this.#now = now;
    this.#lastCheckMs = now();
  }

  /**
   * Compares the lanes with the time, which counts from the first check that finds a lane waiting. For a process that
   * was suspended (a late check) it begins again.
   */
  check<Lane extends WatchedLane>(lanes: Iterable<Lane>): Silences<Lane> {
    const now = this.#now();
    const before = now - this.#lastCheckMs > this.#stallMs / 2 ? new Map() : this.#watches;
    this.#lastCheckMs = now;
    this.#watches = new Map();
    const late = new Set<Lane>();
    const stalled: { lane: Lane; silentMs: number }[] = [];
    for (const lane of lanes) {
      if (!lane.open || !lane.hasRoom()) continue;
      const watch = continued(before.get(lane), lane, now);
      this.#watches.set(lane, watch);
      const silentMs = Math.round(now - watch.sinceMs);
      if (silentMs > this.#stallMs / 2) late.add(lane);
      if (watch.isReported || silentMs <= this.#stallMs) continue;
      watch.isReported = true;
      stalled.push({ lane, silentMs });
    }
    return { late, stalled };
  }
}

function continued(before: Watch | undefined, { answeredMs }: WatchedLane, now: number): Watch {
  if (before === undefined) return { sinceMs: now, isReported: false };
  return answeredMs > before.sinceMs ? { sinceMs: answeredMs, isReported: false } : before;
}

/** Checks per stall time. */
export const watchdogChecks = 8;

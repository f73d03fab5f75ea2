import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import { runRounds } from '@pm/kit/rounds';
import { LeaderboardComputation } from './leaderboard-computation.io.ts';
import type { LeaderboardPage, LeaderboardSearch } from './leaderboard-query.ts';
import { type LeaderboardClickHouse, readNewest } from './read-leaderboards.io.ts';

/**
 * How often a newer computation is looked for while leaderboards are read, and while no client reads them,
 * milliseconds.
 */
const lookEveryMs = 1_000;
const lookSeldomMs = 5_000;
/** After so long without a read no client is expected to read them soon, milliseconds. */
const quietAfterMs = 60_000;

/**
 * Leaderboards as they were computed last. A newer computation is served once all boards read from the one before are
 * prepared: no request waits for the change.
 */
export class Leaderboards {
  readonly #clickhouse: LeaderboardClickHouse;
  readonly #monotonicMs: () => number;
  #served: LeaderboardComputation;
  #requestedMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  constructor(clickhouse: LeaderboardClickHouse, monotonicMs: () => number) {
    this.#clickhouse = clickhouse;
    this.#monotonicMs = monotonicMs;
    this.#served = new LeaderboardComputation(clickhouse, 0);
  }

  /** Throws the `Fault` `leaderboards_not_ready` (retry) before the first computation. */
  async read(search: LeaderboardSearch): Promise<LeaderboardPage> {
    this.#requestedMs = this.#monotonicMs();
    if (this.#served.snapshot === 0) await this.#begin();
    const served = this.#served;
    if (served.snapshot === 0) throw new Fault('leaderboards_not_ready', 'retry');
    const rows = await served.read(search);
    if (rows !== null) return { atMs: served.snapshot, rows };
    // A computation is dropped after two newer ones: an empty result counts only while it is the newest.
    const newest = await readNewest(this.#clickhouse);
    if (newest > served.snapshot) return await this.#readAside(newest, search);
    served.believe(search);
    return { atMs: served.snapshot, rows: [] };
  }

  /**
   * Takes over a newer computation, with the boards in use. @returns how long it need not be looked for again,
   * milliseconds.
   */
  async refresh(): Promise<number> {
    const snapshot = await readNewest(this.#clickhouse);
    const before = this.#served;
    if (snapshot > before.snapshot) {
      const next = new LeaderboardComputation(this.#clickhouse, snapshot);
      await next.prepare(before);
      if (snapshot > this.#served.snapshot) this.#served = next;
    }
    return this.#monotonicMs() - this.#requestedMs < quietAfterMs ? lookEveryMs : lookSeldomMs;
  }

  /**
   * The served computation changes only when the next is prepared, so a newer computation answers for this request
   * alone.
   */
  async #readAside(snapshot: number, search: LeaderboardSearch): Promise<LeaderboardPage> {
    const rows = await new LeaderboardComputation(this.#clickhouse, snapshot).read(search);
    return { atMs: snapshot, rows: rows ?? [] };
  }

  /** The first computation; one look serves all that wait for it. */
  #begin(): Promise<void> {
    this.#looking ??= this.#takeFirst().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #takeFirst(): Promise<void> {
    const snapshot = await readNewest(this.#clickhouse);
    if (snapshot > this.#served.snapshot)
      this.#served = new LeaderboardComputation(this.#clickhouse, snapshot);
  }
}

/** A look that failed is repeated after so long, milliseconds; until then the last computation is served. */
const retryAfterMs = 2_000;

/** Looks for newer computations of the leaderboards beside the requests. */
export function refreshLeaderboards(
  leaderboards: Pick<Leaderboards, 'refresh'>,
  log: Log,
): { close(): Promise<void> } {
  return runRounds({
    round: () => leaderboards.refresh(),
    onFailure(error) {
      log.warn({ err: error }, 'a newer computation of the leaderboards could not be looked for');
      return retryAfterMs;
    },
  });
}

import { Fault } from '@pm/kit/fault';
import type { LeaderboardPage, LeaderboardSearch } from '../core/reports/leaderboard.ts';
import { type LeaderboardClickHouse, readNewest } from './leaderboard-statements.ts';
import { LeaderboardStore } from './leaderboard-store.ts';

/** A newer computation is looked for this often while leaderboards are asked for, and while nobody does, milliseconds. */
const LOOK_EVERY_MS = 1_000;
const LOOK_SELDOM_MS = 5_000;
/** Nobody asks any more after so long. */
const QUIET_AFTER_MS = 60_000;
/** A request looks itself when nobody has for so long. */
const LOOK_STALE_MS = 10_000;

/**
 * Leaderboards as they were computed last. A newer computation is served once what was asked of the one before is at hand, and whole:
 * no request waits for the change.
 */
export class LeaderboardSource {
  readonly #clickhouse: LeaderboardClickHouse;
  readonly #nowMs: () => number;
  #served: LeaderboardStore;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #askedMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  constructor(clickhouse: LeaderboardClickHouse, nowMs: () => number) {
    this.#clickhouse = clickhouse;
    this.#nowMs = nowMs;
    this.#served = new LeaderboardStore(clickhouse, 0);
  }

  /** Throws the `Fault` `leaderboards_not_ready` (retry) before the first computation. */
  async read(search: LeaderboardSearch): Promise<LeaderboardPage> {
    this.#askedMs = this.#nowMs();
    if (this.#served.snapshot === 0 || this.#askedMs - this.#lookedMs >= LOOK_STALE_MS)
      await this.#look();
    const served = this.#served;
    const rows = await this.#readFrom(served, search);
    if (rows !== null) return { atMs: served.snapshot, rows };
    // A computation is dropped behind two newer ones: nothing is believed only of one that is still the newest.
    await this.#look();
    const newest = this.#served;
    if (newest === served) served.believe(search);
    const again = newest === served ? null : await this.#readFrom(newest, search);
    return { atMs: newest.snapshot, rows: again ?? [] };
  }

  /** Takes over a newer computation, with what is asked for. @returns how long it need not be looked for again, milliseconds. */
  async refresh(): Promise<number> {
    const snapshot = await this.#newest();
    const before = this.#served;
    if (snapshot > before.snapshot) {
      const next = new LeaderboardStore(this.#clickhouse, snapshot);
      await next.prepare(before);
      if (snapshot > this.#served.snapshot) this.#served = next;
    }
    return this.#nowMs() - this.#askedMs < QUIET_AFTER_MS ? LOOK_EVERY_MS : LOOK_SELDOM_MS;
  }

  async #readFrom(store: LeaderboardStore, search: LeaderboardSearch) {
    if (store.snapshot === 0) throw new Fault('leaderboards_not_ready', 'retry');
    return await store.read(search);
  }

  /** One look serves all that wait for it. */
  #look(): Promise<void> {
    this.#looking ??= this.#takeNewest().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #takeNewest(): Promise<void> {
    const snapshot = await this.#newest();
    if (snapshot > this.#served.snapshot)
      this.#served = new LeaderboardStore(this.#clickhouse, snapshot);
  }

  async #newest(): Promise<number> {
    const snapshot = await readNewest(this.#clickhouse);
    this.#lookedMs = this.#nowMs();
    return snapshot;
  }
}

import type { ApiKeyId } from '@pm/schemas';

export interface SilenceLimits {
  /** A partition without any record for longer was away: nobody could beat there, milliseconds. */
  readonly outageMs: number;
  /** A session is silent after so long without a heartbeat, milliseconds; at least the promised time and `outageMs`. */
  readonly silenceMs: number;
}

interface Hearing {
  heardAtMs: number;
  /** Silence counts from here on: when the partition was last back after an outage. */
  resumedAtMs: number;
  /** When it was last back after an outage; history does not count. */
  backAtMs: number;
  /** When each live session was heard, longest ago first. */
  readonly beats: Map<ApiKeyId, number>;
}

/**
 * How long each live session has been silent, as one process hears it on its own monotonic clock. A heartbeat is heard after
 * it was accepted, so nobody is ever taken for more silent than he is, whatever the clocks of other hosts say. While the
 * partition of a session takes no records, and for a whole period after that, nobody is silent.
 */
export class SessionSilence {
  readonly #limits: SilenceLimits;
  readonly #hearings: readonly Hearing[];
  /** While history is read, nothing says how long ago it was. */
  #isStarted = false;

  constructor(partitions: number, limits: SilenceLimits) {
    this.#limits = limits;
    this.#hearings = Array.from({ length: partitions }, () => ({
      heardAtMs: Number.NEGATIVE_INFINITY,
      resumedAtMs: Number.NEGATIVE_INFINITY,
      backAtMs: Number.NEGATIVE_INFINITY,
      beats: new Map(),
    }));
  }

  /** A record of the partition was read, whatever it says. */
  heard(partition: number, nowMs: number): void {
    const hearing = this.#hearings[partition];
    if (hearing === undefined) return;
    if (this.#isStarted && nowMs - hearing.heardAtMs > this.#limits.outageMs) {
      hearing.resumedAtMs = nowMs;
      hearing.backAtMs = nowMs;
    }
    hearing.heardAtMs = nowMs;
  }

  /** What was read until now was history: everybody gets a whole period from here on. */
  start(nowMs: number): void {
    this.#isStarted = true;
    for (const hearing of this.#hearings) {
      hearing.heardAtMs = nowMs;
      hearing.resumedAtMs = nowMs;
    }
  }

  /** Since when the partition has taken records without an outage; null while it is away or not read. */
  openSince(partition: number, nowMs: number): number | null {
    const hearing = this.#hearings[partition];
    if (hearing === undefined || nowMs - hearing.heardAtMs > this.#limits.outageMs) return null;
    return hearing.resumedAtMs;
  }

  /** A miss that is read now was decided before or in an outage: it must not have consequences. */
  isDoubtful(partition: number, nowMs: number): boolean {
    const backAtMs = this.#hearings[partition]?.backAtMs ?? nowMs;
    return nowMs - backAtMs < this.#limits.silenceMs;
  }

  beat(partition: number, apiKey: ApiKeyId, nowMs: number): void {
    const beats = this.#hearings[partition]?.beats;
    beats?.delete(apiKey);
    beats?.set(apiKey, nowMs);
  }

  /** The session is no longer live. Returns when it was last heard. */
  end(partition: number, apiKey: ApiKeyId): number | undefined {
    const beats = this.#hearings[partition]?.beats;
    const heardAtMs = beats?.get(apiKey);
    beats?.delete(apiKey);
    return heardAtMs;
  }

  /** Sessions that have been silent for too long in partitions that take records, longest first, `max` at most. */
  overdue(nowMs: number, max: number): readonly ApiKeyId[] {
    const found: ApiKeyId[] = [];
    for (const hearing of this.#hearings) {
      if (nowMs - hearing.heardAtMs > this.#limits.outageMs) continue;
      const latest = nowMs - this.#limits.silenceMs;
      if (hearing.resumedAtMs > latest) continue;
      for (const [apiKey, heardAtMs] of hearing.beats) {
        if (heardAtMs > latest || found.length >= max) break;
        found.push(apiKey);
      }
    }
    return found;
  }
}

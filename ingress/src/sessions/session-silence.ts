import type { ApiKeyId } from '@pm/schemas/ids';

export interface SilenceLimits {
  /** A partition without any record for longer took no records: no heartbeat could come, milliseconds. */
  readonly outageMs: number;
  /** A session is silent after so long without a heartbeat, milliseconds; at least the promised time and `outageMs`. */
  readonly silenceMs: number;
}

interface PartitionSilence {
  seenAtMs: number;
  /** Silence counts from here on: when the partition was last back after an outage. */
  resumedAtMs: number;
  /** When it was last back after an outage; history does not count. */
  backAtMs: number;
  /** When the last heartbeat of each live session was read, longest ago first. */
  readonly beats: Map<ApiKeyId, number>;
}

/**
 * How long each live session has been silent, on the monotonic clock of this process. A heartbeat is read after it was
 * accepted, so no session counts as more silent than it is, whatever the clocks of other hosts are. While the partition
 * of a session takes no records, and for a whole period after that, no session is silent.
 */
export class SessionSilence {
  readonly #limits: SilenceLimits;
  readonly #partitions: readonly PartitionSilence[];
  /** While history is read, nothing says how long ago it was. */
  #isStarted = false;

  constructor(partitions: number, limits: SilenceLimits) {
    this.#limits = limits;
    this.#partitions = Array.from({ length: partitions }, () => ({
      seenAtMs: Number.NEGATIVE_INFINITY,
      resumedAtMs: Number.NEGATIVE_INFINITY,
      backAtMs: Number.NEGATIVE_INFINITY,
      beats: new Map(),
    }));
  }

  /** A record of the partition was read, whatever it says. */
  observe(partition: number, nowMs: number): void {
    const state = this.#partitions[partition];
    if (state === undefined) return;
    if (this.#isStarted && nowMs - state.seenAtMs > this.#limits.outageMs) {
      state.resumedAtMs = nowMs;
      state.backAtMs = nowMs;
    }
    state.seenAtMs = nowMs;
  }

  /** Records read until now are history: every session gets a whole period from here on. */
  start(nowMs: number): void {
    this.#isStarted = true;
    for (const state of this.#partitions) {
      state.seenAtMs = nowMs;
      state.resumedAtMs = nowMs;
    }
  }

  /** Since when the partition has taken records without an outage; null while it is away or not read. */
  openSince(partition: number, nowMs: number): number | null {
    const state = this.#partitions[partition];
    if (state === undefined || nowMs - state.seenAtMs > this.#limits.outageMs) return null;
    return state.resumedAtMs;
  }

  /** A miss that is read now was decided before or in an outage: it must not have consequences. */
  isDoubtful(partition: number, nowMs: number): boolean {
    const backAtMs = this.#partitions[partition]?.backAtMs ?? nowMs;
    return nowMs - backAtMs < this.#limits.silenceMs;
  }

  beat(partition: number, apiKey: ApiKeyId, nowMs: number): void {
    const beats = this.#partitions[partition]?.beats;
    beats?.delete(apiKey);
    beats?.set(apiKey, nowMs);
  }

  /** The session is no longer live. Returns when its last heartbeat was read. */
  end(partition: number, apiKey: ApiKeyId): number | undefined {
    const beats = this.#partitions[partition]?.beats;
    const seenAtMs = beats?.get(apiKey);
    beats?.delete(apiKey);
    return seenAtMs;
  }

  /** Sessions that have been silent for too long in partitions that take records, longest first, `max` at most. */
  overdue(nowMs: number, max: number): readonly ApiKeyId[] {
    const found: ApiKeyId[] = [];
    for (const state of this.#partitions) {
      if (nowMs - state.seenAtMs > this.#limits.outageMs) continue;
      const latest = nowMs - this.#limits.silenceMs;
      if (state.resumedAtMs > latest) continue;
      for (const [apiKey, seenAtMs] of state.beats) {
        if (seenAtMs > latest || found.length >= max) break;
        found.push(apiKey);
      }
    }
    return found;
  }
}

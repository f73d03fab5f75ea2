/** A lane as far as the choice of what to ask for needs it. */
export interface ApartLane {
  hasRoom(): boolean;
}

/** Failures in a row after which the lanes of a fetch are asked for one by one. */
const failuresTogether = 2;
/** Each so many turns is for the lanes that are not apart. */
const togetherEvery = 4;

/**
 * The lanes that are fetched alone for a while, because a fetch with them failed: one broken partition must not hold up
 * the others. When the broker answers again, all are asked for together once; where that fails, only those that were
 * answered alone come back. Pure: time is an argument.
 */
export class LanesApart<Lane extends ApartLane> {
  readonly #retryMs: number;
  /** The time of the next try of each. */
  readonly #apart = new Map<Lane, number>();
  #failures = 0;
  #turns = 0;
  /** Whether all were tried together since the lanes came apart. */
  #isTried = false;

  /** A lane that failed alone is tried again after `retryMs`. */
  constructor(retryMs: number) {
    this.#retryMs = retryMs;
  }

  get size(): number {
    return this.#apart.size;
  }

  /** The lanes to ask for next, of those of the broker; none while all are full or wait. */
  choose(lanes: readonly Lane[], nowMs: number): readonly Lane[] {
    this.#turns += 1;
    const all = new Set(lanes);
    for (const lane of this.#apart.keys()) if (!all.has(lane)) this.#apart.delete(lane);
    const together = lanes.filter((lane) => !this.#apart.has(lane) && lane.hasRoom());
    if (together.length > 0 && this.#turns % togetherEvery === 0) return together;
    const due = this.#longestDue(nowMs);
    return due === null ? together : [due];
  }

  /** The one that has waited longest: one that always fails, and is due again at once, must not go first. */
  #longestDue(nowMs: number): Lane | null {
    let longest: readonly [Lane, number] | null = null;
    for (const [lane, nextMs] of this.#apart)
      if (nextMs <= nowMs && nextMs < (longest?.[1] ?? Number.POSITIVE_INFINITY) && lane.hasRoom())
        longest = [lane, nextMs];
    return longest?.[0] ?? null;
  }

  /** The lane is asked for alone next. */
  separate(lane: Lane): void {
    this.#apart.set(lane, 0);
  }

  answered(asked: readonly Lane[]): void {
    this.#failures = 0;
    if (this.#apart.size === 0) this.#isTried = false;
    else if (this.#isTried) for (const lane of asked) this.#apart.delete(lane);
    else {
      this.#apart.clear();
      this.#isTried = true;
    }
  }

  /** `lanes`: all of the broker. */
  failed(asked: readonly Lane[], lanes: readonly Lane[], nowMs: number): void {
    this.#failures += 1;
    const [first] = asked;
    if (asked.length === 1 && first !== undefined && lanes.length > 1)
      this.#apart.set(first, nowMs + this.#retryMs);
    else if (this.#failures >= failuresTogether) for (const lane of asked) this.separate(lane);
  }
}

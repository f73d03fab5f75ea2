/** Milliseconds of a minute, the bucket of prices, and of an hour. */
const minuteMs = 60_000;
const hourMs = 3_600_000;

/** Start of the minute, Unix milliseconds. */
export function minuteOf(ms: number): number {
  return ms - (ms % minuteMs);
}

/** Start of the hour, Unix milliseconds. */
export function hourOf(ms: number): number {
  return ms - (ms % hourMs);
}

/** Starts of months. Remembers the newest one, since a month has many records. */
export class Months {
  #fromMs = 0;
  #toMs = 0;

  /** Start of the month, UTC, Unix milliseconds. */
  startOf(ms: number): number {
    if (ms < this.#fromMs || ms >= this.#toMs) {
      const date = new Date(ms);
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
      this.#fromMs = Date.UTC(year, month);
      this.#toMs = Date.UTC(year, month + 1);
    }
    return this.#fromMs;
  }
}

/** Values by time bucket and by a number within it; iterates bucket by bucket, each in the order of insertion. */
export class Buckets<Value> {
  readonly #buckets = new Map<number, Map<number, Value>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(bucketMs: number, key: number): Value | undefined {
    return this.#buckets.get(bucketMs)?.get(key);
  }

  set(bucketMs: number, key: number, value: Value): void {
    const known = this.#buckets.get(bucketMs);
    const bucket = known ?? new Map<number, Value>();
    if (known === undefined) this.#buckets.set(bucketMs, bucket);
    const before = bucket.size;
    bucket.set(key, value);
    this.#size += bucket.size - before;
  }

  forEach(visit: (value: Value, bucketMs: number) => void): void {
    for (const [bucketMs, bucket] of this.#buckets)
      for (const value of bucket.values()) visit(value, bucketMs);
  }

  /** Removes the buckets before this one. */
  dropBefore(bucketMs: number): void {
    for (const [one, bucket] of this.#buckets) {
      if (one >= bucketMs) continue;
      this.#buckets.delete(one);
      this.#size -= bucket.size;
    }
  }

  clear(): void {
    this.#buckets.clear();
    this.#size = 0;
  }
}

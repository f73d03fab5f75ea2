/** Values by bucket of time and a number within it; walked bucket by bucket, each in the order its numbers came. */
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

  forEach(see: (value: Value, bucketMs: number) => void): void {
    for (const [bucketMs, bucket] of this.#buckets)
      for (const value of bucket.values()) see(value, bucketMs);
  }

  /** Forgets the buckets in front of this one. */
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

/**
 * The recently used entries of a map, bounded: what was not used while `max` others were is dropped. Two generations
 * are kept, so at most `2 * max` entries, and nothing is counted or sorted per use.
 */
export class ExpiringMap<K, V> {
  readonly #max: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  /** `max`: entries of one generation. */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Does not count as a use. */
  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  /** The entry, which counts as used now. */
  use(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    return old === undefined ? undefined : this.set(key, old);
  }

  /** Returns the value. */
  set(key: K, value: V): V {
    this.#old.delete(key);
    if (this.#young.size >= this.#max && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
    return value;
  }
}

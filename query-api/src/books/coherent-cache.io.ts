/**
 * Values by key as long as they are known to be current: an invalidation drops a value and whatever is on its way.
 * While it is closed (no invalidations arrive) it keeps nothing. Loads of one key that are under way are shared.
 */
export class CoherentCache<V> {
  readonly #values = new Map<string, V>();
  readonly #loading = new Map<string, Promise<V | null>>();
  readonly #maxEntries: number;
  #isOpen = false;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#values.size;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.clear();
    this.#isOpen = true;
  }

  close(): void {
    this.#isOpen = false;
    this.clear();
  }

  /** Drops everything: what was loaded before may be of the past. */
  clear(): void {
    this.#values.clear();
    this.#loading.clear();
  }

  invalidate(key: string): void {
    this.#values.delete(key);
    this.#loading.delete(key);
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  /** Values of tokens in order; null when one of them is not here: without a promise for each of hundreds. */
  atHand(listings: readonly { readonly token: string }[]): readonly V[] | null {
    const kept: V[] = [];
    for (const { token } of listings) {
      const value = this.#values.get(token);
      if (value === undefined) return null;
      kept.push(value);
    }
    return kept;
  }

  /** Values of keys in order, null where there is none; what is not at hand is loaded in one call. */
  async load(
    keys: readonly string[],
    fetch: (missing: readonly string[]) => Promise<readonly (V | null)[]>,
  ): Promise<readonly (V | null)[]> {
    const missing = [...new Set(keys)].filter(
      (key) => !this.#values.has(key) && !this.#loading.has(key),
    );
    const own = new Map<string, Promise<V | null>>();
    if (missing.length > 0) {
      const fetched = fetch(missing);
      missing.forEach((key, index) => {
        own.set(key, this.#track(key, fetched, index));
      });
    }
    return await Promise.all(
      keys.map((key) => own.get(key) ?? this.#values.get(key) ?? this.#loading.get(key) ?? null),
    );
  }

  #track(key: string, fetched: Promise<readonly (V | null)[]>, index: number): Promise<V | null> {
    const loading = fetched.then((values) => values[index] ?? null);
    if (!this.#isOpen) return loading;
    this.#loading.set(key, loading);
    const settle = (value: V | null): void => {
      // Another load or an invalidation came meanwhile: this value may be of the past.
      if (this.#loading.get(key) !== loading) return;
      this.#loading.delete(key);
      if (value !== null) this.#keep(key, value);
    };
    loading.then(settle, () => settle(null));
    return loading;
  }

  #keep(key: string, value: V): void {
    if (this.#values.size >= this.#maxEntries) {
      const [oldest] = this.#values.keys();
      if (oldest !== undefined) this.#values.delete(oldest);
    }
    this.#values.set(key, value);
  }
}

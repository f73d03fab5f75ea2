/** Requests of a client whose outcome is open; past the limit the oldest are forgotten. */
const unresolvedMax = 10_000;

/** Requests whose result the calls that sent them do not know, for later calls with the same requests. */
export class Unresolved<K, V> {
  readonly #values = new Map<K, V>();

  /** Undefined for a request that has a result, or that no call has left open. */
  get(key: K): V | undefined {
    return this.#values.get(key);
  }

  note(key: K, value: V): void {
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > unresolvedMax && oldest !== undefined) this.#values.delete(oldest);
  }

  noteResolved(key: K): void {
    this.#values.delete(key);
  }
}

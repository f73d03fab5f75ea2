/** How often a name was counted under a key; names that come to 0 are forgotten. */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  /** True when the name is new under the key, or gone. */
  add(key: string, name: string, change: 1 | -1): boolean {
    const names = this.#counts.get(key) ?? new Map<string, number>();
    const count = (names.get(name) ?? 0) + change;
    if (count > 0) names.set(name, count);
    else names.delete(name);
    if (names.size > 0) this.#counts.set(key, names);
    else this.#counts.delete(key);
    return count <= 0 || (change === 1 && count === 1);
  }

  of(key: string): ReadonlyMap<string, number> {
    return this.#counts.get(key) ?? none;
  }

  namesOf(key: string): readonly string[] {
    return [...this.of(key).keys()];
  }
}

const none: ReadonlyMap<string, number> = new Map();

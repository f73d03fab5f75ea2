/**
 * A list of a snapshot whose items are made when they are read: a hundred thousand orders are copied within some
 * milliseconds, and rendered part by part. An array is one too.
 */
export interface SnapshotList<T> {
  readonly length: number;
  /** New items of the places from `from` up to `to`, less where the list ends. */
  slice(from: number, to: number): readonly T[];
}

/** Two lists, one after the other; `itemAt` makes the items of the first. */
export class MadeList<T> implements SnapshotList<T> {
  readonly #made: number;
  readonly #itemAt: (place: number) => T;
  readonly #last: readonly T[];

  constructor(made: number, itemAt: (place: number) => T, last: readonly T[] = []) {
    this.#made = made;
    this.#itemAt = itemAt;
    this.#last = last;
  }

  get length(): number {
    return this.#made + this.#last.length;
  }

  slice(from: number, to: number): readonly T[] {
    const items: T[] = [];
    for (let place = from; place < Math.min(to, this.#made); place += 1)
      items.push(this.#itemAt(place));
    const last = this.#last.slice(Math.max(0, from - this.#made), Math.max(0, to - this.#made));
    return [...items, ...last];
  }
}

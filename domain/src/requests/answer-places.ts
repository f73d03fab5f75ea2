/** How far this process has read `executions`. */
export interface ReadPlaces {
  /** An offset of the partition above those of all records of which anything can have been answered. */
  place(partition: number): number;
}

/** How far in the log the answer to one request tells: of each partition as far as this process had read then. */
export class AnswerPlaces {
  readonly #read: ReadPlaces;
  readonly #places = new Map<number, number>();

  constructor(read: ReadPlaces) {
    this.#read = read;
  }

  /** The answer tells of a record of this partition that has been read. */
  add(partition: number): void {
    this.#places.set(partition, this.#read.place(partition));
  }

  /** By partition; empty while it tells of nothing. */
  all(): ReadonlyMap<number, number> {
    return this.#places;
  }
}

/** Marks kept: ten minutes and more of a mark per second. */
const marksMax = 700;

interface Mark {
  readonly knownAtMs: number;
  /** Null from when the tables said that they do not know. */
  readonly throughMs: number | null;
}

/** Through which moment the tables were known to be complete, and since when: so that an answer kept for a while does not say too much. */
export class CompletenessMarks {
  readonly #marks: Mark[] = [];

  /** All that happened through `throughMs` is in what is read from `knownAtMs` on. Unix milliseconds. */
  note({ knownAtMs, throughMs }: Mark): void {
    if (this.newest() === throughMs) return;
    this.#marks.push({ knownAtMs, throughMs });
    if (this.#marks.length > marksMax) this.#marks.shift();
  }

  /** What is told now. */
  newest(): number | null {
    return this.#marks.at(-1)?.throughMs ?? null;
  }

  /** For what was read at `readAtMs`; null when that is not remembered. */
  at(readAtMs: number): number | null {
    return this.#marks.findLast(({ knownAtMs }) => knownAtMs <= readAtMs)?.throughMs ?? null;
  }
}

/** A kept value with its estimated size in bytes, and the version and moment for which it is true. */
interface Kept<T> {
  readonly version: number;
  readonly atMs: number;
  readonly bytes: number;
  readonly value: T;
}

/** Kept no longer, monotonic milliseconds: a rebuild exchanges tables without a new version. */
const ageMaxMs = 60_000;

/**
 * Values that were read from the tables, by name, each with the version of the tables that was known before the read
 * began: the offset up to which they hold the records of its partition (`ProgressWatch.storedOffset`). While that is
 * the same, a new read need not have anything more: `X-Complete-Through` promises no more. Bounded by bytes; the value
 * that was kept first is removed first.
 */
export class KeptReads<T> {
  readonly #kept = new Map<string, Kept<T>>();
  readonly #bytesMax: number;
  readonly #monotonicMs: () => number;
  #bytes = 0;

  constructor(bytesMax: number, monotonicMs: () => number) {
    this.#bytesMax = bytesMax;
    this.#monotonicMs = monotonicMs;
  }

  /** Estimated size of everything that is kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Undefined when it must be read; always for version null: the state of the tables is not known. */
  get(name: string, version: number | null): T | undefined {
    const kept = this.#kept.get(name);
    if (kept === undefined || version === null) return undefined;
    if (kept.version === version && this.#monotonicMs() - kept.atMs < ageMaxMs) return kept.value;
    this.#drop(name, kept);
    return undefined;
  }

  /** `version` is that from before the read; `bytes` estimates what the value and all that is made of it take. */
  keep(name: string, version: number | null, { value, bytes }: Sized<T>): void {
    const before = this.#kept.get(name);
    if (before !== undefined) this.#drop(name, before);
    if (version === null || bytes > this.#bytesMax) return;
    for (const [oldest, kept] of this.#kept) {
      if (this.#bytes + bytes <= this.#bytesMax) break;
      this.#drop(oldest, kept);
    }
    this.#kept.set(name, { version, atMs: this.#monotonicMs(), bytes, value });
    this.#bytes += bytes;
  }

  #drop(name: string, { bytes }: Kept<T>): void {
    this.#kept.delete(name);
    this.#bytes -= bytes;
  }
}

export interface Sized<T> {
  readonly value: T;
  readonly bytes: number;
}

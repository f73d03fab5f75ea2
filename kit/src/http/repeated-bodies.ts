/** Bytes of the bodies of one generation, of which there are two. A parsed body takes up to twenty times as much. */
const bytesMax = 1 << 20;
/** Memory of a kept body besides its bytes and its value, bytes. */
const overheadBytes = 200;

interface KeptBody {
  readonly bytes: Uint8Array;
  readonly body: unknown;
}

/**
 * Parsed bodies that came again, by their bytes: what a body says follows from them alone, so it never gets old. A body
 * is kept when its sum comes for the second time among as many bodies as are kept: to keep what does not come again in
 * time costs more than to parse it. The sum only finds it, the bytes must be equal. Bounded: of two generations the
 * older is dropped when the younger is full. A kept value is shared by requests: the list or object itself is frozen.
 */
export class RepeatedBodies {
  readonly #bytesMax: number;
  #young = new Map<number, KeptBody>();
  #old = new Map<number, KeptBody>();
  #youngBytes = 0;
  /** Sums of bodies that came once, in two generations, too. */
  #once = new Set<number>();
  #onceBefore = new Set<number>();
  #onceBytes = 0;

  constructor(max = bytesMax) {
    this.#bytesMax = max;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** The value of these bytes, whose sum is given; undefined when it is not kept. */
  find(sum: number, bytes: Uint8Array): unknown {
    const young = this.#young.get(sum);
    if (young !== undefined) return isEqual(young.bytes, bytes) ? young.body : undefined;
    const old = this.#old.get(sum);
    if (old === undefined || !isEqual(old.bytes, bytes)) return undefined;
    this.#old.delete(sum);
    this.#keep(sum, old);
    return old.body;
  }

  /** Takes a body that was not found. */
  offer(sum: number, bytes: Uint8Array, body: unknown): void {
    if (!this.#once.has(sum) && !this.#onceBefore.has(sum)) {
      this.#note(sum, bytes.length + overheadBytes);
      return;
    }
    // A copy: a small body is a part of memory that it shares with others.
    this.#keep(sum, { bytes: new Uint8Array(bytes), body: Object.freeze(body) });
  }

  #note(sum: number, bytes: number): void {
    if (this.#onceBytes + bytes > this.#bytesMax) {
      this.#onceBefore = this.#once;
      this.#once = new Set();
      this.#onceBytes = 0;
    }
    this.#once.add(sum);
    this.#onceBytes += bytes;
  }

  #keep(sum: number, kept: KeptBody): void {
    const bytes = kept.bytes.length + overheadBytes;
    if (bytes > this.#bytesMax) return;
    if (this.#youngBytes + bytes > this.#bytesMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(sum, kept);
    this.#youngBytes += bytes;
  }
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

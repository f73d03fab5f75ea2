/** Bytes of the length that each frame begins with. */
const lengthBytes = 4;

/**
 * Bytes of a frame, at most: a fetch has 16 MiB and one batch beyond them, of as much (`maxFetchBytes`, limits.ts, and
 * the largest record of a topic).
 */
const frameBytesMax = 128 << 20;

/**
 * Puts the frames of a connection together again, each in memory of its own that has just its size. kafkajs would
 * collect pieces of 64 KiB and copy them together at the end.
 */
export class FrameAssembler {
  readonly #length = Buffer.alloc(lengthBytes);
  #frame: Buffer | null = null;
  #filled = 0;

  /** The frames that end in this piece, in order, with their lengths. Null for a length that no frame has. */
  push(piece: Uint8Array): readonly Buffer[] | null {
    const ended: Buffer[] = [];
    for (let at = 0; at < piece.length; ) {
      const to = this.#frame ?? this.#length;
      const taken = Math.min(piece.length - at, to.length - this.#filled);
      to.set(piece.subarray(at, at + taken), this.#filled);
      at += taken;
      this.#filled += taken;
      if (this.#filled < to.length) continue;
      if (this.#frame === null && !this.#begin()) return null;
      if (this.#frame !== null && this.#filled === this.#frame.length) {
        ended.push(this.#frame);
        this.#frame = null;
        this.#filled = 0;
      }
    }
    return ended;
  }

  #begin(): boolean {
    const bytes = this.#length.readInt32BE(0);
    if (bytes < 0 || bytes > frameBytesMax) return false;
    // Not of the pool: what is kept of a frame would keep its neighbours, too.
    this.#frame = Buffer.allocUnsafeSlow(lengthBytes + bytes);
    this.#frame.set(this.#length);
    return true;
  }
}

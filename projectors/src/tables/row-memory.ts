/** Bytes of a piece of memory: some thousand rows, and far more than the longest one. */
export const pieceBytes = 1 << 18;

/** Unused pieces kept: as many as the two batches that a partition has at a time. */
const unusedPiecesMax = 128;

/**
 * Memory of rows, reused. Without it every batch takes fresh memory from the system, and V8 collects the whole heap
 * several times a second because of memory outside of it. Rows that are not given back are garbage like any other
 * object.
 */
export class RowMemory {
  readonly #unused: Buffer[] = [];

  /** A piece of `pieceBytes`, with arbitrary content. */
  take(): Buffer {
    return this.#unused.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
  }

  /** Takes back the pieces of rows (`TableRows`) that no code reads any more; each only once. */
  giveBack(pieces: readonly Buffer[]): void {
    for (const piece of pieces) {
      if (piece.buffer.byteLength !== pieceBytes || this.#unused.length === unusedPiecesMax)
        continue;
      const whole = Buffer.from(piece.buffer);
      if (this.#unused.some(({ buffer }) => buffer === whole.buffer))
        throw new RangeError('memory is given back once');
      this.#unused.push(whole);
    }
  }
}

/** Bytes of a piece of memory: some thousand rows, and far more than the longest one. */
export const pieceBytes = 1 << 18;

/** Pieces at rest: as much as the two batches that a partition has at a time. */
const restingMax = 128;

const resting: Buffer[] = [];

/** Memory for rows, with whatever stood in it before. */
export function takePiece(): Buffer {
  return resting.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
}

/**
 * Takes the memory of rows (`TableRows`) back that nobody will read again. Without it every batch is fresh memory from the system, and V8
 * collects the whole heap several times a second because of what it does not hold itself. Rows that are not given back are
 * garbage as ever.
 */
export function giveBack(pieces: readonly Buffer[]): void {
  for (const piece of pieces) {
    if (piece.buffer.byteLength !== pieceBytes || resting.length === restingMax) continue;
    const whole = Buffer.from(piece.buffer);
    if (resting.some(({ buffer }) => buffer === whole.buffer))
      throw new RangeError('memory is given back once');
    resting.push(whole);
  }
}

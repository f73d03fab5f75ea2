import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Bytes that are hashed or sent before other work of the process has its turn. */
const sliceBytes = 1 << 20;

/** SHA-256 of the parts one after the other; other work goes on meanwhile. */
export async function sha256Of(parts: readonly Buffer[]): Promise<Buffer> {
  const hash = createHash('sha256');
  for (const slice of slicesOf(parts)) {
    hash.update(slice);
    if (slice.length === sliceBytes) await nextTurn();
  }
  return hash.digest();
}

/** The parts in pieces of at most a mebibyte; no byte is copied. */
export function* slicesOf(parts: readonly Buffer[]): Generator<Buffer> {
  for (const part of parts)
    for (let from = 0; from < part.length; from += sliceBytes)
      yield part.subarray(from, from + sliceBytes);
}

import { Random } from '../src/random/index.ts';

/** Whole numbers of at least 0 and less than asked, out of a seed: a failing run can be run again. */
export function seeded(seed: number): (below: number) => number {
  const random = new Random(seed);
  return (below) => random.below(below);
}

/** Bytes that end in a number: ids of tests. */
export function bytesOf(size: number, index: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUInt32BE(index, size - 4);
  return bytes;
}

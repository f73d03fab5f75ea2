const bytesEach = 8;
/** What is added to a figure, so that none is negative and bytes are in the order of figures. */
const bias = 2n ** 63n;

/** All figures of a leaderboard in ascending order, as bytes: each plus 2^63, 64 bits, the highest byte first. */
export class SortedFigures {
  readonly #bytes: Buffer;
  readonly count: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.count = Math.floor(bytes.length / bytesEach);
  }

  /** How many are larger: one less than the rank. */
  countAbove(figure: bigint): number {
    const biased = figure + bias;
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#bytes.readBigUInt64BE(middle * bytesEach) > biased) high = middle;
      else low = middle + 1;
    }
    return this.count - low;
  }
}

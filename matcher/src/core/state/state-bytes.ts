/**
 * Values one after the other, each at a multiple of eight bytes: numbers and money as doubles, which are exact, and
 * arrays of words as they are in memory (little-endian, like every machine that Node.js supports here).
 */
export class StateWriter {
  private memory: ArrayBuffer;
  private position = 0;

  /** Room for `bytes`; it grows when that was too little. */
  constructor(bytes: number) {
    this.memory = new ArrayBuffer(aligned(bytes));
  }

  number(value: number): void {
    this.reserve(8);
    new Float64Array(this.memory, this.position, 1)[0] = value;
    this.position += 8;
  }

  /** Words to be filled in before anything else is written. */
  words(count: number): Int32Array {
    const bytes = aligned(count * 4);
    this.reserve(bytes);
    const words = new Int32Array(this.memory, this.position, count);
    this.position += bytes;
    return words;
  }

  /** Doubles to be filled in before anything else is written. */
  doubles(count: number): Float64Array {
    const words = this.words(count * 2);
    return new Float64Array(words.buffer, words.byteOffset, count);
  }

  /** Bytes without their length, which the reader knows. */
  bytes(bytes: Uint8Array): void {
    const words = this.words(bytes.length / 4);
    Buffer.from(words.buffer, words.byteOffset, bytes.length).set(bytes);
  }

  finish(): Buffer {
    return Buffer.from(this.memory, 0, this.position);
  }

  private reserve(bytes: number): void {
    if (this.position + bytes <= this.memory.byteLength) return;
    const grown = new ArrayBuffer(aligned((this.position + bytes) * 2));
    new Uint8Array(grown).set(new Uint8Array(this.memory, 0, this.position));
    this.memory = grown;
  }
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

/** Bytes that are not a state; nothing was restored. */
export class MalformedState extends Error {
  override readonly name = 'MalformedState';
}

export class StateReader {
  private readonly memory: ArrayBufferLike;
  private readonly start: number;
  private readonly length: number;
  private position = 0;

  constructor(bytes: Buffer) {
    const isAligned = bytes.byteOffset % 8 === 0;
    const from = isAligned ? bytes : new Uint8Array(bytes);
    this.memory = from.buffer;
    this.start = from.byteOffset;
    this.length = from.length;
  }

  /** A safe integer of at least `min` and at most `max`. */
  number(min: number, max: number): number {
    return sound(this.doubles(1)[0] as number, min, max);
  }

  /** A number of items of at least one byte each, so that a forged one cannot exhaust memory. */
  count(): number {
    return this.number(0, this.length);
  }

  /** A view of the words, valid as long as the bytes. */
  words(count: number): Int32Array {
    const from = this.position;
    this.position += aligned(count * 4);
    if (this.position > this.length) throw new MalformedState('too few bytes');
    return new Int32Array(this.memory, this.start + from, count);
  }

  doubles(count: number): Float64Array {
    const words = this.words(count * 2);
    return new Float64Array(words.buffer, words.byteOffset, count);
  }

  /** An own copy. */
  bytes(length: number): Buffer {
    const words = this.words(length / 4);
    return Buffer.from(new Uint8Array(words.buffer, words.byteOffset, length));
  }

  choice<T>(values: readonly T[]): T {
    return values[this.number(0, values.length - 1)] as T;
  }

  end(): void {
    if (this.position !== this.length) throw new MalformedState('bytes left over');
  }
}

/** The number itself if it is a safe integer of at least `min` and at most `max`. */
export function sound(value: number, min: number, max: number): number {
  if (!Number.isSafeInteger(value) || value < min || value > max || Object.is(value, -0)) {
    throw new MalformedState('a number is out of range');
  }
  return value;
}

/**
 * Versions of the layout. A state under the rules before the first `SetRules` keeps the first, byte for byte: the
 * checkpoints of older logs are its hashes.
 */
export const formats = { withoutRules: 3, withRules: 4 } as const;
/** In the order of their numbers in the bytes. */
export const roles = ['INGRESS', 'OWNER', 'OPERATOR', 'LEDGER'] as const;
export const modes = ['OPEN', 'POST_ONLY', 'CANCEL_ONLY', 'HALTED', 'RESOLVED'] as const;
export const bits = [0, 1] as const;
export const sides = ['BUY', 'SELL'] as const;
export const timesInForce = ['GTC', 'GTD', 'FOK', 'FAK'] as const;
export const selfTrades = ['CANCEL_NEWEST', 'CANCEL_OLDEST', 'CANCEL_BOTH', 'ALLOW'] as const;
/** Words and doubles of a row; their content is described where they are written (encode-state.ts). */
export const rowWords = { position: 6, id: 14, order: 8 } as const;

export const safeMax = Number.MAX_SAFE_INTEGER;
export const int32Max = 2 ** 31 - 1;

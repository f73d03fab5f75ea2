/** Thrown while decoding bytes that are not what the schema says; what comes off a topic may be anything. */
export class AvroError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AvroError';
  }
}

/** Below this, twice a value and one more are still exact as doubles. */
const doubleExact = 2 ** 52;

/** Below this a loop is cheaper than the call that copies. */
const fewBytes = 48;

/**
 * Writes a zig-zag varint of a safe integer at `at` and returns the place behind it; ten bytes must be free. Throws
 * `AvroError` for any other number.
 */
export function putLong(into: Buffer, at: number, value: number): number {
  // So short that the compiler copies it to where it is called: most numbers are small.
  if (value < 0 || value >= 0x40) return putLonger(into, at, value);
  into[at] = value << 1;
  return at + 1;
}

function putLonger(into: Buffer, at: number, value: number): number {
  if (value < -0x40000000 || value >= 0x40000000) return putLarge(into, at, value);
  const zigzag = ((value << 1) ^ (value >> 31)) >>> 0;
  if (zigzag < 0x80) return putEnd(into, at, zigzag);
  into[at] = zigzag | 0x80;
  if (zigzag < 0x4000) return putEnd(into, at + 1, zigzag >>> 7);
  into[at + 1] = (zigzag >>> 7) | 0x80;
  if (zigzag < 0x200000) return putEnd(into, at + 2, zigzag >>> 14);
  into[at + 2] = (zigzag >>> 14) | 0x80;
  if (zigzag < 0x10000000) return putEnd(into, at + 3, zigzag >>> 21);
  into[at + 3] = (zigzag >>> 21) | 0x80;
  return putEnd(into, at + 4, zigzag >>> 28);
}

function putEnd(into: Buffer, at: number, last: number): number {
  into[at] = last;
  return at + 1;
}

function putLarge(into: Buffer, at: number, value: number): number {
  if (!Number.isSafeInteger(value)) throw new AvroError(`not a safe integer: ${value}`);
  if (Math.abs(value) >= doubleExact) return putHuge(into, at, value);
  return putDoubled(into, at, value < 0 ? -1 - 2 * value : 2 * value);
}

/** Beyond 31 bits shifts do not work: four bytes of seven bits come from the low part, the others from the rest. */
function putDoubled(into: Buffer, at: number, zigzag: number): number {
  const high = Math.floor(zigzag / 2 ** 28);
  const low = zigzag - high * 2 ** 28;
  into[at] = low | 0x80;
  into[at + 1] = (low >>> 7) | 0x80;
  into[at + 2] = (low >>> 14) | 0x80;
  into[at + 3] = (low >>> 21) | 0x80;
  let to = at + 4;
  let rest = high;
  while (rest > 0x7f) {
    into[to] = rest | 0x80;
    to += 1;
    rest >>>= 7;
  }
  into[to] = rest;
  return to + 1;
}

/** From 2^52 on twice the value is no whole double any more. */
function putHuge(into: Buffer, at: number, value: number): number {
  let to = at;
  let rest = value < 0 ? -1n - 2n * BigInt(value) : 2n * BigInt(value);
  while (rest > 0x7fn) {
    into[to] = Number(rest & 0x7fn) | 0x80;
    to += 1;
    rest >>= 7n;
  }
  into[to] = Number(rest);
  return to + 1;
}

/** Writes `count` words from `from` on, little-endian, as ids and addresses are kept in flat memory. */
export function putWords(
  into: DataView,
  at: number,
  words: Int32Array,
  from: number,
  count: number,
): number {
  let to = at;
  for (let word = from; word < from + count; word += 1) {
    into.setInt32(to, words[word] as number, true);
    to += 4;
  }
  return to;
}

/** A buffer that grows, kept between records so that encoding does not allocate for each. */
export class ByteWriter {
  buffer: Buffer;
  /** View of the memory of `buffer`; both are replaced when it grows. */
  view: DataView;
  position = 0;

  constructor(initialBytes = 1 << 12) {
    this.buffer = Buffer.allocUnsafe(initialBytes);
    this.view = viewOf(this.buffer);
  }

  /** Makes room for `bytes` more. */
  reserve(bytes: number): void {
    const needed = this.position + bytes;
    if (needed > this.buffer.length) this.grow(needed);
  }

  private grow(needed: number): void {
    const grown = Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2));
    this.buffer.copy(grown, 0, 0, this.position);
    this.buffer = grown;
    this.view = viewOf(grown);
  }

  /** Zig-zag varint of a safe integer. */
  writeLong(value: number): void {
    this.reserve(10);
    this.position = putLong(this.buffer, this.position, value);
  }

  writeBytes(bytes: Uint8Array): void {
    const { length } = bytes;
    this.reserve(length);
    if (length > fewBytes) {
      this.buffer.set(bytes, this.position);
    } else {
      const { buffer, position } = this;
      for (let index = 0; index < length; index += 1) {
        buffer[position + index] = bytes[index] as number;
      }
    }
    this.position += length;
  }

  writeText(text: string): void {
    const length = Buffer.byteLength(text);
    this.writeLong(length);
    this.reserve(length);
    this.position += this.buffer.write(text, this.position, length, 'utf8');
  }

  writeDouble(value: number): void {
    this.reserve(8);
    this.position = this.buffer.writeDoubleLE(value, this.position);
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

/** Reads Avro's primitives and refuses to run past the end. */
export class ByteReader {
  readonly buffer: Buffer;
  position: number;

  constructor(buffer: Buffer, position = 0) {
    this.buffer = buffer;
    this.position = position;
  }

  get remaining(): number {
    return this.buffer.length - this.position;
  }

  readByte(): number {
    const byte = this.buffer[this.position];
    if (byte === undefined) throw new AvroError('ends too early');
    this.position += 1;
    return byte;
  }

  /** A zig-zag varint that must be a safe integer. */
  readLong(): number {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.readByte();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (low >>> 1) ^ -(low & 1);
    }
    return this.readLongTail(low);
  }

  /** The rest of a long of more than four bytes: in doubles as long as they are exact, which is up to seven bytes. */
  private readLongTail(low: number): number {
    let zigzag = low;
    let scale = 2 ** 28;
    for (let index = 4; index < 7; index += 1) {
      const byte = this.readByte();
      zigzag += (byte & 0x7f) * scale;
      if (byte < 0x80) return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
      scale *= 128;
    }
    return this.readHuge(zigzag);
  }

  private readHuge(low: number): number {
    let zigzag = BigInt(low);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.readByte();
      zigzag |= BigInt(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      const value = Number((zigzag >> 1n) ^ -(zigzag & 1n));
      if (!Number.isSafeInteger(value)) throw new AvroError('a long beyond 2^53');
      return value;
    }
    throw new AvroError('a long of more than ten bytes');
  }

  /** A view of the next bytes, not a copy. */
  readView(length: number): Buffer {
    if (length < 0 || length > this.remaining) throw new AvroError('ends too early');
    const view = this.buffer.subarray(this.position, this.position + length);
    this.position += length;
    return view;
  }

  /** Copies the next bytes, as many as it holds. */
  readInto(into: Buffer): void {
    const { buffer, position } = this;
    const { length } = into;
    if (length > this.remaining) throw new AvroError('ends too early');
    for (let index = 0; index < length; index += 1) {
      into[index] = buffer[position + index] as number;
    }
    this.position = position + length;
  }

  readText(): string {
    return this.readView(this.readLong()).toString('utf8');
  }

  readDouble(): number {
    return this.readView(8).readDoubleLE(0);
  }
}

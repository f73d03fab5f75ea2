/** Reads what Kafka's protocol writes: big-endian numbers, text and lists with their length before. */
export class BytesReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int8(): number {
    this.#at += 1;
    return this.#bytes.readInt8(this.#at - 1);
  }

  int16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  int64(): number {
    this.#at += 8;
    return Number(this.#bytes.readBigInt64BE(this.#at - 8));
  }

  /** Zigzag, seven bits a byte. */
  varint(): number {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = this.#bytes.readUInt8(this.#at);
      this.#at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number((value >> 1n) ^ -(value & 1n));
      shift += 7n;
    }
  }

  take(length: number): Buffer {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  text(): string {
    const length = this.int16();
    return length < 0 ? '' : this.take(length).toString('utf8');
  }

  /** Bytes with their length before. */
  blob(): Buffer {
    return Buffer.from(this.take(Math.max(0, this.int32())));
  }

  list<T>(one: () => T): T[] {
    return Array.from({ length: Math.max(0, this.int32()) }, one);
  }
}

/** Writes answers of the same protocol. */
export class BytesWriter {
  readonly #parts: Buffer[] = [];

  int8(value: number): this {
    return this.#add(1, (bytes) => bytes.writeInt8(value));
  }

  int16(value: number): this {
    return this.#add(2, (bytes) => bytes.writeInt16BE(value));
  }

  int32(value: number): this {
    return this.#add(4, (bytes) => bytes.writeInt32BE(value));
  }

  int64(value: number): this {
    return this.#add(8, (bytes) => bytes.writeBigInt64BE(BigInt(value)));
  }

  text(value: string): this {
    this.int16(Buffer.byteLength(value));
    this.#parts.push(Buffer.from(value, 'utf8'));
    return this;
  }

  /** Bytes with their length before. */
  bytes(value: Buffer): this {
    this.int32(value.length);
    this.#parts.push(value);
    return this;
  }

  list<T>(values: readonly T[], one: (value: T) => void): this {
    this.int32(values.length);
    for (const value of values) one(value);
    return this;
  }

  /** All of it with its length before, as on a connection. */
  framed(): Buffer {
    const body = Buffer.concat(this.#parts);
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length);
    return Buffer.concat([length, body]);
  }

  #add(length: number, write: (bytes: Buffer) => void): this {
    const bytes = Buffer.alloc(length);
    write(bytes);
    this.#parts.push(bytes);
    return this;
  }
}

/** Bytes of the header of a frame before its extended length, and those that say how long that is (RFC 6455 5.2). */
const shortHeaderBytes = 2;
const length16 = 126;
const length64 = 127;
const maskBytes = 4;

/** The end of a response head. */
const headEnd = Buffer.from('\r\n\r\n');

/**
 * Follows the bytes that a WebSocket server sends from its response on, whatever pieces they come in: only between two
 * frames may another one be put.
 */
export class FrameEnds {
  /** Bytes of `headEnd` that have come. */
  #headBytes = 0;
  /** The header of the present frame as far as it has come. */
  readonly #header: number[] = [];
  /** Bytes of the present payload that are yet to come. */
  #left = 0;

  /** Whether the next byte begins a frame. */
  get isBetween(): boolean {
    return this.#isOpen && this.#left === 0 && this.#header.length === 0;
  }

  /** Takes the next bytes. Returns where among them a frame may begin first, which may be their end; -1 for nowhere. */
  take(bytes: Buffer): number {
    let first = this.isBetween ? 0 : -1;
    for (let at = 0; at < bytes.length; ) {
      at += this.#takeSome(bytes, at);
      if (first < 0 && this.isBetween) first = at;
    }
    return first;
  }

  get #isOpen(): boolean {
    return this.#headBytes === headEnd.length;
  }

  /** Returns the count of bytes that it has taken: one, or as much of the payload as there is. */
  #takeSome(bytes: Buffer, at: number): number {
    if (this.#left > 0) {
      const count = Math.min(this.#left, bytes.length - at);
      this.#left -= count;
      return count;
    }
    const byte = bytes[at] ?? 0;
    if (this.#isOpen) this.#takeHeader(byte);
    else if (byte === headEnd[this.#headBytes]) this.#headBytes += 1;
    else this.#headBytes = byte === headEnd[0] ? 1 : 0;
    return 1;
  }

  #takeHeader(byte: number): void {
    const header = this.#header;
    header.push(byte);
    const [, lengthByte = 0] = header;
    const short = lengthByte & 0x7f;
    const lengthBytes = short === length16 ? 2 : short === length64 ? 8 : 0;
    const masked = (lengthByte & 0x80) === 0 ? 0 : maskBytes;
    if (header.length < shortHeaderBytes + lengthBytes + masked) return;
    const extended = header.slice(shortHeaderBytes, shortHeaderBytes + lengthBytes);
    this.#left = lengthBytes === 0 ? short : extended.reduce((sum, one) => sum * 256 + one, 0);
    header.length = 0;
  }
}

const bytesMin = 16 << 10;
/** A larger piece is not kept. */
const bytesMax = 1 << 20;

/**
 * Memory of produce requests, a piece per broker, used again after each answer. Requests in new memory of their own are
 * what V8 counts until it collects garbage: a matcher under load stopped for 5 to 20 ms five times a second.
 */
export class RequestMemory {
  readonly #spare = new Map<string, Buffer>();

  /** At least so many bytes; they belong to the caller until given back. */
  take(node: string, bytes: number): Buffer {
    const spare = this.#spare.get(node);
    this.#spare.delete(node);
    if (spare !== undefined && spare.length >= bytes) return spare;
    const size = Math.max(bytesMin, bytes > bytesMax ? bytes : 2 ** Math.ceil(Math.log2(bytes)));
    return Buffer.allocUnsafeSlow(size);
  }

  /** Only of a request that was answered: the socket may still hold the bytes of any other. */
  giveBack(node: string, memory: Buffer): void {
    if (memory.length <= bytesMax) this.#spare.set(node, memory);
  }
}

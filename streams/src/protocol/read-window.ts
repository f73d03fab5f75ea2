/** After so many bytes a reader is asked how far it has read. */
export const askEveryBytes = 128 * 1024;
/** Most bytes that are sent to a reader beyond those that it is known to have read. */
export const unreadMaxBytes = 1024 * 1024;

/** A number below 2^48. */
const payloadBytes = 6;

/**
 * How far a reader has read. The systems between take megabytes for a reader that reads nothing, and each of them
 * costs as much as one that is read. A WebSocket library answers a ping when it has read everything before it.
 */
export class ReadWindow {
  #sentBytes = 0;
  #askedBytes = 0;
  #readBytes = 0;

  /** Whether the reader has read so much that more may be sent. */
  get hasRoom(): boolean {
    return this.#sentBytes - this.#readBytes < unreadMaxBytes;
  }

  /** Counts what was sent; the payload of a ping that follows it, or null. */
  sent(bytes: number): Buffer | null {
    this.#sentBytes += bytes;
    if (this.#sentBytes - this.#askedBytes < askEveryBytes) return null;
    this.#askedBytes = this.#sentBytes;
    const payload = Buffer.alloc(payloadBytes);
    payload.writeUIntBE(this.#sentBytes, 0, payloadBytes);
    return payload;
  }

  /** Takes the payload of a pong; false when it answers no ping, or one that is known to be read. */
  read(payload: Buffer): boolean {
    if (payload.length !== payloadBytes) return false;
    const readBytes = payload.readUIntBE(0, payloadBytes);
    if (readBytes <= this.#readBytes || readBytes > this.#askedBytes) return false;
    this.#readBytes = readBytes;
    return true;
  }
}

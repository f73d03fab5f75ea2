/** Bytes of the heap that a connection and a subscription cost, rounded up. */
const connectionBytes = 24 * 1024;
const subscriptionBytes = 256;

/** Shares of the largest heap: what connections and subscriptions may have, and what may wait for them. */
const roomShare = 1 / 2;
const queuesShare = 1 / 4;
/** More does not wait in any process. */
const queuesMaxBytes = 512 * 1024 * 1024;

/** Bounds of the memory of all readers of a process with this largest heap, bytes. */
export function readerBounds(heapBytes: number): {
  readonly roomBytes: number;
  readonly queuesBytes: number;
} {
  const queuesBytes = Math.min(queuesMaxBytes, Math.floor(heapBytes * queuesShare));
  return { roomBytes: Math.floor(heapBytes * roomShare), queuesBytes };
}

/**
 * The room that all connections of a process and their subscriptions have in its heap. Each address is limited, but
 * there may be any number of addresses: without a bound for all they would end the process.
 */
export class ReaderRoom {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether there is room for one more connection; it is counted then. */
  openConnection(): boolean {
    return this.add(connectionBytes);
  }

  closeConnection(): void {
    this.#bytes -= connectionBytes;
  }

  /** The subscriptions of one connection. */
  share(): RoomShare {
    return new RoomShare(this);
  }

  /** Whether there is room for so many bytes more; a negative number gives room back. */
  add(bytes: number): boolean {
    if (bytes > 0 && this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }
}

/** What the subscriptions of one connection have of the room. */
export class RoomShare {
  readonly #room: ReaderRoom;
  #subscriptions = 0;

  constructor(room: ReaderRoom) {
    this.#room = room;
  }

  /**
   * Whether there is room for so many subscriptions instead of those counted; they are counted then. Fewer always fit.
   */
  resize(subscriptions: number): boolean {
    if (!this.#room.add((subscriptions - this.#subscriptions) * subscriptionBytes)) return false;
    this.#subscriptions = subscriptions;
    return true;
  }
}

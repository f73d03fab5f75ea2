import type { StreamErrorCode } from '@pm/schemas/streams/codes';
import { streamLimits } from '@pm/schemas/streams/limits';

/**
 * Bytes of the heap that things of readers take at most: `streams/test/kept-bytes.test.ts` compares the heap
 * with them. A subscription counts its key as if it had no other reader.
 */
export const keptBytes = {
  /** A connection with its socket, a proof that is being checked, and what the socket has not written yet. */
  connection: 40 * 1024,
  /** A subscription of `/v1/stream`. */
  subscription: 384,
  /** A key of `/v1/stream` with readers. */
  publication: 2_560,
  /** A token of `/ws/market`, besides its text. */
  token: 96,
  /** A market with readers of `/ws/market`. */
  market: 384,
  /** A market that a connection of `/ws/user` names, besides its text. */
  namedMarket: 64,
  /** A wallet with readers of `/ws/user`, besides the past of its orders. */
  wallet: 1_024,
  /** An open order whose past is kept for `/ws/user`, and each of its trades. */
  order: 448,
  trade: 128,
  /** A subscription of `/ws/live-data`: its filters are hashes. */
  liveSubscription: 1_024,
} as const;

/** Bytes of a kept text of ASCII. */
export const textBytes = (text: string): number => 24 + text.length;

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

/** Why there is no room: for this connection or address, or for anybody. */
export type RoomRefusal = Extract<StreamErrorCode, 'overloaded' | 'too_many_subscriptions'>;

/**
 * The room that all connections of a process and what they subscribe to have in its heap. Each address has a share of
 * it; there may be any number of addresses, and without a bound for all they would end the process.
 */
export class ConnectionMemoryBudget {
  readonly #maxBytes: number;
  readonly #ofAddress = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether there is room for one more connection of the address; it is counted then. */
  openConnection(address: string): boolean {
    return this.take(address, keptBytes.connection) === null;
  }

  closeConnection(address: string): void {
    this.giveBack(address, keptBytes.connection);
  }

  /** Memory share of one connection of the address, without the connection itself. */
  share(address: string): RoomShare {
    return new RoomShare(this, address);
  }

  /** Null when there is room for these bytes of the address: they are counted then. */
  take(address: string, bytes: number): RoomRefusal | null {
    const ofAddress = (this.#ofAddress.get(address) ?? 0) + bytes;
    if (ofAddress > streamLimits.memory_bytes_per_address) return 'too_many_subscriptions';
    if (this.#bytes + bytes > this.#maxBytes) return 'overloaded';
    this.#bytes += bytes;
    this.#ofAddress.set(address, ofAddress);
    return null;
  }

  giveBack(address: string, bytes: number): void {
    this.#bytes -= bytes;
    const left = (this.#ofAddress.get(address) ?? 0) - bytes;
    if (left > 0) this.#ofAddress.set(address, left);
    else this.#ofAddress.delete(address);
  }

  /**
   * One more share counts bytes that the process keeps once for all of them; a negative number for one less.
   * Addresses go on counting them, as the others may leave.
   */
  countOnce(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/**
 * Memory, in bytes, of one connection without the connection itself, or of a wallet that connections of an address
 * read.
 */
export class RoomShare {
  readonly #room: ConnectionMemoryBudget;
  readonly #address: string;
  #bytes = 0;
  #isClosed = false;

  constructor(room: ConnectionMemoryBudget, address: string) {
    this.#room = room;
    this.#address = address;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Null when there is room for these bytes: they are counted then. Nothing is taken after the end. */
  take(bytes: number): RoomRefusal | null {
    if (this.#isClosed) return 'overloaded';
    if (this.#bytes + bytes > streamLimits.memory_bytes_per_connection)
      return 'too_many_subscriptions';
    const refusal = this.#room.take(this.#address, bytes);
    if (refusal === null) this.#bytes += bytes;
    return refusal;
  }

  giveBack(bytes: number): void {
    if (this.#isClosed) return;
    this.#room.giveBack(this.#address, bytes);
    this.#bytes -= bytes;
  }

  /** Gives everything back, for good. */
  close(): void {
    this.giveBack(this.#bytes);
    this.#isClosed = true;
  }
}

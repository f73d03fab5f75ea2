import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { TextFrames } from './text-frame.ts';

/** Sends one text message; `done` when the socket has taken it. */
export type SendText = (payload: Buffer, done?: () => void) => void;

/** Connections of a listener whose bytes are held back until the end of this turn of the event loop. */
export class BatchedWrites {
  #releases: (() => void)[] = [];

  add(release: () => void): void {
    if (this.#releases.length === 0) process.nextTick(() => this.#releaseAll());
    this.#releases.push(release);
  }

  #releaseAll(): void {
    const releases = this.#releases;
    this.#releases = [];
    for (const release of releases) release();
  }
}

/** A WebSocket, and the connection that carries its bytes. */
export interface StreamSocket {
  readonly frames: WebSocket;
  readonly bytes: Duplex;
  readonly sendText: SendText;
  readonly heldBack: BatchedWrites;
}

const asText = { binary: false } as const;

/** The sockets of one listener. */
export class StreamSockets {
  readonly #heldBack = new BatchedWrites();
  readonly #texts = new TextFrames();

  /** Socket of an opened connection. `ws` writes head and payload as two pieces, and both again for each reader. */
  open(frames: WebSocket, bytes: Duplex): StreamSocket {
    const isPlain = frames.extensions === '';
    const sendText: SendText = isPlain
      ? (payload, done) => void bytes.write(this.#texts.of(payload), done)
      : (payload, done) => frames.send(payload, asText, done);
    return { frames, bytes, sendText, heldBack: this.#heldBack };
  }
}

import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** Connections of a listener whose bytes are held back until the end of this turn of the event loop. */
export class HeldBack {
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
  readonly heldBack: HeldBack;
}

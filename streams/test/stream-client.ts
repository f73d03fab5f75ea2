import { once } from 'node:events';
import type { ClientFrame } from '@pm/schemas/streams/client-frames';
import { publicMessages } from '@pm/schemas/streams/messages';
import { ownMessages } from '@pm/schemas/streams/own-messages';
import { type ServerFrame, serverFrames } from '@pm/schemas/streams/server-frames';
import { Compile } from 'typebox/compile';
import { WebSocket } from 'ws';

/** A frame as tests read it. */
export type Seen = Record<string, unknown> & { readonly type: string };

const frames = Object.values(serverFrames).map((schema) => Compile(schema));
const messages = Object.values({ ...publicMessages, ...ownMessages }).map((schema) =>
  Compile(schema),
);

/** Throws unless exactly the declared frames, or messages, have this form. */
export function checkDeclared(seen: unknown): asserts seen is ServerFrame | Seen {
  const found = [...frames, ...messages].filter((one) => one.Check(seen));
  if (found.length !== 1) {
    throw new Error(`${found.length} declarations fit ${JSON.stringify(seen).slice(0, 500)}`);
  }
}

/** A client that keeps everything it receives and holds it against the declarations. */
export class StreamClient {
  readonly socket: WebSocket;
  readonly seen: Seen[] = [];
  closed: { readonly code: number; readonly reason: string } | null = null;
  problem: unknown = null;
  #wake: () => void = () => {};

  constructor(url: string, headers: Record<string, string> = {}, localAddress?: string) {
    this.socket = new WebSocket(url, { headers, localAddress });
    this.socket.on('message', (data) => this.#take(String(data)));
    this.socket.on('error', () => {});
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
      this.#wake();
    });
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<StreamClient> {
    const client = new StreamClient(url, headers);
    await once(client.socket, 'open');
    return client;
  }

  send(frame: ClientFrame | object | string): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** The first frame that fits and was not returned before. */
  async next(fits: (seen: Seen) => boolean, waitMs = 10_000): Promise<Seen> {
    const endMs = Date.now() + waitMs;
    for (;;) {
      if (this.problem !== null) throw this.problem;
      const place = this.seen.findIndex(fits);
      if (place >= 0) return this.seen.splice(place, 1)[0] as Seen;
      const leftMs = endMs - Date.now();
      if (leftMs <= 0)
        throw new Error(`nothing fits; seen: ${JSON.stringify(this.seen).slice(0, 900)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  of(type: string): Promise<Seen> {
    return this.next((seen) => seen.type === type);
  }

  /** Resolves with the code of the close. */
  async ended(waitMs = 10_000): Promise<number> {
    if (this.closed === null) {
      await Promise.race([
        once(this.socket, 'close'),
        new Promise((resolve) => setTimeout(resolve, waitMs).unref()),
      ]);
    }
    if (this.closed === null) throw new Error('the connection was not closed');
    return this.closed.code;
  }

  #take(text: string): void {
    const seen: unknown = JSON.parse(text);
    try {
      checkDeclared(seen);
    } catch (error) {
      this.problem ??= error;
    }
    this.seen.push(seen as Seen);
    this.#wake();
  }
}

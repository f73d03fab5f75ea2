import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { WebSocket } from 'ws';
import {
  BatchedWrites,
  type SendText,
  type StreamSocket,
} from '../src/protocol/stream-socket.io.ts';
import { checkDeclared, type Seen } from './stream-client.ts';

type Take = () => void;

/**
 * The server's end of a connection whose reader stops and goes on when the test says so, however large the buffers of
 * the machine are. Every frame that the reader takes is held against the declarations.
 */
export class ScriptedSocket extends EventEmitter {
  readyState = 1;
  /** Bytes that the reader has not taken. */
  bufferedAmount = 0;
  /** Frames that the reader has taken. */
  readonly seen: Seen[] = [];
  closed: number | null = null;
  #held: Take[] = [];
  #isStalled = false;

  constructor() {
    super();
    Object.defineProperty(this, 'OPEN', { value: 1 });
  }

  get asSocket(): StreamSocket {
    const frames = this as unknown as WebSocket;
    const sendText: SendText = (payload, done) => this.send(payload, {}, done);
    return { frames, bytes: new PassThrough(), sendText, heldBack: new BatchedWrites() };
  }

  stall(): void {
    this.#isStalled = true;
  }

  /** Takes what waits, and what comes. */
  resume(): void {
    this.#isStalled = false;
    const held = this.#held;
    this.#held = [];
    this.bufferedAmount = 0;
    for (const take of held) take();
  }

  /** A frame of the client. */
  receive(frame: object): void {
    this.emit('message', Buffer.from(JSON.stringify(frame)), false);
  }

  of(type: string): readonly Seen[] {
    return this.seen.filter((one) => one.type === type);
  }

  send(data: Buffer | string, _options?: object, done: () => void = () => {}): void {
    const text = String(data);
    this.#arrive(text.length, () => this.#take(text, done));
  }

  close(code: number): void {
    this.closed = code;
  }

  terminate(): void {
    this.closed ??= 1006;
  }

  /** Is answered as a library does: in its turn, when what came before was taken. */
  ping(data: Buffer = Buffer.alloc(0)): void {
    this.#arrive(data.length, () => setImmediate(() => this.emit('pong', data)));
  }

  pong(): void {}

  #arrive(bytes: number, take: Take): void {
    if (!this.#isStalled) {
      take();
      return;
    }
    this.bufferedAmount += bytes;
    this.#held.push(take);
  }

  #take(text: string, done: () => void): void {
    const seen: unknown = JSON.parse(text);
    checkDeclared(seen);
    this.seen.push(seen as Seen);
    setImmediate(done);
  }
}

import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { WebSocket } from 'ws';
import { BatchedWrites, type StreamSocket } from '../src/protocol/stream-socket.io.ts';

/** The server's end of a connection whose client sends; what it is sent is counted, and nothing of it is kept. */
export class SendingClient extends EventEmitter {
  readonly readyState = 1;
  readonly ['OPEN'] = 1;
  readonly bufferedAmount: number;
  /** The newest error; null for none. */
  error: string | null = null;
  writes = 0;
  closed: number | null = null;

  /** One that reads nothing leaves bytes in the socket. */
  constructor(reads = true) {
    super();
    this.bufferedAmount = reads ? 0 : 1;
  }

  get asSocket(): StreamSocket {
    const frames = this as unknown as WebSocket;
    const sendText = (payload: Buffer) => this.send(payload);
    return { frames, bytes: new PassThrough(), sendText, heldBack: new BatchedWrites() };
  }

  receive(frame: object | string): void {
    const text = typeof frame === 'string' ? frame : JSON.stringify(frame);
    this.emit('message', Buffer.from(text), false);
  }

  send(payload: Buffer | string): void {
    this.writes += 1;
    const text = String(payload);
    if (text.includes('error')) this.error = text;
  }

  /** Is answered once what came before was read. */
  ping(data: Buffer = Buffer.alloc(0)): void {
    this.writes += 1;
    if (this.bufferedAmount === 0) setImmediate(() => this.emit('pong', data));
  }

  pong(): void {
    this.writes += 2;
  }

  close(code: number): void {
    this.closed = code;
    this.emit('close');
  }

  terminate(): void {
    this.close(1006);
  }
}

import { randomBytes } from 'node:crypto';
import type { CloseReason, StreamCloseName } from '@pm/schemas/streams/codes';
import {
  ReaderSocket,
  type ReaderSocketParts,
  type SocketReader,
} from '../protocol/reader-socket.io.ts';
import type { StreamSocket } from '../protocol/stream-socket.io.ts';
import { isPing, readObject } from '../read-object.ts';
import type { SharedMessage } from './market-messages.ts';

/** Estimate of the fields that a connection adds to a message, bytes. */
const tailBytes = 90;

/** Handler of the frames of one connection of a stream of the family. */
export interface FamilyReader {
  /** A frame that is a JSON object; false when it is none of the stream. */
  take(frame: object): boolean;
  ended(reason: StreamCloseName | 'left'): void;
}

/**
 * One connection of the family's dialect: answers `PING`, and adds to each message the number of the connection's
 * messages, its id and the time. Messages stay one serialisation; only those fields are made for each reader.
 */
export class FamilySocket implements SocketReader {
  readonly #parts: ReaderSocketParts;
  readonly #reader: FamilyReader;
  readonly #socket: ReaderSocket;
  readonly #streamId: string;
  #sequence = 0;
  #isRefused = false;

  constructor(socket: StreamSocket, parts: ReaderSocketParts, reader: FamilyReader) {
    this.#parts = parts;
    this.#reader = reader;
    this.#streamId = `s-${randomBytes(8).toString('hex')}`;
    this.#socket = new ReaderSocket(socket, parts, this);
  }

  get holder(): ReaderSocket['holder'] {
    return this.#socket.holder;
  }

  get isClosed(): boolean {
    return this.#socket.isClosed;
  }

  hold(holder: Parameters<ReaderSocket['hold']>[0]): boolean {
    return this.#socket.hold(holder);
  }

  noteSubscribed(isSubscribed: boolean): void {
    this.#socket.noteSubscribed(isSubscribed);
  }

  /** Whether books should wait for the reader. */
  get isBusy(): boolean {
    return this.#socket.writer.isBusy;
  }

  /** Calls the function once nothing waits for the reader; never when the socket ends before. */
  whenDrained(then: () => void): void {
    this.#socket.writer.whenDrained(then);
  }

  tick(): boolean {
    return this.#socket.tick();
  }

  close(name: StreamCloseName): void {
    this.#socket.close(name);
  }

  send(message: SharedMessage): void {
    const sizeBytes = message.length + tailBytes;
    this.#socket.writer.addData(() => this.#withTail(message), sizeBytes);
  }

  /** An error outside the numbered messages. */
  sendError(error: string): void {
    this.#socket.writer.addText(JSON.stringify({ error }));
  }

  take(text: string): void {
    // The answer is always the same.
    if (isPing(text)) {
      this.#socket.writer.addText('PONG');
      return;
    }
    const frame = readObject(text);
    if (frame === null || !this.#reader.take(frame)) this.#refuse('invalid message');
  }

  refuse(code: 'too_many_frames' | 'not_json'): void {
    this.#refuse(code === 'not_json' ? 'invalid message' : 'too many messages');
  }

  /** A refusal of credentials is an error frame; for the rest the code of the close says it. */
  lastFrame(reason: CloseReason): string | null {
    return reason.code === unauthorizedCode && this.#isRefused ? unauthorizedText : null;
  }

  /** Credentials are wrong: the connection is closed with 1008. */
  refuseCredentials(): void {
    this.#isRefused = true;
    this.#socket.close('notAuthorized');
  }

  ended(reason: StreamCloseName | 'left'): void {
    this.#reader.ended(reason);
  }

  #refuse(error: string): void {
    if (this.isClosed) return;
    this.sendError(error);
    this.#socket.countWrongFrame();
  }

  #withTail(message: SharedMessage): Buffer {
    this.#sequence += 1;
    const nowMs = Math.floor(this.#parts.clock.nowMs());
    const tail = `,"sequence":${this.#sequence},"stream_id":"${this.#streamId}","server_ts_ms":${nowMs}}`;
    return Buffer.concat([message, Buffer.from(tail)]);
  }
}

const unauthorizedCode = 1008;
const unauthorizedText = JSON.stringify({ error: 'Unauthorized/Invalid api key' });

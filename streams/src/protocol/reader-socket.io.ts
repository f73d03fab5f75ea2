import type { KeyHolder } from '@pm/domain/accounts/key-verifier';
import type { Clock } from '@pm/kit/clock';
import type { Log } from '@pm/kit/log';
import { type CloseReason, type StreamCloseName, streamCloses } from '@pm/schemas/streams/codes';
import { streamLimits } from '@pm/schemas/streams/limits';
import type { WebSocket } from 'ws';
import { type ConnectionCounts, FrameBucket } from './connection-counts.ts';
import type { ConnectionMemoryBudget } from './connection-memory-budget.ts';
import type { StreamSocket } from './stream-socket.io.ts';
import { type QueuedTotal, StreamWriter } from './stream-writer.io.ts';

/** Limits and services that the sockets of all dialects share. */
export interface ReaderSocketParts {
  readonly counts: ConnectionCounts;
  /** Whether the key is still active. */
  isActive(holder: KeyHolder): boolean;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly log: Log;
  /** The room of the subscriptions of all readers. */
  readonly room: ConnectionMemoryBudget;
  /** Total of the queues of all readers. */
  readonly queued: QueuedTotal;
  /** Bound of the queue of one reader, bytes; the declared one unless a test wants less. */
  readonly queueBytes?: number;
}

/** A dialect of one socket. */
export interface SocketReader {
  /** A text frame within the limits. */
  take(text: string): void;
  /** A frame past the rate, or one that is no text. */
  refuse(code: 'too_many_frames' | 'not_json'): void;
  /** The last frame before a close; null for none. */
  lastFrame(reason: CloseReason): string | null;
  /** The socket is closed or its client left; called once, nothing follows. */
  ended(reason: StreamCloseName | 'left'): void;
}

/** A connection that was silent for so long is sent a ping, milliseconds. */
const pingAfterMs = 20_000;

/** One socket with the limits that all dialects have: rate of frames, wrong frames, silence, and a slow reader. */
export class ReaderSocket {
  readonly writer: StreamWriter;
  readonly #socket: WebSocket;
  readonly #parts: ReaderSocketParts;
  readonly #reader: SocketReader;
  readonly #bucket: FrameBucket;
  #holder: KeyHolder | null = null;
  #wrongFrames = 0;
  #isClosed = false;
  /** Since when there is no subscription; null while there is one. */
  #idleSinceMs: number | null;
  #heardAtMs: number;

  constructor(socket: StreamSocket, parts: ReaderSocketParts, reader: SocketReader) {
    const { frames } = socket;
    this.#socket = frames;
    this.#parts = parts;
    this.#reader = reader;
    const boundBytes = parts.queueBytes ?? streamLimits.queue_bytes;
    const onOverflow = () => this.close('slowReader');
    this.writer = new StreamWriter(socket, { total: parts.queued, boundBytes, onOverflow });
    const nowMs = parts.clock.monotonicMs();
    this.#bucket = new FrameBucket(nowMs);
    this.#idleSinceMs = nowMs;
    this.#heardAtMs = nowMs;
    frames.on('message', (data, isBinary) => this.#receive(data, isBinary));
    frames.on('ping', (data) => this.#answerPing(data));
    frames.on('pong', (data) => this.#pong(data));
    frames.on('error', (error) => parts.log.debug({ err: error }, 'a socket failed'));
    frames.on('close', () => this.#end('left'));
  }

  /** The key that the connection has proved. */
  get holder(): KeyHolder | null {
    return this.#holder;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Takes a proved key; false when it has too many connections, and this one is closed. */
  hold(holder: KeyHolder): boolean {
    if (!this.#parts.counts.openKey(holder.apiKey)) {
      this.close('tooManyConnections');
      return false;
    }
    this.#holder = holder;
    return true;
  }

  /** Whether there is a subscription now: a connection without one is closed after a while. */
  noteSubscribed(isSubscribed: boolean): void {
    if (isSubscribed) this.#idleSinceMs = null;
    else this.#idleSinceMs ??= this.#parts.clock.monotonicMs();
  }

  /** A wrong frame was answered; the last that is allowed closes. */
  countWrongFrame(): void {
    this.#wrongFrames += 1;
    if (this.#wrongFrames >= streamLimits.wrong_frames) this.close('wrongFrames');
  }

  /** Once a second: what time brings to an end. False when the connection is closed. */
  tick(): boolean {
    const nowMs = this.#parts.clock.monotonicMs();
    const idleMs = this.#idleSinceMs === null ? 0 : nowMs - this.#idleSinceMs;
    const silentMs = nowMs - this.#heardAtMs;
    if (this.#holder !== null && !this.#parts.isActive(this.#holder)) {
      this.close('notAuthorized');
    } else if (idleMs >= streamLimits.unsubscribed_seconds * 1_000) {
      this.close('unsubscribed');
    } else if (silentMs >= streamLimits.silent_seconds * 1_000) {
      this.#socket.terminate();
      return false;
    } else if (silentMs >= pingAfterMs) {
      this.#socket.ping();
    }
    return !this.#isClosed;
  }

  /** Sends the last frame and closes with its code; nothing follows. */
  close(name: StreamCloseName): void {
    if (this.#isClosed) return;
    const reason = streamCloses[name];
    this.writer.close(reason, this.#reader.lastFrame(reason));
    this.#end(name);
  }

  #end(reason: StreamCloseName | 'left'): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.writer.end();
    if (this.#holder !== null) this.#parts.counts.closeKey(this.#holder.apiKey);
    this.#reader.ended(reason);
  }

  #heard(): void {
    this.#heardAtMs = this.#parts.clock.monotonicMs();
  }

  /** Whether a frame of any kind is within the rate. */
  #takes(): boolean {
    if (this.#isClosed) return false;
    this.#heard();
    if (this.#bucket.take(this.#heardAtMs)) return true;
    this.#reader.refuse('too_many_frames');
    return false;
  }

  /** An answer that was asked for is no frame of the client. */
  #pong(data: Buffer): void {
    if (this.writer.noteRead(data)) this.#heard();
    else this.#takes();
  }

  #answerPing(data: Buffer): void {
    if (this.#takes()) this.writer.pong(data);
  }

  #receive(data: unknown, isBinary: boolean): void {
    if (!this.#takes()) return;
    if (isBinary || !Buffer.isBuffer(data)) this.#reader.refuse('not_json');
    else this.#reader.take(data.toString('utf8'));
  }
}

import type { Duplex } from 'node:stream';
import type { CloseReason } from '@pm/schemas/streams/codes';
import type { ServerFrame } from '@pm/schemas/streams/server-frames';
import type { WebSocket } from 'ws';
import type { Message } from './message.ts';
import { Outbox, type Outgoing } from './outbox.ts';
import { ReadWindow } from './read-window.ts';
import type { BatchedWrites, SendText, StreamSocket } from './stream-socket.io.ts';

/** Bytes handed to the socket at once: more waits in the queue, where it can be merged. */
const socketBytesMax = 64 * 1024;
/** Before the payload of a frame of a server. */
const headBytesMax = 10;
/**
 * Writes that the socket has not taken: each costs more than the few bytes of a short frame, of which a reader that
 * reads nothing could be owed tens of thousands.
 */
const socketWritesMax = 32;
/** A pong is written as head and payload. */
const pongWrites = 2;
/** Bytes that a heartbeat counts with while it waits in a queue: it is made when it is sent. */
const heartbeatBytes = 200;
/** Bytes that an entry in a queue takes besides the bytes of its message or frame. */
export const itemBytes = 768;
/** Frames that wait for a reader: more than that and it reads nothing. */
const framesWaitingMax = 1_000;
/** A reader that does not take the closing frame in time is cut off, milliseconds. */
const closeWaitMs = 3_000;

/** Share of the bound beyond which snapshots and replays wait for the reader. */
const busyShare = 1 / 4;

type Waiter = () => void;

/** Total of the queues of all readers of the process. */
export class QueuedTotal {
  bytes = 0;
  /** Deltas that were merged into others for slow readers so far. */
  merged = 0;
  readonly #maxBytes: number;

  /** Bound of all queues together, bytes. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether too much waits: then readers with a large queue are too slow. */
  get isExceeded(): boolean {
    return this.bytes > this.#maxBytes;
  }
}

/** Beyond the bound of all queues together readers with more than this share of their own are closed. */
const fairShare = 1 / 16;

/** Keeps the newest message of a key that was handed to the socket; null before the first. */
export interface SentPosition {
  sentSeq: number | null;
}

export interface WriterOptions {
  readonly total: QueuedTotal;
  /** Bound of the queue, bytes. */
  readonly boundBytes: number;
  /** The bound is passed: the reader is too slow. */
  onOverflow(): void;
}

/**
 * Writes frames and messages to one socket, in order, as fast as its reader takes them. What comes in one turn of the
 * event loop is written at once: a write to the system costs more than all the rest of a message.
 */
export class StreamWriter {
  readonly #socket: WebSocket;
  readonly #options: WriterOptions;
  readonly #connection: Duplex;
  readonly #sendText: SendText;
  readonly #heldBack: BatchedWrites;
  readonly #outbox: Outbox<SentPosition>;
  readonly #window = new ReadWindow();
  #framesWaiting = 0;
  #isEnded = false;
  #isHeldBack = false;
  /** Writes since the socket had taken all. */
  #socketWrites = 0;
  #waiters: Waiter[] = [];
  /** Bytes of the queue of this writer, as the total knows them. */
  #countedBytes = 0;
  #countedMerged = 0;

  constructor({ frames, bytes, sendText, heldBack }: StreamSocket, options: WriterOptions) {
    this.#socket = frames;
    this.#connection = bytes;
    this.#sendText = sendText;
    this.#heldBack = heldBack;
    this.#options = options;
    this.#outbox = new Outbox(options.boundBytes);
  }

  /** Whether so much waits that nothing should be sent that can wait. */
  get isBusy(): boolean {
    return this.#outbox.bytes > this.#options.boundBytes * busyShare;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The reader is too slow. */
  overflow(): void {
    this.#options.onOverflow();
  }

  send(message: Message, subscription: SentPosition): void {
    if (this.#isEnded) return;
    const isNext = this.#outbox.isEmpty && this.#hasRoom();
    if (isNext) this.#write({ bytes: message.bytes, message, subscription });
    else if (this.#outbox.add(message, subscription)) this.#flow();
    else this.#options.onOverflow();
  }

  answer(frame: ServerFrame): void {
    this.addText(JSON.stringify(frame));
  }

  /**
   * A frame of ASCII that answers one of the client. It waits as a text: what it is made of may be larger, and a short
   * buffer would keep the 8 KiB that it shares with others.
   */
  addText(text: string): void {
    this.#addFrame(() => Buffer.from(text), text.length);
  }

  /** A frame that is made when it is sent. */
  addHeartbeat(frame: () => Buffer): void {
    this.#addFrame(frame, heartbeatBytes);
  }

  #addFrame(frame: () => Buffer, sizeBytes: number): void {
    if (this.#isEnded) return;
    if (this.#framesWaiting >= framesWaitingMax) {
      this.#options.onOverflow();
      return;
    }
    this.#framesWaiting += 1;
    this.addData(() => {
      this.#framesWaiting -= 1;
      return frame();
    }, sizeBytes);
  }

  /** Data of this size that is made when it is sent and cannot be merged. */
  addData(data: () => Buffer, sizeBytes: number): void {
    if (this.#isEnded) return;
    const wasEmpty = this.#outbox.isEmpty;
    this.#outbox.addFrame(data, sizeBytes);
    if (wasEmpty || this.#outbox.bytes <= this.#options.boundBytes) this.#flow();
    else this.#options.onOverflow();
  }

  /** Answers a ping, unless its client reads nothing: then pongs would fill memory. */
  pong(payload: Buffer): void {
    if (this.#isEnded || !this.#hasRoom()) return;
    this.#noteWrites(pongWrites);
    const isFull = this.#socketWrites >= socketWritesMax;
    this.#socket.pong(payload, false, isFull ? this.#pumpAgain : undefined);
  }

  /** Takes a pong; false when it says nothing of what the reader has read. */
  noteRead(payload: Buffer): boolean {
    if (!this.#window.read(payload)) return false;
    if (!this.#isEnded) this.#pump();
    return true;
  }

  /** Drops what waits of a subscription. */
  forget(subscription: SentPosition): void {
    this.#outbox.forget(subscription);
    this.#count();
    this.#wakeIfDrained();
  }

  /** Calls the function once little waits for the reader; never when the writer ends before. */
  whenDrained(then: () => void): void {
    this.#waiters.push(then);
    this.#wakeIfDrained();
  }

  /** Sends the last frame, if there is one, instead of what waits, and closes with the code. */
  close({ code, reason }: CloseReason, last: string | null): void {
    this.end();
    if (last !== null) this.#socket.send(last);
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket.terminate(), closeWaitMs).unref();
  }

  /** Nothing more is sent. */
  end(): void {
    this.#isEnded = true;
    this.#outbox.clear();
    this.#waiters = [];
    this.#count();
  }

  #wakeIfDrained(): void {
    const isDrained = this.#outbox.bytes <= (this.#options.boundBytes * busyShare) / 2;
    if (this.#waiters.length === 0 || this.#isEnded || !isDrained) return;
    const waiting = this.#waiters;
    this.#waiters = [];
    for (const wake of waiting) wake();
  }

  /** Sends what the socket takes, and looks whether the rest is within what all readers may have. */
  #flow(): void {
    this.#pump();
    const { total, boundBytes } = this.#options;
    if (total.isExceeded && this.#outbox.bytes > boundBytes * fairShare) this.#options.onOverflow();
  }

  #count(): void {
    const { bytes: ofItems, items, merged } = this.#outbox;
    const { total } = this.#options;
    const bytes = ofItems + items * itemBytes;
    total.bytes += bytes - this.#countedBytes;
    total.merged += merged - this.#countedMerged;
    this.#countedBytes = bytes;
    this.#countedMerged = merged;
  }

  #pump(): void {
    this.#send();
    this.#count();
    this.#wakeIfDrained();
  }

  #hasRoom(): boolean {
    const socket = this.#socket;
    const isOpen = socket.readyState === socket.OPEN;
    const isTaken = this.#socketWrites < socketWritesMax || socket.bufferedAmount === 0;
    return isOpen && isTaken && this.#window.hasRoom && socket.bufferedAmount < socketBytesMax;
  }

  #send(): void {
    while (this.#hasRoom()) {
      const next = this.#outbox.take();
      if (next === null) return;
      this.#write(next);
    }
  }

  #write({ bytes, message, subscription }: Outgoing<SentPosition>): void {
    const socket = this.#socket;
    this.#holdBack();
    const isSeen = message !== null && message.isPart !== true;
    if (isSeen && subscription !== null) subscription.sentSeq = message.seq;
    this.#noteWrites(1);
    // Counted with the head of the frame, or the last one that fits would not call back and the rest would wait.
    const isFull =
      this.#socketWrites >= socketWritesMax ||
      socket.bufferedAmount + bytes.length + headBytesMax >= socketBytesMax;
    this.#sendText(bytes, isFull ? this.#pumpAgain : undefined);
    const question = this.#window.sent(bytes.length);
    if (question !== null) socket.ping(question);
  }

  #noteWrites(count: number): void {
    this.#socketWrites = count + (this.#socket.bufferedAmount === 0 ? 0 : this.#socketWrites);
  }

  readonly #pumpAgain = (): void => this.#pump();

  /** Until the end of this turn. */
  #holdBack(): void {
    if (this.#isHeldBack) return;
    this.#isHeldBack = true;
    this.#connection.cork();
    this.#heldBack.add(this.#release);
  }

  readonly #release = (): void => {
    this.#isHeldBack = false;
    this.#connection.uncork();
  };
}

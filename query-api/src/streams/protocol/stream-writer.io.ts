import type { Duplex } from 'node:stream';
import type { CloseReason, ServerFrame } from '@pm/schemas';
import type { WebSocket } from 'ws';
import type { Message } from './message.ts';
import { Outbox, type Outgoing } from './outbox.ts';
import { ReadWindow } from './read-window.ts';
import type { HeldBack, SendText, StreamSocket } from './stream-socket.io.ts';

/** Bytes handed to the socket at once: more waits in the queue, where it can be merged. */
const socketBytesMax = 64 * 1024;
/** Before the payload of a frame of a server. */
const headBytesMax = 10;
/** A pong, an error or a heartbeat counts with so many bytes while it waits. */
const frameBytes = 200;
/** What a place in a queue takes besides its bytes, which many queues share. */
const itemBytes = 128;
/** Frames that wait for a reader: more than that and it reads nothing. */
const framesWaitingMax = 1_000;
/** A reader that does not take the closing frame in time is cut off, milliseconds. */
const closeWaitMs = 3_000;

/** Share of the bound beyond which snapshots and replays wait for the reader. */
const busyShare = 1 / 4;

type Waiter = () => void;

/** What waits for all readers of the process together. */
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
  readonly #heldBack: HeldBack;
  readonly #outbox: Outbox<SentPosition>;
  readonly #window = new ReadWindow();
  #framesWaiting = 0;
  #isEnded = false;
  #isHeldBack = false;
  #waiters: Waiter[] = [];
  /** Of its queue, as the total knows it. */
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
    this.addFrame(() => Buffer.from(JSON.stringify(frame)));
  }

  /** A frame that is made when it is sent. */
  addFrame(frame: () => Buffer): void {
    if (this.#isEnded) return;
    if (this.#framesWaiting >= framesWaitingMax) {
      this.#options.onOverflow();
      return;
    }
    this.#framesWaiting += 1;
    this.#outbox.addFrame(() => {
      this.#framesWaiting -= 1;
      return frame();
    }, frameBytes);
    this.#flow();
  }

  /** Data of this size that is made when it is sent and cannot be merged. */
  addData(data: () => Buffer, sizeBytes: number): void {
    if (this.#isEnded) return;
    const wasEmpty = this.#outbox.isEmpty;
    this.#outbox.addFrame(data, sizeBytes);
    if (wasEmpty || this.#outbox.bytes <= this.#options.boundBytes) this.#flow();
    else this.#options.onOverflow();
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
    return isOpen && this.#window.hasRoom && socket.bufferedAmount < socketBytesMax;
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
    // Counted with the head of the frame, or the last one that fits would not call back and the rest would wait.
    const isFull = socket.bufferedAmount + bytes.length + headBytesMax >= socketBytesMax;
    this.#sendText(bytes, isFull ? this.#pumpAgain : undefined);
    const question = this.#window.sent(bytes.length);
    if (question !== null) socket.ping(question);
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

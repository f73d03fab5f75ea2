import { assert } from '@pm/kit/assert';
import type { Message } from './message.ts';
import { deltaOf, mergedContent } from './render-book.ts';

/** Entry in the queue of one reader: data of a subscription, or a frame that is made when it is sent. */
export interface Item<S> {
  readonly message: Message | null;
  /** The subscription of the message; null for frames. */
  readonly subscription: S | null;
  readonly frame: (() => Buffer) | null;
  readonly sizeBytes: number;
}

/** A taken item with its bytes. */
export interface Outgoing<S> {
  readonly bytes: Buffer;
  readonly message: Message | null;
  readonly subscription: S | null;
}

/** Estimates of a merged delta, whose bytes are made when it is sent. */
const mergedHeadBytes = 400;
const mergedLevelBytes = 60;

/**
 * The queue of one reader, bounded in bytes. Past half of the bound deltas of one key that wait are merged into one,
 * at the place of the first of them; checksums between them are dropped. Nothing else is ever left out.
 */
export class Outbox<S extends object> {
  readonly #boundBytes: number;
  #items: (Item<S> | null)[] = [];
  #first = 0;
  #bytes = 0;
  #merged = 0;
  /** Deltas that wait and may be merged with, by subscription: places in the list. Kept while merging. */
  #mergeable: Map<S, number> | null = null;

  constructor(boundBytes: number) {
    this.#boundBytes = boundBytes;
  }

  /** Places in the list. */
  get items(): number {
    return this.#items.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Deltas that went into others so far. */
  get merged(): number {
    return this.#merged;
  }

  get isEmpty(): boolean {
    return this.#first === this.#items.length;
  }

  /** Whether more than half of the bound waits. */
  get isHalfFull(): boolean {
    return this.#bytes > this.#boundBytes / 2;
  }

  /** Adds a frame that is rendered when it is sent; it counts with a fixed size. */
  addFrame(frame: () => Buffer, sizeBytes: number): void {
    this.#items.push({ message: null, subscription: null, frame, sizeBytes });
    this.#bytes += sizeBytes;
  }

  /** False when the bound is passed: the reader is too slow. One item alone always fits. */
  add(message: Message, subscription: S): boolean {
    if (this.isHalfFull) this.#mergeable ??= this.#mergeWaiting();
    else if (this.#bytes < this.#boundBytes / 4) this.#mergeable = null;
    if (this.#mergeable !== null && this.#merge(message, subscription, this.#mergeable)) {
      return this.#bytes <= this.#boundBytes;
    }
    const wasEmpty = this.isEmpty;
    this.#push(message, subscription);
    return wasEmpty || this.#bytes <= this.#boundBytes;
  }

  /** The next item; null when nothing waits. */
  take(): Outgoing<S> | null {
    while (this.#first < this.#items.length) {
      const place = this.#first;
      const item = this.#items[place] ?? null;
      this.#items[place] = null;
      this.#first += 1;
      const key = item?.subscription ?? null;
      if (key !== null && this.#mergeable?.get(key) === place) this.#mergeable.delete(key);
      this.#compact();
      if (item === null) continue;
      this.#bytes -= item.sizeBytes;
      const { message, subscription, frame } = item;
      if (frame !== null) return { bytes: frame(), message: null, subscription: null };
      assert(message !== null, 'an item is a message or a frame');
      return { bytes: bytesOf(message), message, subscription };
    }
    return null;
  }

  /** Drops what waits of one subscription. */
  forget(subscription: S): void {
    for (let place = this.#first; place < this.#items.length; place += 1) {
      const item = this.#items[place];
      if (item?.subscription === subscription) this.#drop(place);
    }
    this.#mergeable?.delete(subscription);
  }

  clear(): void {
    this.#items = [];
    this.#first = 0;
    this.#bytes = 0;
    this.#mergeable = null;
  }

  #push(message: Message, subscription: S): void {
    const sizeBytes = message.bytes.length;
    if (this.#mergeable !== null) {
      // A snapshot begins the key again: later deltas are not merged with those before it.
      if (message.content !== null) this.#mergeable.set(subscription, this.#items.length);
      else if (!message.isChecksum) this.#mergeable.delete(subscription);
    }
    this.#items.push({ message, subscription, frame: null, sizeBytes });
    this.#bytes += sizeBytes;
  }

  /** Merges what waits already; the places of the merged deltas are returned. */
  #mergeWaiting(): Map<S, number> {
    const mergeable = new Map<S, number>();
    for (let place = this.#first; place < this.#items.length; place += 1) {
      const item = this.#items[place];
      if (!item?.message || item.subscription === null) continue;
      const { message, subscription } = item;
      if (this.#merge(message, subscription, mergeable)) {
        this.#drop(place);
      } else if (message.content !== null) mergeable.set(subscription, place);
      else if (!message.isChecksum) mergeable.delete(subscription);
    }
    return mergeable;
  }

  /** Whether the message went into one that waits, or needs not be sent. */
  #merge(message: Message, subscription: S, mergeable: ReadonlyMap<S, number>): boolean {
    const place = mergeable.get(subscription);
    const waiting = place === undefined ? null : (this.#items[place]?.message ?? null);
    if (place === undefined || waiting?.content == null) return false;
    if (message.isChecksum) return true;
    if (message.content === null) return false;
    const content = mergedContent(waiting.content, message.content);
    this.#merged += 1;
    const levels = content.channel === 'book' ? content.levels.size : 2;
    const sizeBytes = mergedHeadBytes + levels * mergedLevelBytes;
    this.#bytes += sizeBytes - (this.#items[place]?.sizeBytes ?? 0);
    const { seq, at, key } = message;
    const merged = { seq, prev: waiting.prev, at, key, content, isChecksum: false };
    this.#items[place] = {
      message: { ...merged, bytes: unmade },
      subscription,
      frame: null,
      sizeBytes,
    };
    return true;
  }

  #drop(place: number): void {
    this.#bytes -= this.#items[place]?.sizeBytes ?? 0;
    this.#items[place] = null;
  }

  /** Taken places are removed once they are the larger part. */
  #compact(): void {
    const taken = this.#first;
    if (taken < this.#items.length && (taken < 1_024 || taken * 2 < this.#items.length)) return;
    this.#items = this.#items.slice(taken);
    this.#first = 0;
    if (this.#mergeable === null) return;
    const moved = [...this.#mergeable].filter(([, place]) => place >= taken);
    this.#mergeable = new Map(moved.map(([subscription, place]) => [subscription, place - taken]));
  }
}

const unmade = Buffer.alloc(0);

function bytesOf(message: Message): Buffer {
  const { bytes, content, key } = message;
  if (bytes !== unmade || content === null) return bytes;
  return deltaOf(message, key, content, true).bytes;
}

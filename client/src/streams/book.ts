import { sha1 } from '@noble/hashes/legacy.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { parsePrice } from '@pm/schemas/decimal';
import { type BookLevelText, bookJson } from '@pm/schemas/http/book-hash';
import type { PublicMessage } from '@pm/schemas/streams/messages';
import type { BookMessage, DataFrame } from './frames.ts';
import type { FrameReader } from './subscription.ts';

/** The book of a token after a message, with all levels. */
export interface BookEvent {
  readonly market: string;
  readonly token: string;
  readonly seq: number;
  /** Place in the log. */
  readonly at: BookMessage['at'];
  /** Clock of the partition, Unix milliseconds. */
  readonly time: number;
  /** As in `GET /book`: prices ascending, the best one last. */
  readonly bids: readonly BookLevelText[];
  /** As in `GET /book`: prices descending, the best one last. */
  readonly asks: readonly BookLevelText[];
  /** Messages before it are missing; the book is right. */
  readonly gap: boolean;
}

type Checksum = PublicMessage<'BookChecksumMessage'>;
type Side = Map<number, BookLevelText>;

/** Follows the book of a token. Events that were not read are replaced by the newest book. */
export class BookReader implements FrameReader<BookEvent> {
  readonly #token: string;
  readonly #bids: Side = new Map();
  readonly #asks: Side = new Map();
  #newest: Exclude<BookMessage, Checksum> | null = null;
  #isRead = true;
  #isGap = false;
  #checked = 0;

  constructor(token: string) {
    this.#token = token;
  }

  /** Never more than one: the subscription is not paused. */
  get waiting(): number {
    return this.#isRead ? 0 : 1;
  }

  /** Checksums that were right. */
  get checked(): number {
    return this.#checked;
  }

  snapshot(frame: DataFrame, isGap: boolean): void {
    const message = frame as PublicMessage<'BookSnapshotMessage'>;
    this.#bids.clear();
    this.#asks.clear();
    for (const level of message.bids) setLevel(this.#bids, level);
    for (const level of message.asks) setLevel(this.#asks, level);
    this.#isGap ||= isGap;
    this.#note(message);
  }

  message(frame: DataFrame): void {
    const message = frame as PublicMessage<'BookDeltaMessage'>;
    for (const { side, price, size } of message.levels) {
      setLevel(side === 'BUY' ? this.#bids : this.#asks, { price, size });
    }
    this.#note(message);
  }

  /** Compares the hash of `GET /book`, which covers the values beside the levels too. */
  checksum(frame: DataFrame): boolean {
    const message = frame as Checksum;
    const answer = {
      market: message.market,
      assetId: this.#token,
      timestamp: message.timestamp,
      bids: this.#sorted(this.#bids, 1),
      asks: this.#sorted(this.#asks, -1),
      minOrderSize: message.min_order_size,
      tickSize: message.tick_size,
      negRisk: message.neg_risk,
      lastTradePrice: message.last_trade_price,
    };
    const { hash } = JSON.parse(bookJson(answer, sha1Text)) as { hash: string };
    if (hash !== message.hash) return false;
    this.#checked += 1;
    return true;
  }

  shift(): BookEvent | undefined {
    const newest = this.#newest;
    if (this.#isRead || newest === null) return undefined;
    const gap = this.#isGap;
    this.#isRead = true;
    this.#isGap = false;
    return {
      market: newest.market,
      token: this.#token,
      seq: newest.seq,
      at: newest.at,
      time: newest.time,
      bids: this.#sorted(this.#bids, 1),
      asks: this.#sorted(this.#asks, -1),
      gap,
    };
  }

  #note(message: Exclude<BookMessage, Checksum>): void {
    this.#newest = message;
    this.#isRead = false;
  }

  #sorted(side: Side, direction: 1 | -1): BookLevelText[] {
    return [...side].sort(([a], [b]) => (a - b) * direction).map(([, level]) => level);
  }
}

function setLevel(side: Side, { price, size }: BookLevelText): void {
  const key = parsePrice(price);
  if (key === null) throw new TypeError(`not a price: ${price}`);
  if (Number(size) === 0) side.delete(key);
  else side.set(key, { price, size });
}

function sha1Text(text: string): string {
  return bytesToHex(sha1(utf8ToBytes(text)));
}

import { createHash } from 'node:crypto';
import { parsePrice } from '@pm/schemas/decimal';
import { type BookLevelText, bookJson } from '@pm/schemas/http/book-hash';
import type { StreamErrorCode } from '@pm/schemas/streams/codes';
import type { PublicMessage } from '@pm/schemas/streams/messages';
import type { OwnMessage } from '@pm/schemas/streams/own-messages';
import { StreamClient } from '../../../streams/test/stream-client.ts';
import type { SeenBook } from './client-reader.ts';
import { fillText, levelsHash, type OwnFillText } from './log-truth.ts';

type BookMessage = PublicMessage<
  'BookSnapshotMessage' | 'BookDeltaMessage' | 'BookChecksumMessage'
>;
type OwnEventMessage = OwnMessage<'OwnSnapshotMessage' | 'OwnFillMessage' | 'OwnOrderMessage'>;

type Socket = StreamClient['socket'];

interface Book {
  readonly bids: Map<number, BookLevelText>;
  readonly asks: Map<number, BookLevelText>;
  seq: number | null;
}

interface Frame {
  readonly type: string;
  readonly stream_id?: string;
  readonly channel?: string;
  readonly id?: number | null;
  readonly code?: string | number;
  readonly retryable?: boolean;
  readonly lag_ms?: number;
}

/** Pause before a connection, and before a refused request is sent again, milliseconds. */
const connectAgainMs = 150;
const askAgainMs = 500;
/** Requests of one connection: 1 is the proof of the key, 2 the own channel, the books follow. */
const authId = 1;
const ownId = 2;
const firstBookId = 3;
const checksumId = 1_000;

const passing = new Set<string>(['unavailable', 'not_subscribed'] satisfies StreamErrorCode[]);

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/**
 * Reads `/v1/stream` by docs/trading/streams.md alone, without the client: connects again after each end, resumes
 * from what it has, and takes nothing on trust. Every frame must have its declared form.
 */
export class RawReader {
  readonly books: SeenBook[] = [];
  readonly fills: OwnFillText[] = [];
  readonly problems: string[] = [];
  /** Checksums that were right. */
  checked = 0;
  /** Largest `lag_ms` of a heartbeat. */
  lagMs = 0;
  /** Code of a close frame, or 1006 -> how often. */
  readonly closes = new Map<number, number>();
  readonly #url: string;
  readonly #tokens: readonly string[];
  readonly #authFrame: (streamId: string) => object;
  readonly #books: ReadonlyMap<string, Book>;
  readonly #ownSeqs = new Map<number, number>();
  readonly #checksums = new Map<string, string>();
  #socket: Socket | null = null;
  #isOver = false;

  constructor(
    url: string,
    reads: {
      readonly tokens: readonly string[];
      /** Proves the key on a connection. */
      authFrame(streamId: string): object;
    },
  ) {
    this.#url = url;
    this.#tokens = reads.tokens;
    this.#authFrame = reads.authFrame;
    const empty = (): Book => ({ bids: new Map(), asks: new Map(), seq: null });
    this.#books = new Map(reads.tokens.map((token) => [token, empty()]));
  }

  /** Whether every subscription has begun. */
  hasBegun(partitions: number): boolean {
    const books = [...this.#books.values()];
    return this.#ownSeqs.size === partitions && books.every(({ seq }) => seq !== null);
  }

  connect(): void {
    if (this.#isOver) return;
    const client = new StreamClient(this.#url);
    const { socket } = client;
    this.#socket = socket;
    socket.on('message', (data) => this.#take(socket, String(data)));
    socket.on('close', (code) => {
      if (client.problem !== null) this.problems.push(String(client.problem));
      this.closes.set(code, (this.closes.get(code) ?? 0) + 1);
      setTimeout(() => this.connect(), connectAgainMs);
    });
  }

  /** Reads nothing for a while: what arrives waits in the socket. */
  stall(durationMs: number): void {
    const socket = this.#socket;
    if (socket === null || socket.readyState !== socket.OPEN) return;
    socket.pause();
    setTimeout(() => socket.resume(), durationMs);
  }

  close(): void {
    this.#isOver = true;
    this.#socket?.terminate();
  }

  /** Hash of the newest book of a token. */
  newestBook(token: string): string | undefined {
    const book = this.#books.get(token);
    return book === undefined ? undefined : levelsHash(sides(book).bids, sides(book).asks);
  }

  /** Hash of the last checksum of a token. */
  checksumOf(token: string): string | undefined {
    return this.#checksums.get(token);
  }

  #take(socket: Socket, text: string): void {
    if (socket !== this.#socket) return;
    const frame = JSON.parse(text) as Frame;
    if (frame.type === 'welcome') this.#welcome(socket, frame);
    else if (frame.type === 'authenticated') this.#subscribe(socket, ownId);
    else if (frame.type === 'error') this.#refused(socket, frame);
    else if (frame.type === 'heartbeat') this.#heartbeat(socket, frame);
    else if (isMessage(frame) && frame.channel === 'book') this.#book(frame as BookMessage);
    else if (isMessage(frame) && frame.channel === 'own') this.#own(frame as OwnEventMessage);
  }

  #welcome(socket: Socket, { stream_id = '' }: Frame): void {
    socket.send(JSON.stringify({ ...this.#authFrame(stream_id), id: authId }));
    for (const index of this.#tokens.keys()) this.#subscribe(socket, firstBookId + index);
  }

  /** Books are compared each second, besides the checksums that come by themselves. */
  #heartbeat(socket: Socket, { lag_ms = 0 }: Frame): void {
    this.lagMs = Math.max(this.lagMs, lag_ms);
    if (socket.readyState !== socket.OPEN) return;
    socket.send(JSON.stringify({ op: 'checksum', id: checksumId, tokens: this.#tokens }));
  }

  #subscribe(socket: Socket, id: number): void {
    const token = this.#tokens[id - firstBookId] ?? '';
    const seq = this.#books.get(token)?.seq ?? null;
    const own = [...this.#ownSeqs].map(([partition, ownSeq]) => ({ partition, seq: ownSeq }));
    const from = id === ownId ? own : { seq };
    const hasFrom = id === ownId ? own.length > 0 : seq !== null;
    const key = id === ownId ? { channel: 'own' } : { channel: 'book', tokens: [token] };
    const frame = { op: 'subscribe', id, ...key, ...(hasFrom ? { from } : {}) };
    socket.send(JSON.stringify(frame));
  }

  /** An instance that is restoring, or has not read as far, is asked again. */
  #refused(socket: Socket, frame: Frame): void {
    const { id, retryable } = frame;
    // A book is being resumed, or not yet: the next heartbeat asks again.
    if (id === checksumId && passing.has(String(frame.code))) return;
    if (!retryable || typeof id !== 'number' || id < ownId)
      this.problems.push(`refused: ${JSON.stringify(frame)}`);
    else
      setTimeout(() => {
        if (socket.readyState === socket.OPEN) this.#subscribe(socket, id);
      }, askAgainMs);
  }

  #book(message: BookMessage): void {
    const book = this.#books.get(message.token);
    if (book === undefined) this.problems.push(`a book of ${message.token}`);
    else if (message.type === 'checksum') this.#compare(book, message);
    else if (message.type === 'snapshot') this.#snapshot(book, message);
    else this.#delta(book, message);
  }

  #snapshot(book: Book, message: PublicMessage<'BookSnapshotMessage'>): void {
    if (book.seq !== null || message.gap) this.problems.push(`a snapshot after ${book.seq}`);
    for (const level of message.bids) setLevel(book.bids, level);
    for (const level of message.asks) setLevel(book.asks, level);
    this.#note(book, message);
  }

  #delta(book: Book, message: PublicMessage<'BookDeltaMessage'>): void {
    if (message.prev !== book.seq || (message.seq !== message.prev + 1 && !message.merged))
      this.problems.push(`book after ${book.seq}: ${JSON.stringify(message)}`);
    for (const { side, price, size } of message.levels)
      setLevel(side === 'BUY' ? book.bids : book.asks, { price, size });
    this.#note(book, message);
  }

  #note(book: Book, { token, seq, at }: Exclude<BookMessage, { type: 'checksum' }>): void {
    book.seq = seq;
    const { bids, asks } = sides(book);
    this.books.push({ token, offset: at.offset, hash: levelsHash(bids, asks) });
  }

  #compare(book: Book, message: PublicMessage<'BookChecksumMessage'>): void {
    const json = bookJson(
      {
        market: message.market,
        assetId: message.token,
        timestamp: message.timestamp,
        ...sides(book),
        minOrderSize: message.min_order_size,
        tickSize: message.tick_size,
        negRisk: message.neg_risk,
        lastTradePrice: message.last_trade_price,
      },
      sha1,
    );
    const { hash } = JSON.parse(json) as { readonly hash: string };
    if (message.seq === book.seq && hash === message.hash) this.checked += 1;
    else this.problems.push(`at ${book.seq} the checksum is wrong: ${JSON.stringify(message)}`);
    this.#checksums.set(message.token, message.hash);
  }

  #own(message: OwnEventMessage): void {
    const { partition } = message.at;
    const known = this.#ownSeqs.get(partition);
    const isNext =
      message.type === 'snapshot'
        ? known === undefined
        : message.prev === known && message.seq === message.prev + 1;
    if (!isNext) this.problems.push(`own after ${known}: ${JSON.stringify(message)}`);
    this.#ownSeqs.set(partition, message.seq);
    if (message.type === 'event' && message.kind === 'fill')
      this.fills.push({ partition, text: fillText(message) });
  }
}

/** Frames with a place in a sequence. */
function isMessage({ type }: Frame): boolean {
  return ['snapshot', 'delta', 'event', 'checksum'].includes(type);
}

function setLevel(side: Map<number, BookLevelText>, level: BookLevelText): void {
  const price = parsePrice(level.price) ?? -1;
  if (level.size === '0') side.delete(price);
  else side.set(price, level);
}

/** Levels in the order of `GET /book`: the best one last. */
function sides({ bids, asks }: Book) {
  const sorted = (side: ReadonlyMap<number, BookLevelText>, direction: 1 | -1) =>
    [...side].sort(([one], [other]) => (one - other) * direction).map(([, level]) => level);
  return { bids: sorted(bids, 1), asks: sorted(asks, -1) };
}

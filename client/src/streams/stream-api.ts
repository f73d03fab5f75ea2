import { streamPaths } from '@pm/schemas/streams/channels';
import type { Connection } from '../connection.ts';
import { authFrame } from './auth-frame.ts';
import { type BookEvent, BookReader } from './book.ts';
import type {
  ActivityMessage,
  BestMessage,
  CommentMessage,
  MarketsMessage,
  OrdersMessage,
  OwnEvent,
  TradeMessage,
} from './frames.ts';
import type { FreshnessEvent } from './freshness.ts';
import { MessageReader } from './readers.ts';
import { StreamConnection } from './stream-connection.ts';
import {
  type FrameReader,
  type Line,
  type Subscriber,
  Subscription,
  type Topic,
} from './subscription.ts';

export interface StreamOptions {
  /** Default: the base URL with `ws:` or `wss:`. */
  readonly streamUrl?: string;
  /** A connection without any frame for so long is replaced. Default 3 s, three heartbeats of the exchange. */
  readonly streamSilenceMs?: number;
  /** Messages that may wait for a consumer; default 10,000. */
  readonly streamQueueMax?: number;
  /**
   * Called when what a subscription has shown may be old, and when it is of now again. It is stale while the owner of
   * one of its partitions is not heard, and when for `streamStaleMs` no heartbeat of the exchange has listed it with
   * nothing missing: the connection is silent or gone, or its messages wait.
   */
  readonly onFreshness?: (event: FreshnessEvent) => void;
  /** Default 1.5 s: half a second after the heartbeat was due. */
  readonly streamStaleMs?: number;
}

export interface OwnEventsOptions {
  /**
   * The streams send heartbeats of the key while the connection is open: all its orders are canceled 10 to 15 s after
   * the last one, unless this client is connected again by then, or something else sends heartbeats of the same key
   * (sessions.md). A host that vanishes without closing the connection is noticed after 70 s.
   */
  readonly cancelOnDisconnect?: boolean;
}

/** Messages of a subscription: `for await` reads them; leaving the loop ends the subscription. */
export type Messages<Event> = AsyncIterableIterator<Event, undefined>;

/** Connections that one client opens: a second subscription to the same key has one of its own. */
const connectionsMax = 8;
const defaultSilenceMs = 3_000;
const defaultStaleMs = 1_500;

/**
 * Streams of the exchange. All subscriptions of a client share a connection, which is replaced when it ends or is
 * silent; each goes on after the last message it received. A loop throws only when messages are certainly missing
 * (`StreamGapError`), when the exchange refuses (`StreamRefusedError`), or when the retry budget ends
 * (`ExchangeError`). Channels with a state (`book`, `best`, `orders`, `markets`) continue with a snapshot marked `gap`
 * instead of throwing. Nothing is requested before the first read.
 */
export class StreamApi {
  readonly #connection: Connection;
  readonly #options: StreamOptions;
  readonly #lines: StreamConnection[] = [];

  constructor(connection: Connection, options: StreamOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /**
   * Partitions that are not live by the newest heartbeats: their owner was not heard for a second, or the exchange
   * does not follow them. What is shown of their markets may be old. Null while no connection has had a heartbeat.
   */
  get standingStill(): ReadonlySet<number> | null {
    const heard = this.#lines.map((line) => line.standingStill).filter((still) => still !== null);
    return heard.length === 0 ? null : new Set(heard.flatMap((still) => [...still]));
  }

  /** The book of a token after each change; changes that were not read are merged into the newest book. */
  book(token: string): Messages<BookEvent> {
    const topic = { channel: 'book', key: token, hasState: true, isWhole: false } as const;
    return this.#subscription(topic, new BookReader(token));
  }

  /** Best prices of a token. */
  best(token: string): Messages<BestMessage> {
    const topic = { channel: 'best', key: token, hasState: true, isWhole: true } as const;
    return this.#messages(topic);
  }

  /**
   * Every resting order of a market, by condition id: a snapshot, in parts where it is large (`part`, `more`), then
   * each change of one of them.
   */
  orders(condition: string): Messages<OrdersMessage> {
    const topic = { channel: 'orders', key: condition, hasState: true, isWhole: false } as const;
    return this.#messages(topic);
  }

  /** Fills of a market from now on. */
  trades(condition: string): Messages<TradeMessage> {
    const topic = { channel: 'trades', key: condition, hasState: false, isWhole: false } as const;
    return this.#messages(topic);
  }

  /** Rules, mode and resolution of a market; without one of all, new ones included. */
  markets(condition?: string): Messages<MarketsMessage> {
    const key = condition ?? null;
    return this.#messages({ channel: 'markets', key, hasState: true, isWhole: true });
  }

  /** Rows of `GET /activity` of a market from now on. */
  activity(condition: string): Messages<ActivityMessage> {
    const topic = { channel: 'activity', key: condition, hasState: false, isWhole: false } as const;
    return this.#messages(topic);
  }

  /** Comments on an event and its markets from now on. */
  comments(eventId: string): Messages<CommentMessage> {
    const topic = { channel: 'comments', key: eventId, hasState: false, isWhole: false } as const;
    return this.#messages(topic);
  }

  /**
   * Own orders, fills, balances, positions, transfers and sessions: a snapshot of each partition, in parts where it is
   * large (`part`, `more`), then each change once, whatever happens to the connection. Needs `connect()`.
   */
  own({ cancelOnDisconnect = false }: OwnEventsOptions = {}): Messages<OwnEvent> {
    const topic = { channel: 'own', key: null, hasState: false, isWhole: false } as const;
    return this.#messages(topic, cancelOnDisconnect);
  }

  #messages<Event>(topic: Topic, cancelOnDisconnect = false): Messages<Event> {
    const withSnapshots = topic.hasState || topic.channel === 'own';
    const reader = new MessageReader<Event>({ withSnapshots });
    return this.#subscription(topic, reader, cancelOnDisconnect);
  }

  #subscription<Event>(
    topic: Topic,
    reader: FrameReader<Event>,
    cancelOnDisconnect = false,
  ): Messages<Event> {
    const { streamQueueMax } = this.#options;
    return new Subscription<Event>(topic, {
      reader,
      open: (subscription) => this.#lineFor(subscription, cancelOnDisconnect),
      ...(streamQueueMax === undefined ? {} : { queueMax: streamQueueMax }),
    });
  }

  /** A connection that does not have this subscription yet. */
  #lineFor(subscription: Subscriber, cancelOnDisconnect: boolean): Line {
    const isOwn = subscription.topic.channel === 'own';
    const found = this.#lines.find(
      (line) =>
        !line.has(subscription) && (!isOwn || line.cancelsOnDisconnect === cancelOnDisconnect),
    );
    if (found !== undefined) {
      found.join(subscription);
      return found;
    }
    const idle = this.#lines.findIndex(({ isEmpty }) => isEmpty);
    if (idle >= 0) this.#lines.splice(idle, 1);
    if (this.#lines.length >= connectionsMax) {
      throw new RangeError(`a client has at most ${connectionsMax} stream connections`);
    }
    const line = new StreamConnection({
      url: this.#url(),
      retry: this.#connection.retryPolicy,
      silenceMs: this.#options.streamSilenceMs ?? defaultSilenceMs,
      staleMs: this.#options.streamStaleMs ?? defaultStaleMs,
      onFreshness: this.#options.onFreshness,
      cancelOnDisconnect,
      authFrame: (streamId, nowMs) =>
        authFrame(this.#connection.key, { streamId, cancelOnDisconnect }, nowMs),
    });
    this.#lines.push(line);
    line.join(subscription);
    return line;
  }

  #url(): string {
    const base = this.#options.streamUrl ?? this.#connection.baseUrl.replace(/^http/, 'ws');
    return base + streamPaths.own;
  }
}

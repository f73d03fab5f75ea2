import type { Market, Outcome } from '@pm/domain/markets/market';
import { type StreamCloseName, streamErrors } from '@pm/schemas/streams/codes';
import { streamLimits } from '@pm/schemas/streams/limits';
import type { FeedChange, RulesChange } from '../feed/changes.ts';
import type { FeedRecord } from '../feed/feed.io.ts';
import { keptBytes, type RoomShare, textBytes } from '../protocol/connection-memory-budget.ts';
import type { StartTask } from '../protocol/start-scheduler.io.ts';
import type { StreamSocket } from '../protocol/stream-socket.io.ts';
import type { FamilyConnection, FamilyParts, Opened } from './family-connection.io.ts';
import { type FamilyReader, FamilySocket } from './family-socket.io.ts';
import {
  bestMessage,
  bookMessage,
  lastTradeMessage,
  marketResolvedMessage,
  newMarketMessage,
  priceChangeMessage,
  type SharedMessage,
  ShownBook,
  shownBest,
  type TokenBest,
  tickSizeMessage,
  tradesOfFill,
} from './market-messages.ts';
import { readMarketFrame } from './read-family-frame.ts';

/** New markets that the catalog does not know yet; they are announced once it does. */
const unlistedMax = 1_000;

const outcomes = [0, 1] as const;
const bitOf = (outcome: Outcome): number => 1 << outcome;

/** A market that has readers. */
interface ReadMarket {
  readonly number: number;
  readonly partition: number;
  /** Bits of the tokens that each connection reads. */
  readonly readers: Map<MarketConnection, number>;
  tick: number;
  best: TokenBest;
}

/** All connections of `/ws/market`. A message is rendered when it has readers, once for all of them. */
export class MarketStream {
  readonly #parts: FamilyParts;
  readonly #markets = new Map<number, ReadMarket>();
  readonly #customReaders = new Set<MarketConnection>();
  /** When the market was listed, Unix milliseconds, by number. */
  readonly #unlisted = new Map<number, number>();
  #messages = 0;
  /** Markets that were listed since the start. */
  #listed = 0;

  constructor(parts: FamilyParts) {
    this.#parts = parts;
  }

  get messages(): number {
    return this.#messages;
  }

  open(socket: StreamSocket, opened: Opened): FamilyConnection {
    return new MarketConnection(socket, this.#parts, { stream: this, ...opened });
  }

  record({ changes }: FeedRecord): void {
    const byMarket = new Map<number, FeedChange[]>();
    for (const change of changes) {
      if (change.channel === 'own') continue;
      if (change.channel === 'markets' && change.action === 'listed') this.#announce(change);
      if (!this.#markets.has(change.market)) continue;
      const known = byMarket.get(change.market);
      if (known === undefined) byMarket.set(change.market, [change]);
      else known.push(change);
    }
    for (const [number, list] of byMarket) this.#publish(number, list);
  }

  /** Once a second: announces listed markets that the catalog knows by now. */
  tick(): void {
    for (const [number, timeMs] of this.#unlisted) {
      if (this.#announceListed(number, timeMs)) this.#unlisted.delete(number);
    }
  }

  /** Changes whenever a token may have come to be listed. */
  get revision(): string {
    const { catalog, feed } = this.#parts;
    const caughtUp = feed.partitions().filter(({ isCaughtUp }) => isCaughtUp).length;
    return `${catalog.size}|${this.#listed}|${caughtUp}`;
  }

  /** The partition of the token; null while it is not listed, or its partition is not caught up. */
  subscribe(connection: MarketConnection, token: string, isDumpWanted: boolean): number | null {
    const { catalog, feed } = this.#parts;
    const listing = catalog.listing(token);
    if (listing === undefined) return null;
    const { market, outcome } = listing;
    const snapshot = feed.snapshot(isDumpWanted ? 'book' : 'trades', market.market);
    if (snapshot === null) return null;
    const read = this.#markets.get(market.market) ?? this.#read(market.market, snapshot.partition);
    if (read.readers.size > 0 && !read.readers.has(connection))
      this.#parts.room.countOnce(keptBytes.market);
    read.readers.set(connection, (read.readers.get(connection) ?? 0) | bitOf(outcome));
    if (snapshot.channel === 'book') {
      this.#messages += 1;
      connection.send(bookMessage(new ShownBook(market, snapshot), outcome));
    }
    return read.partition;
  }

  unsubscribe(connection: MarketConnection, token: string): void {
    const listing = this.#parts.catalog.listing(token);
    const read = listing === undefined ? undefined : this.#markets.get(listing.market.market);
    if (listing === undefined || read === undefined) return;
    const left = (read.readers.get(connection) ?? 0) & ~bitOf(listing.outcome);
    if (left !== 0) read.readers.set(connection, left);
    else this.#forget(connection, read);
  }

  setCustomFeatures(connection: MarketConnection, isOn: boolean): void {
    if (isOn) this.#customReaders.add(connection);
    else this.#customReaders.delete(connection);
  }

  #forget(connection: MarketConnection, read: ReadMarket): void {
    read.readers.delete(connection);
    if (read.readers.size === 0) this.#markets.delete(read.number);
    else this.#parts.room.countOnce(-keptBytes.market);
  }

  #read(number: number, partition: number): ReadMarket {
    const rules = this.#parts.feed.snapshot('markets', number);
    const tick = rules?.channel === 'markets' ? rules.rules.tick : 0;
    const read = { number, partition, readers: new Map(), tick, best: this.#bestOf(number) };
    this.#markets.set(number, read);
    return read;
  }

  #bestOf(number: number): TokenBest {
    const best = this.#parts.feed.snapshot('best', number);
    return best?.channel === 'best' ? { bid: best.bid, ask: best.ask } : { bid: 0, ask: 0 };
  }

  /** Sends what a record changed: levels, trades, whole books after trades, best prices, rules. */
  #publish(number: number, changes: readonly FeedChange[]): void {
    const read = this.#markets.get(number);
    const { catalog, feed } = this.#parts;
    const market = catalog.market(number);
    const snapshot = feed.snapshot('book', number);
    if (read === undefined || market === undefined || snapshot?.channel !== 'book') return;
    const book = new ShownBook(market, snapshot);
    const best = shownBest(this.#bestOf(number));
    let isTraded = false;
    for (const change of changes) {
      if (change.channel !== 'book') continue;
      const { levels, at } = change;
      const changed = { levels, best, timeMs: at.timeMs };
      this.#send(read, priceChangeMessage({ market, book }, changed));
    }
    for (const change of changes) {
      if (change.channel !== 'trades') continue;
      isTraded = true;
      for (const trade of tradesOfFill(change.fill))
        this.#sendToken(read, trade.outcome, () => lastTradeMessage(change, market, trade));
    }
    if (isTraded) this.#sendBoth(read, (outcome) => bookMessage(book, outcome));
    this.#publishRest(read, market, changes);
  }

  #publishRest(read: ReadMarket, market: Market, changes: readonly FeedChange[]): void {
    for (const change of changes) {
      if (change.channel === 'best') {
        const { bid, ask } = change;
        const isSame = bid === read.best.bid && ask === read.best.ask;
        read.best = { bid, ask };
        if (!isSame)
          this.#sendBoth(read, (outcome) => bestMessage(change, market, outcome), 'custom');
      }
      if (change.channel === 'markets') this.#publishRules(read, market, change);
    }
  }

  #publishRules(read: ReadMarket, market: Market, { rules, action, at }: RulesChange): void {
    const { timeMs } = at;
    const old = read.tick;
    read.tick = rules.tick;
    if (old !== rules.tick) {
      const change = { old, tick: rules.tick, timeMs };
      this.#sendBoth(read, (outcome) => tickSizeMessage(change, market, outcome));
    }
    if (action !== 'resolved' || rules.payout0 === null) return;
    const resolution = { payout0: rules.payout0, timeMs };
    this.#send(read, marketResolvedMessage(market, this.#parts.catalog, resolution), 'custom');
  }

  #announce({ market, at }: RulesChange): void {
    this.#listed += 1;
    if (this.#customReaders.size === 0 || this.#announceListed(market, at.timeMs)) return;
    if (this.#unlisted.size < unlistedMax) this.#unlisted.set(market, at.timeMs);
  }

  #announceListed(number: number, timeMs: number): boolean {
    const { catalog } = this.#parts;
    const market = catalog.market(number);
    if (market === undefined || catalog.event(market.eventId) === undefined) return false;
    const message = newMarketMessage(market, catalog, timeMs);
    this.#messages += 1;
    for (const connection of [...this.#customReaders]) connection.send(message);
    return true;
  }

  #send(read: ReadMarket, message: SharedMessage, readers: 'all' | 'custom' = 'all'): void {
    this.#messages += 1;
    for (const connection of [...read.readers.keys()]) {
      if (readers === 'all' || this.#customReaders.has(connection)) connection.send(message);
    }
  }

  #sendBoth(
    read: ReadMarket,
    render: (outcome: Outcome) => SharedMessage,
    readers: 'all' | 'custom' = 'all',
  ): void {
    for (const outcome of outcomes) this.#sendToken(read, outcome, () => render(outcome), readers);
  }

  #sendToken(
    read: ReadMarket,
    outcome: Outcome,
    render: () => SharedMessage,
    readers: 'all' | 'custom' = 'all',
  ): void {
    let message: SharedMessage | null = null;
    for (const [connection, bits] of [...read.readers]) {
      if ((bits & bitOf(outcome)) === 0) continue;
      if (readers === 'custom' && !this.#customReaders.has(connection)) continue;
      if (message === null) {
        message = render();
        this.#messages += 1;
      }
      connection.send(message);
    }
  }
}

/** A token counts with its market. */
const bytesOf = (token: string): number => keptBytes.token + textBytes(token) + keptBytes.market;

/** One connection of `/ws/market`. */
class MarketConnection implements FamilyReader, FamilyConnection, StartTask {
  readonly #parts: FamilyParts;
  readonly #stream: MarketStream;
  readonly onClosed: FamilyConnection['onClosed'];
  readonly #socket: FamilySocket;
  /** Tokens that are sent, with their partitions. */
  readonly #tokens = new Map<string, number>();
  /** Tokens whose turn has not come, with whether their books are wanted. */
  readonly #waiting = new Map<string, boolean>();
  /** Tokens that were not listed at their turn, with whether their books are wanted. */
  readonly #unlisted = new Map<string, boolean>();
  readonly #share: RoomShare;
  #revision = '';
  #isParked = false;

  constructor(
    socket: StreamSocket,
    parts: FamilyParts,
    { stream, address, onClosed }: Opened & { readonly stream: MarketStream },
  ) {
    this.#parts = parts;
    this.#stream = stream;
    this.onClosed = onClosed;
    this.#share = parts.room.share(address);
    this.#socket = new FamilySocket(socket, parts, this);
  }

  get subscriptions(): number {
    return this.#tokens.size + this.#waiting.size + this.#unlisted.size;
  }

  reads(partition: number): boolean {
    for (const one of this.#tokens.values()) if (one === partition) return true;
    return false;
  }

  close(name: StreamCloseName): void {
    this.#socket.close(name);
  }

  tick(): void {
    if (this.#socket.tick()) this.#retry();
  }

  send(message: SharedMessage): void {
    this.#socket.send(message);
  }

  ended(reason: StreamCloseName | 'left'): void {
    this.#parts.openings.remove(this);
    this.#waiting.clear();
    this.#unlisted.clear();
    for (const token of this.#tokens.keys()) this.#stream.unsubscribe(this, token);
    this.#stream.setCustomFeatures(this, false);
    this.#share.close();
    this.onClosed(this, reason);
  }

  take(object: object): boolean {
    const frame = readMarketFrame(object);
    if (frame === null) return false;
    if (frame.customFeatures !== null) this.#stream.setCustomFeatures(this, frame.customFeatures);
    const { catalog } = this.#parts;
    const named = frame.markets.flatMap((id) => catalog.byCondition(id)?.tokens ?? []);
    const tokens = [...frame.tokens, ...named];
    if (frame.action === 'subscribe') this.#subscribe(tokens, frame.isDumpWanted);
    else for (const token of tokens) this.#unsubscribe(token);
    this.#socket.noteSubscribed(this.subscriptions > 0);
    return true;
  }

  /** Subscribes the next token that waits, as far as the reader keeps up. */
  step(): boolean {
    const [next] = this.#waiting;
    if (next === undefined || this.#isParked || this.#socket.isClosed) return false;
    if (this.#socket.isBusy) {
      this.#park();
      return false;
    }
    this.#waiting.delete(next[0]);
    this.#begin(...next);
    return this.#waiting.size > 0;
  }

  #begin(token: string, isDumpWanted: boolean): void {
    const partition = this.#stream.subscribe(this, token, isDumpWanted);
    // The book may be what ends the connection.
    if (this.#socket.isClosed) this.#stream.unsubscribe(this, token);
    else if (partition === null) this.#unlisted.set(token, isDumpWanted);
    else this.#tokens.set(token, partition);
  }

  /** Tokens that are subscribed already stay as they are: a second frame with them sends no book. */
  #subscribe(tokens: readonly string[], isDumpWanted: boolean): void {
    const added = [...new Set(tokens)].filter(
      (token) =>
        !this.#tokens.has(token) && !this.#waiting.has(token) && !this.#unlisted.has(token),
    );
    const isTooMany = this.subscriptions + added.length > streamLimits.subscriptions_per_connection;
    const addedBytes = added.reduce((sum, token) => sum + bytesOf(token), 0);
    const refusal = isTooMany ? 'too_many_subscriptions' : this.#share.take(addedBytes);
    if (refusal !== null) {
      this.#socket.sendError(streamErrors[refusal].message);
      return;
    }
    this.#revision = this.#stream.revision;
    // Without a book a token costs nothing.
    for (const token of added) {
      if (isDumpWanted) this.#waiting.set(token, true);
      else this.#begin(token, false);
    }
    if (this.#waiting.size > 0) this.#parts.openings.add(this);
  }

  #unsubscribe(token: string): void {
    const isSent = this.#tokens.delete(token);
    if (isSent) this.#stream.unsubscribe(this, token);
    if (isSent || this.#waiting.delete(token) || this.#unlisted.delete(token))
      this.#share.giveBack(bytesOf(token));
  }

  /** Tokens that were not listed have their turn again once something was. */
  #retry(): void {
    const { revision } = this.#stream;
    if (this.#unlisted.size === 0 || revision === this.#revision) return;
    this.#revision = revision;
    for (const [token, isDumpWanted] of this.#unlisted) this.#waiting.set(token, isDumpWanted);
    this.#unlisted.clear();
    this.#parts.openings.add(this);
  }

  #park(): void {
    this.#isParked = true;
    this.#socket.whenDrained(() => {
      this.#isParked = false;
      this.#parts.openings.add(this);
    });
  }
}

import type { HeldComment } from '@pm/domain/comments/threads';
import { type StreamCloseName, streamErrors } from '@pm/schemas/streams/codes';
import { streamLimits } from '@pm/schemas/streams/limits';
import type { FeedRecord } from '../feed/feed.io.ts';
import { keptBytes, type RoomShare } from '../protocol/connection-memory-budget.ts';
import type { StreamSocket } from '../protocol/stream-socket.io.ts';
import type { FamilyConnection, FamilyParts, Opened } from './family-connection.io.ts';
import { type FamilyReader, FamilySocket } from './family-socket.io.ts';
import { bodyFor, commentEvent, type LiveEvent, tradeEvent } from './live-messages.ts';
import { anyType, type LiveSubscription } from './live-subscription.ts';
import { type SharedMessage, sharedMessage } from './market-messages.ts';
import { readLiveFrame } from './read-family-frame.ts';

/** All connections of `/ws/live-data`. */
export class LiveStream {
  readonly #parts: FamilyParts;
  readonly #connections = new Set<LiveConnection>();
  /** Connections by what their subscriptions ask for: a trade is compared with few of them. */
  readonly #wanted = new Map<string, Map<LiveConnection, number>>();
  #messages = 0;

  constructor(parts: FamilyParts) {
    this.#parts = parts;
  }

  get messages(): number {
    return this.#messages;
  }

  open(socket: StreamSocket, { address, onClosed }: Opened): FamilyConnection {
    const connection: LiveConnection = new LiveConnection(socket, this.#parts, {
      stream: this,
      address,
      onClosed: (_, reason) => {
        this.#connections.delete(connection);
        onClosed(connection, reason);
      },
    });
    this.#connections.add(connection);
    return connection;
  }

  add(connection: LiveConnection, subscription: LiveSubscription): void {
    const key = wantedKey(subscription);
    const readers = this.#wanted.get(key) ?? new Map<LiveConnection, number>();
    this.#wanted.set(key, readers);
    readers.set(connection, (readers.get(connection) ?? 0) + 1);
  }

  remove(connection: LiveConnection, subscription: LiveSubscription): void {
    const key = wantedKey(subscription);
    const readers = this.#wanted.get(key);
    if (readers === undefined) return;
    const left = (readers.get(connection) ?? 1) - 1;
    if (left > 0) readers.set(connection, left);
    else readers.delete(connection);
    if (readers.size === 0) this.#wanted.delete(key);
  }

  record({ changes }: FeedRecord): void {
    if (this.#connections.size === 0) return;
    for (const change of changes) {
      if (change.channel !== 'activity') continue;
      const event = tradeEvent(change, this.#parts);
      if (event !== null) this.#publish(event);
    }
  }

  comment(comment: HeldComment): void {
    if (this.#connections.size > 0) this.#publish(commentEvent(comment, this.#parts));
  }

  #readersOf({ topic, facts }: LiveEvent): ReadonlySet<LiveConnection> {
    const readers = new Set<LiveConnection>();
    for (const key of [topic, ...facts])
      for (const connection of this.#wanted.get(key)?.keys() ?? []) readers.add(connection);
    return readers;
  }

  #publish(event: LiveEvent): void {
    const messages = new Map<LiveEvent['bodies'][number], SharedMessage>();
    for (const connection of this.#readersOf(event)) {
      for (const body of connection.bodiesOf(event)) {
        const known = messages.get(body);
        const message = known ?? sharedMessage(body);
        if (known === undefined) this.#messages += 1;
        messages.set(body, message);
        connection.send(message);
      }
    }
  }
}

/** The first filter, or the topic of a subscription without one. */
const wantedKey = ({ topic, filters }: LiveSubscription): string => filters[0] ?? topic;

/** One connection of `/ws/live-data`. */
class LiveConnection implements FamilyReader, FamilyConnection {
  readonly #stream: LiveStream;
  readonly onClosed: FamilyConnection['onClosed'];
  readonly #socket: FamilySocket;
  readonly #byName = new Map<string, LiveSubscription>();
  readonly #share: RoomShare;

  constructor(
    socket: StreamSocket,
    parts: FamilyParts,
    { stream, address, onClosed }: Opened & { readonly stream: LiveStream },
  ) {
    this.#stream = stream;
    this.#share = parts.room.share(address);
    this.onClosed = onClosed;
    this.#socket = new FamilySocket(socket, parts, this);
  }

  get subscriptions(): number {
    return this.#byName.size;
  }

  /** Trades come from every partition. */
  reads(): boolean {
    return [...this.#byName.values()].some(({ topic }) => topic === 'activity');
  }

  /** Bodies of an event that the subscriptions of this connection get, each body once. */
  bodiesOf(event: LiveEvent): ReadonlySet<LiveEvent['bodies'][number]> {
    const bodies = new Set<LiveEvent['bodies'][number]>();
    for (const subscription of this.#byName.values()) {
      const body = bodyFor(event, subscription);
      if (body !== null) bodies.add(body);
    }
    return bodies;
  }

  close(name: StreamCloseName): void {
    this.#socket.close(name);
  }

  tick(): void {
    this.#socket.tick();
  }

  send(message: SharedMessage): void {
    this.#socket.send(message);
  }

  ended(reason: StreamCloseName | 'left'): void {
    for (const subscription of this.#byName.values()) this.#stream.remove(this, subscription);
    this.#share.close();
    this.onClosed(this, reason);
  }

  take(object: object): boolean {
    const frame = readLiveFrame(object);
    if (frame === null) return false;
    // In one frame: hundreds of them would cost more than the frame that they answer.
    if (frame.refusals.size > 0) this.#socket.sendError([...frame.refusals].join('; '));
    for (const one of frame.subscriptions) {
      if (frame.action === 'unsubscribe') this.#remove(one);
      else if (!this.#add(one)) break;
    }
    this.#socket.noteSubscribed(this.#byName.size > 0);
    return true;
  }

  #add(subscription: LiveSubscription): boolean {
    const name = nameOf(subscription);
    const max = streamLimits.live_subscriptions_per_connection;
    if (this.#byName.has(name)) return true;
    const isTooMany = this.#byName.size >= max;
    const refusal = isTooMany
      ? 'too_many_subscriptions'
      : this.#share.take(keptBytes.liveSubscription);
    if (refusal !== null) {
      this.#socket.sendError(streamErrors[refusal].message);
      return false;
    }
    this.#byName.set(name, subscription);
    this.#stream.add(this, subscription);
    return true;
  }

  /** Without filters all of the topic and type. */
  #remove({ topic, type, filters }: LiveSubscription): void {
    const exact = nameOf({ topic, type, filters });
    for (const [name, known] of [...this.#byName]) {
      const isNamed = known.topic === topic && (type === anyType || known.type === type);
      if (name !== exact && (filters.length > 0 || !isNamed)) continue;
      this.#byName.delete(name);
      this.#stream.remove(this, known);
      this.#share.giveBack(keptBytes.liveSubscription);
    }
  }
}

const nameOf = ({ topic, type, filters }: LiveSubscription): string =>
  [topic, type, ...filters].join(' ');

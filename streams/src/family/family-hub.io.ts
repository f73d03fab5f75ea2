import { streamOf } from '@pm/schemas/streams/channels';
import type { StreamCloseName } from '@pm/schemas/streams/codes';
import { streamHeartbeatMs, streamLagMaxMs } from '@pm/schemas/streams/limits';
import type { FeedListener, FeedRecord } from '../feed/feed.io.ts';
import type { StreamSocket } from '../protocol/stream-socket.io.ts';
import type { FamilyConnection, FamilyParts } from './family-connection.io.ts';
import { LiveStream } from './live-stream.io.ts';
import { MarketStream } from './market-stream.io.ts';
import { UserStream } from './user-stream.io.ts';

/** Counts closed connections by their reason. */
export type CountClosed = (reason: StreamCloseName | 'left') => void;

/** All connections of `/ws/market`, `/ws/user` and `/ws/live-data`. */
export class FamilyHub implements FeedListener {
  readonly #parts: FamilyParts;
  readonly #countClosed: CountClosed;
  readonly #market: MarketStream;
  readonly #user: UserStream;
  readonly #live: LiveStream;
  readonly #connections = new Set<FamilyConnection>();
  readonly #unlisten: readonly (() => void)[];
  readonly #timer: NodeJS.Timeout;

  constructor(parts: FamilyParts, countClosed: CountClosed, tickMs: number = streamHeartbeatMs) {
    this.#parts = parts;
    this.#countClosed = countClosed;
    this.#market = new MarketStream(parts);
    this.#user = new UserStream(parts);
    this.#live = new LiveStream(parts);
    const unlistenComments = parts.listenToComments((comment) => this.#live.comment(comment));
    this.#unlisten = [parts.feed.listen(this), unlistenComments];
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  get connections(): number {
    return this.#connections.size;
  }

  get subscriptions(): number {
    return [...this.#connections].reduce((sum, one) => sum + one.subscriptions, 0);
  }

  /** Messages rendered so far, each for all its readers. */
  get messages(): number {
    return this.#market.messages + this.#user.messages + this.#live.messages;
  }

  /** Takes an opened socket of a path; its address is counted already. */
  add(socket: StreamSocket, address: string, path: string): void {
    const stream = this.#streamOf(path);
    const onClosed: FamilyConnection['onClosed'] = (closed, reason) => {
      this.#connections.delete(closed);
      this.#parts.counts.close(address);
      this.#countClosed(reason);
    };
    const connection = stream.open(socket, { address, onClosed });
    this.#connections.add(connection);
  }

  record(record: FeedRecord): void {
    this.#market.record(record);
    this.#user.record(record);
    this.#live.record(record);
  }

  reset(partition: number): void {
    this.#closeReaders(partition, 'logAway');
  }

  /** Readers of all partitions missed its first records. */
  added(partition: number): void {
    this.#closeReaders(partition, 'shutdown');
  }

  /** Closes each connection, which can be resumed elsewhere, when it is called. */
  leaving(): readonly (() => void)[] {
    return [...this.#connections].map((connection) => () => connection.close('shutdown'));
  }

  /** Closes the connections that are left. */
  close(): void {
    clearInterval(this.#timer);
    for (const unlisten of this.#unlisten) unlisten();
    for (const leave of this.leaving()) leave();
  }

  #streamOf(path: string): MarketStream | UserStream | LiveStream {
    switch (streamOf(path)) {
      case 'user':
        return this.#user;
      case 'live-data':
        return this.#live;
      default:
        return this.#market;
    }
  }

  #tick(): void {
    for (const { partition, faultMs } of this.#parts.feed.partitions()) {
      if (faultMs >= streamLagMaxMs) this.#closeReaders(partition, 'logAway');
    }
    this.#market.tick();
    for (const connection of [...this.#connections]) connection.tick();
  }

  #closeReaders(partition: number, name: StreamCloseName): void {
    for (const connection of [...this.#connections]) {
      if (connection.reads(partition)) connection.close(name);
    }
  }
}

import { randomBytes } from 'node:crypto';
import {
  checksumEvery,
  type StreamCloseName,
  streamHeartbeatMs,
  streamLagMaxMs,
  type WalletAddress,
} from '@pm/schemas';
import type { CommentChange } from '../comments/comment-feed.ts';
import { commentMessage } from '../comments/render-comment.ts';
import type { FeedListener, FeedRecord } from '../feed/feed.io.ts';
import type { OwnState } from '../own/own-states.ts';
import { ownMessage, stateMessage } from '../own/render-own.ts';
import { Connection, type ConnectionParts } from './connection.io.ts';
import { subjects } from './publication.ts';
import { Publications } from './publications.ts';
import type { StreamSocket } from './stream-socket.io.ts';
import { checksumOf } from './subscriptions.io.ts';

export interface HubParts extends Omit<ConnectionParts, 'publications' | 'onClosed'> {
  /** Counts closed connections by their reason. */
  onClosed(reason: StreamCloseName | 'left'): void;
}

/** All connections of `/v1/stream`: delivers records of the log to them, and beats once a second. */
export class StreamHub implements FeedListener {
  readonly #parts: HubParts;
  readonly #publications: Publications;
  readonly #connections = new Set<Connection>();
  readonly #unlisten: readonly (() => void)[];
  readonly #timer: NodeJS.Timeout;

  constructor(parts: HubParts, heartbeatMs: number = streamHeartbeatMs) {
    this.#parts = parts;
    const { catalog } = parts.facts;
    this.#publications = new Publications(parts.facts, (change, { key }) =>
      ownMessage(change, key, catalog),
    );
    const { comments, ownStates, feed } = parts;
    this.#unlisten = [
      feed.listen(this),
      comments.listen((change) => this.#comment(change)),
      ownStates.listen((wallet, state) => this.#ownState(wallet, state)),
    ];
    this.#timer = setInterval(() => this.beat(), heartbeatMs);
  }

  get connections(): number {
    return this.#connections.size;
  }

  get subscriptions(): number {
    return [...this.#connections].reduce((sum, one) => sum + one.subscriptions, 0);
  }

  /** Messages rendered so far, each for all its readers. */
  get messages(): number {
    return this.#publications.messages;
  }

  /** Takes an opened socket; its address is counted already. */
  add(socket: StreamSocket, address: string): void {
    const id = `s-${randomBytes(8).toString('hex')}`;
    const connection = new Connection(
      socket,
      { id, address },
      {
        ...this.#parts,
        publications: this.#publications,
        onClosed: (closed, reason) => {
          this.#connections.delete(closed);
          this.#parts.counts.close(closed.address);
          this.#parts.onClosed(reason);
        },
      },
    );
    this.#connections.add(connection);
  }

  record(record: FeedRecord): void {
    this.#publications.publish(record.changes);
    for (const change of record.changes) {
      if (change.channel === 'book' && change.seq % checksumEvery === 0)
        this.#checksum(change.market);
    }
  }

  reset(partition: number): void {
    this.#publications.reset();
    for (const connection of [...this.#connections])
      if (connection.reads(partition)) connection.closeVoid(partition);
  }

  /** Closes all connections, which can be resumed elsewhere. */
  close(): void {
    clearInterval(this.#timer);
    for (const unlisten of this.#unlisten) unlisten();
    for (const connection of [...this.#connections]) connection.close('shutdown');
  }

  #comment(change: CommentChange): void {
    const { profiles } = this.#parts.facts;
    this.#publications.deliver(subjects.event(change.eventId), (publication) => {
      publication.seq = change.seq;
      return commentMessage(change, publication.key, profiles);
    });
  }

  #ownState(wallet: WalletAddress, state: OwnState): void {
    this.#publications.deliver(subjects.states(wallet), ({ key }) =>
      stateMessage(state, wallet, key),
    );
  }

  #checksum(market: number): void {
    for (const publication of this.#publications.of('book', market)) {
      const message = checksumOf(publication, this.#parts);
      if (message === null) continue;
      for (const subscriber of publication.subscribers) subscriber.deliver(message);
    }
  }

  /** Once a second: heartbeats, and what time brings to an end. */
  beat(): void {
    this.#publications.publishListed();
    const statuses = this.#parts.feed.partitions();
    for (const { partition, faultMs } of statuses) {
      if (faultMs >= streamLagMaxMs) this.#closeReaders(partition);
    }
    const time = this.#parts.clock.nowMs();
    const partitions = statuses.map(({ partition, offset, timeMs, faultMs }) => ({
      partition,
      offset,
      time: timeMs,
      lag_ms: Math.round(faultMs),
    }));
    const lagMs = Math.max(0, ...partitions.map(({ lag_ms }) => lag_ms));
    const shared = { type: 'heartbeat', time, lag_ms: lagMs, partitions };
    const text = JSON.stringify(shared).slice(0, -1);
    for (const connection of [...this.#connections]) connection.tick(text);
  }

  #closeReaders(partition: number): void {
    for (const connection of [...this.#connections]) {
      if (connection.reads(partition)) connection.close('logAway');
    }
  }
}

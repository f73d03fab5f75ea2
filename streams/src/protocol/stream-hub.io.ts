import { randomBytes } from 'node:crypto';
import { parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import type { StreamCloseName } from '@pm/schemas/streams/codes';
import { checksumEvery, streamHeartbeatMs, streamLagMaxMs } from '@pm/schemas/streams/limits';
import type { CommentChange } from '../comments/comment-feed.ts';
import { commentMessage } from '../comments/render-comment.ts';
import type { FeedListener, FeedRecord } from '../feed/feed.io.ts';
import type { OwnState } from '../own/own-states.ts';
import { ownMessage, stateMessage } from '../own/render-own.ts';
import { Connection, type ConnectionParts } from './connection.io.ts';
import { type Publication, subjects } from './publication.ts';
import { Publications } from './publications.ts';
import type { StreamSocket } from './stream-socket.io.ts';
import { checksumOf } from './subscriptions.io.ts';

export interface HubParts extends Omit<ConnectionParts, 'publications' | 'onClosed'> {
  /** Counts closed connections by their reason. */
  onClosed(reason: StreamCloseName | 'left'): void;
}

/** Connections beat in groups, spread over the second: thousands of heartbeats at once would hold up all messages. */
const groupCount = 100;
/** Groups that beat in one turn after a partition has stopped or gone on: all do within a tenth of the interval. */
const hurriedGroups = 10;
/** Such rounds begin at most so often in an interval: partitions that come and go must not fill the connections. */
const hurriesPerInterval = 4;

/** All connections of `/v1/stream`: delivers records of the log to them, and beats once a second. */
export class StreamHub implements FeedListener {
  readonly #parts: HubParts;
  readonly #publications: Publications;
  readonly #connections = new Set<Connection>();
  /** To be closed in the turns of their groups: they do not have a partition that was added. */
  readonly #outgrown = new Set<Connection>();
  readonly #unlisten: readonly (() => void)[];
  #timer: NodeJS.Timeout | undefined;
  /** The connections, in groups of about the same size. */
  readonly #groups = Array.from({ length: groupCount }, () => new Set<Connection>());
  readonly #groupMs: number;
  #isOver = false;
  #added = 0;
  #turn = 0;
  /** Partitions that were not live when the newest round out of turn began. */
  #still = '';
  /** Groups that are yet to beat out of turn. */
  #hurried = 0;
  /** Until then no other such round begins. */
  #calmUntilMs = 0;
  /** When the next group has its turn. */
  #dueMs: number;

  constructor(parts: HubParts, heartbeatMs: number = streamHeartbeatMs) {
    this.#parts = parts;
    const { catalog } = parts.facts;
    this.#publications = new Publications(parts.facts, {
      renderOwn: (change, { key }) => ownMessage(change, key, catalog),
      room: parts.room,
      onForgotten: ({ name, numbering }) => this.#forgetStates(name, numbering),
    });
    const { comments, ownStates, feed } = parts;
    this.#unlisten = [
      feed.listen(this),
      comments.listen((change) => this.#comment(change)),
      ownStates.listen((wallet, state) => this.#ownState(wallet, state)),
    ];
    this.#groupMs = heartbeatMs / groupCount;
    this.#dueMs = parts.clock.monotonicMs() + this.#groupMs;
    this.#pace();
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
    const group = this.#groups[this.#added % groupCount] ?? new Set();
    this.#added += 1;
    const connection = new Connection(
      socket,
      { id, address },
      {
        ...this.#parts,
        publications: this.#publications,
        onClosed: (closed, reason) => {
          this.#connections.delete(closed);
          this.#outgrown.delete(closed);
          group.delete(closed);
          if (this.#connections.size === 0) this.#pace();
          this.#parts.counts.close(closed.address);
          this.#parts.onClosed(reason);
        },
      },
    );
    this.#connections.add(connection);
    group.add(connection);
    if (this.#connections.size === 1) this.#pace();
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

  /** Readers of all partitions subscribe again, which gives them this one too; they are closed within an interval. */
  added(): void {
    for (const connection of this.#connections)
      if (connection.readsAll) this.#outgrown.add(connection);
  }

  /** Closes each connection, which can be resumed elsewhere, when it is called. */
  leaving(): readonly (() => void)[] {
    return [...this.#connections].map((connection) => () => connection.close('shutdown'));
  }

  /** Closes the connections that are left. */
  close(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    for (const unlisten of this.#unlisten) unlisten();
    for (const leave of this.leaving()) leave();
  }

  /** Without a connection all groups have their turns together, once in the interval: a hundred wake-ups less. */
  #pace(): void {
    clearInterval(this.#timer);
    if (this.#isOver) return;
    const everyMs = this.#connections.size === 0 ? groupCount * this.#groupMs : this.#groupMs;
    this.#timer = setInterval(() => this.#beatDue(), everyMs);
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

  /**
   * Forgets the states of a wallet whose publication has no readers: within `own` only the states outside of partitions
   * have no numbers.
   */
  #forgetStates(name: string, numbering: Publication['numbering']): void {
    const wallet = numbering === 'none' ? parseWalletAddress(name) : null;
    if (wallet !== null) this.#parts.ownStates.forget(wallet);
  }

  #checksum(market: number): void {
    for (const publication of this.#publications.of('book', market)) {
      const message = checksumOf(publication, this.#parts);
      if (message === null) continue;
      for (const subscriber of publication.subscribers) subscriber.deliver(message);
    }
  }

  /** Heartbeats of all connections, and what time brings to an end; each group has its turn once a second. */
  beat(): void {
    for (const _ of this.#groups) this.#beatGroup();
  }

  /** A timer that was late has several turns to make up for, and none twice. */
  #beatDue(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    for (let count = 0; count < groupCount && this.#dueMs <= nowMs; count += 1) {
      this.#dueMs += this.#groupMs;
      this.#beatGroup();
    }
    if (this.#dueMs <= nowMs) this.#dueMs = nowMs + this.#groupMs;
    for (let count = 0; count < hurriedGroups && this.#hurried > 0; count += 1) {
      this.#hurried -= 1;
      this.#beatGroup();
    }
  }

  #beatGroup(): void {
    if (this.#turn === 0) this.#watch();
    if (this.#turn % hurriedGroups === 0) this.#hurryIfChanged();
    const group = this.#groups[this.#turn] ?? new Set();
    this.#turn = (this.#turn + 1) % groupCount;
    if (group.size === 0) return;
    const text = this.#heartbeat();
    for (const connection of [...group]) {
      if (this.#outgrown.has(connection)) connection.close('shutdown');
      else connection.tick(text);
    }
  }

  /** Readers learn at once that a partition has stopped, or goes on: heartbeats that say so do not wait. */
  #hurryIfChanged(): void {
    const still = this.#parts.feed
      .partitions()
      .filter(({ isLive }) => !isLive)
      .map(({ partition }) => partition)
      .join();
    const nowMs = this.#parts.clock.monotonicMs();
    if (still === this.#still || nowMs < this.#calmUntilMs) return;
    this.#still = still;
    this.#calmUntilMs = nowMs + (groupCount * this.#groupMs) / hurriesPerInterval;
    this.#hurried = groupCount;
  }

  #watch(): void {
    this.#publications.publishListed();
    for (const { partition, faultMs } of this.#parts.feed.partitions())
      if (faultMs >= streamLagMaxMs) this.#closeReaders(partition);
  }

  /** The beginning of the frame, which is the same for all. */
  #heartbeat(): string {
    const time = this.#parts.clock.nowMs();
    const partitions = this.#parts.feed
      .partitions()
      .map(({ partition, offset, timeMs, faultMs, isLive }) => ({
        partition,
        offset,
        time: timeMs,
        lag_ms: Math.round(faultMs),
        live: isLive,
      }));
    const lagMs = Math.max(0, ...partitions.map(({ lag_ms }) => lag_ms));
    return JSON.stringify({ type: 'heartbeat', time, lag_ms: lagMs, partitions }).slice(0, -1);
  }

  #closeReaders(partition: number): void {
    for (const connection of [...this.#connections]) {
      if (connection.reads(partition)) connection.close('logAway');
    }
  }
}

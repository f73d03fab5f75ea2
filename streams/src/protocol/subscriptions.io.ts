import type { WalletAddress } from '@pm/schemas/ids';
import type { SubscribeFrame, UnsubscribeFrame } from '@pm/schemas/streams/client-frames';
import type { StreamErrorCode } from '@pm/schemas/streams/codes';
import { streamLimits } from '@pm/schemas/streams/limits';
import type { SubscribedFrame, SubscriptionSeq } from '@pm/schemas/streams/server-frames';
import type { CommentFeed } from '../comments/comment-feed.ts';
import type { OwnStates } from '../own/own-states.ts';
import {
  type ConnectionMemoryBudget,
  keptBytes,
  type RoomShare,
} from './connection-memory-budget.ts';
import type { Message } from './message.ts';
import { PendingMessages } from './pending-messages.io.ts';
import { allMarkets, type Publication } from './publication.ts';
import type { Publications } from './publications.ts';
import { bookChecksum } from './render-book.ts';
import type { Replayer } from './replay-places.ts';
import type { QueuedTotal, StreamWriter } from './stream-writer.io.ts';
import { type Opening, openingsOf } from './subscribe.io.ts';
import { Subscription, type SubscriptionOwner } from './subscription.io.ts';
import { SubscriptionStarter, type SubscriptionStarterParts } from './subscription-starter.io.ts';
import { type StreamFeed, targetsOf } from './targets.io.ts';

/** Data sources and limits that subscriptions use. */
export interface SubscriptionParts extends SubscriptionStarterParts {
  readonly room: ConnectionMemoryBudget;
  readonly queued: QueuedTotal;
  readonly feed: StreamFeed;
  readonly comments: CommentFeed;
  readonly ownStates: OwnStates;
  readonly publications: Publications;
}

/** The connection that subscribes. */
export interface SubscriptionsOwner {
  readonly replayer: Replayer;
  readonly writer: StreamWriter;
  /** The log does not give what a frame asked for; the subscription has ended. */
  failed(frameId: number, code: StreamErrorCode): void;
}

type Keys = SubscribedFrame['keys'];

/** A subscription counts with its key. */
const subscriptionBytes = keptBytes.subscription + keptBytes.publication;

/** The keys that one connection reads. A frame succeeds as a whole or changes nothing. */
export class Subscriptions {
  readonly #parts: SubscriptionParts;
  readonly #writer: StreamWriter;
  readonly #byId = new Map<string, Subscription>();
  readonly #pending: PendingMessages;
  /** Parts of the connection that all its subscriptions share. */
  readonly #owner: SubscriptionOwner;
  readonly #beginnings: SubscriptionStarter;
  readonly #share: RoomShare;

  constructor(parts: SubscriptionParts, { replayer, writer, failed }: SubscriptionsOwner) {
    this.#parts = parts;
    this.#writer = writer;
    this.#share = parts.room.share(replayer.address);
    this.#pending = new PendingMessages(writer, parts.queued);
    this.#owner = { writer, pending: this.#pending };
    this.#beginnings = new SubscriptionStarter(parts, {
      replayer,
      writer,
      pending: this.#pending,
      checksum: ({ publication }) => checksumOf(publication, parts),
      failed: (subscription, code) => {
        this.#end(subscription);
        failed(subscription.frameId, code);
      },
    });
  }

  /** Once a second. */
  tick(): void {
    this.#beginnings.tick();
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Whether something of a partition is read. */
  reads(partition: number): boolean {
    for (const { publication } of this.#byId.values())
      if (publication.partition === partition) return true;
    return false;
  }

  /** Whether one of them is to have all partitions. */
  get readsAll(): boolean {
    for (const { publication } of this.#byId.values()) if (isByPartition(publication)) return true;
    return false;
  }

  /** Begins the subscriptions of a frame; they are sent as the reader takes them. */
  add(frame: SubscribeFrame, wallet: WalletAddress | null): StreamErrorCode | null {
    const targets = targetsOf(frame, this.#parts, wallet);
    if (typeof targets === 'string') return targets;
    const added = targets.filter(({ publication }) => !this.#byId.has(publication.id));
    if (this.#byId.size + added.length > streamLimits.subscriptions_per_connection) {
      return 'too_many_subscriptions';
    }
    const openings = openingsOf(targets, frame);
    if (typeof openings === 'string') return openings;
    const refusal = this.#share.take(added.length * subscriptionBytes);
    if (refusal !== null) return refusal;
    const keys = openings
      .filter(({ target }) => isNumbered(target))
      .map(({ target, seq }) => ({
        ...keyFields(target.publication),
        seq,
      }));
    const opened = openings.map((opening) => this.#open(opening, frame.id));
    this.#writer.answer({ type: 'subscribed', id: frame.id, channel: frame.channel, keys });
    this.#beginnings.add(opened);
    return null;
  }

  /** Ends the subscriptions of a frame; their keys with the newest message of each. */
  end(frame: UnsubscribeFrame, wallet: WalletAddress | null): Keys | StreamErrorCode {
    const ended = this.#named(frame, wallet);
    if (typeof ended === 'string') return ended;
    for (const subscription of ended) this.#end(subscription);
    return ended.filter(isNumbered).map(({ publication, sentSeq }) => ({
      ...keyFields(publication),
      seq: sentSeq ?? 0,
    }));
  }

  endAll(): void {
    this.#beginnings.close();
    for (const subscription of [...this.#byId.values()]) this.#end(subscription);
  }

  /** Sends the checksums of subscribed books in turn; null when all will be. */
  sendChecksums(tokens: string[]): StreamErrorCode | null {
    const named = this.#named({ op: 'unsubscribe', id: 0, channel: 'book', tokens }, null);
    if (typeof named === 'string') return named;
    const isReady = ({ publication, phase }: Subscription) =>
      phase === 'live' && this.#parts.feed.seqOf('book', publication.market) !== null;
    if (!named.every(isReady)) return 'unavailable';
    this.#beginnings.addChecksums(named);
    return null;
  }

  /** The newest message of each subscription that was sent, as JSON; 0 before the first. */
  positions(): string {
    const positions: string[] = [];
    for (const { publication, sentSeq, phase } of this.#byId.values()) {
      if (publication.numbering === 'none') continue;
      const end = phase === 'live' ? '}' : ',"waiting":true}';
      positions.push(`${publication.head}${sentSeq ?? 0}${end}`);
    }
    return positions.join(',');
  }

  /** Numbers of a partition may mean something else from now on: nobody can go on from them. */
  voidPositions(partition: number): void {
    for (const subscription of this.#byId.values())
      if (subscription.publication.partition === partition) subscription.sentSeq = null;
  }

  /** Newest sent positions, from which another connection can resume the subscriptions. */
  resumable(): readonly SubscriptionSeq[] {
    const found: SubscriptionSeq[] = [];
    for (const { publication, sentSeq } of this.#byId.values()) {
      if (publication.numbering !== 'own' || sentSeq === null) continue;
      found.push({ channel: publication.channel, ...keyFields(publication), seq: sentSeq });
    }
    return found;
  }

  #open(opening: Opening, frameId: number): Subscription {
    const { target, seq } = opening;
    const known = this.#byId.get(target.publication.id);
    if (known !== undefined) this.#drop(known);
    const made = { ...target.publication, seq, beginner: target };
    const publication = this.#parts.publications.open(made);
    const subscription = new Subscription(publication, opening, { frameId, owner: this.#owner });
    this.#byId.set(publication.id, subscription);
    publication.subscribers.add(subscription);
    return subscription;
  }

  #named(
    frame: UnsubscribeFrame,
    wallet: WalletAddress | null,
  ): readonly Subscription[] | StreamErrorCode {
    if (frame.tokens === undefined && frame.markets === undefined && frame.events === undefined) {
      const all = [...this.#byId.values()];
      return all.filter(({ publication }) => publication.channel === frame.channel);
    }
    const targets = targetsOf(frame, this.#parts, wallet);
    if (typeof targets === 'string') return targets;
    const found = targets.map(({ publication }) => this.#byId.get(publication.id));
    const known = found.filter((one) => one !== undefined);
    return known.length === targets.length ? known : 'not_subscribed';
  }

  #end(subscription: Subscription): void {
    this.#drop(subscription);
    this.#share.giveBack(subscriptionBytes);
  }

  #drop(subscription: Subscription): void {
    const { publication } = subscription;
    subscription.isEnded = true;
    this.#byId.delete(publication.id);
    publication.subscribers.delete(subscription);
    this.#parts.publications.release(publication);
    this.#beginnings.forget(subscription);
    this.#pending.drop(subscription);
    this.#writer.forget(subscription);
  }
}

type Keyed = Pick<Publication, 'channel' | 'name' | 'numbering' | 'partition'>;

const isNumbered = ({ publication }: { readonly publication: Keyed }): boolean =>
  publication.numbering !== 'none';

const isByPartition = ({ channel, name }: Pick<Keyed, 'channel' | 'name'>): boolean =>
  channel === 'own' || name === allMarkets;

function keyFields({ channel, name, partition }: Keyed) {
  return isByPartition({ channel, name }) ? { key: name, partition } : { key: name };
}

/** The checksum of a book as it is now; null while its partition is not caught up. */
export function checksumOf(
  { key, market }: Publication,
  { feed, facts }: Pick<SubscriptionParts, 'feed' | 'facts'>,
): Message | null {
  const snapshot = feed.snapshot('book', market);
  const listed = facts.catalog.market(market);
  if (snapshot?.channel !== 'book' || listed === undefined) return null;
  const { seq, partition, offset, timeMs } = snapshot;
  const bytes = Buffer.from(bookChecksum(snapshot, key, listed.negRisk));
  const at = { partition, offset, index: -1, timeMs };
  return { seq, prev: seq, at, key, bytes, content: null, isChecksum: true };
}

import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import {
  type StreamErrorCode,
  type SubscribedFrame,
  type SubscribeFrame,
  type SubscriptionSeq,
  streamLimits,
  type UnsubscribeFrame,
  type WalletAddress,
} from '@pm/schemas';
import type { CommentFeed } from '../comments/comment-feed.ts';
import type { OwnStates } from '../own/own-states.ts';
import type { FirstMessages, Message } from './message.ts';
import type { Publication, RenderFacts, Subscriber } from './publication.ts';
import type { Publications } from './publications.ts';
import { bookChecksum } from './render-book.ts';
import { renderReplayed } from './replayed.ts';
import type { StreamWriter } from './stream-writer.io.ts';
import { type Beginning, beginAll, type Opening, type Subscription } from './subscribe.io.ts';
import { allMarkets, type StreamFeed, targetsOf } from './targets.io.ts';

/** What subscriptions are made of. */
export interface SubscriptionParts {
  readonly feed: StreamFeed;
  readonly facts: RenderFacts;
  readonly comments: CommentFeed;
  readonly ownStates: OwnStates;
  readonly publications: Publications;
  readonly log: Log;
}

type Keys = SubscribedFrame['keys'];

/** The keys that one connection reads. A frame succeeds as a whole or changes nothing. */
export class Subscriptions implements Subscriber {
  readonly #parts: SubscriptionParts;
  readonly #writer: StreamWriter;
  readonly #byId = new Map<string, Subscription>();

  constructor(parts: SubscriptionParts, writer: StreamWriter) {
    this.#parts = parts;
    this.#writer = writer;
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

  /** A live message; it waits while its subscription is being resumed. */
  deliver(message: Message, publication: Publication): void {
    const subscription = this.#byId.get(publication.id);
    if (subscription === undefined) return;
    if (subscription.pending === null) {
      this.#writer.send(message, subscription);
      return;
    }
    subscription.pending.push(message);
    subscription.pendingBytes += message.bytes.length;
    if (subscription.pendingBytes > streamLimits.queue_bytes) this.#writer.overflow();
  }

  /**
   * Begins the subscriptions of a frame. `failed` is called if the log turns out not to give what was missed; the
   * subscription has ended then.
   */
  add(
    frame: SubscribeFrame,
    wallet: WalletAddress | null,
    failed: (code: StreamErrorCode) => void,
  ): StreamErrorCode | null {
    const targets = targetsOf(frame, this.#parts, wallet);
    if (typeof targets === 'string') return targets;
    const added = targets.filter(({ publication }) => !this.#byId.has(publication.id));
    if (this.#byId.size + added.length > streamLimits.subscriptions_per_connection) {
      return 'too_many_subscriptions';
    }
    const openings = beginAll(targets, frame);
    if (typeof openings === 'string') return openings;
    const opened = openings.map((opening) => ({ opening, subscription: this.#open(opening) }));
    const keys = opened
      .filter(({ subscription }) => isNumbered(subscription))
      .map(({ opening: { beginning }, subscription: { publication } }) => ({
        ...keyFields(publication),
        seq: firstSeq(beginning),
      }));
    this.#writer.answer({ type: 'subscribed', id: frame.id, channel: frame.channel, keys });
    for (const { opening, subscription } of opened) {
      this.#begin(opening.beginning, subscription, failed);
    }
    return null;
  }

  /** Ends the subscriptions of a frame; their keys with the newest message of each. */
  end(frame: UnsubscribeFrame, wallet: WalletAddress | null): Keys | StreamErrorCode {
    const ended = this.#named(frame, wallet);
    if (typeof ended === 'string') return ended;
    for (const subscription of ended) this.#drop(subscription);
    return ended.filter(isNumbered).map(({ publication, sentSeq }) => ({
      ...keyFields(publication),
      seq: sentSeq ?? 0,
    }));
  }

  endAll(): void {
    for (const subscription of [...this.#byId.values()]) this.#drop(subscription);
  }

  /** Sends the checksums of subscribed books; null when all are sent. */
  sendChecksums(tokens: string[]): StreamErrorCode | null {
    const named = this.#named({ op: 'unsubscribe', id: 0, channel: 'book', tokens }, null);
    if (typeof named === 'string') return named;
    const messages = named.flatMap((subscription) => {
      const message = checksumOf(subscription.publication, this.#parts);
      return message === null || subscription.pending !== null ? [] : [{ message, subscription }];
    });
    if (messages.length < named.length) return 'unavailable';
    for (const { message, subscription } of messages) this.#writer.send(message, subscription);
    return null;
  }

  /** The newest message of each subscription that was sent; null before the first. */
  positions(): readonly (Omit<SubscriptionSeq, 'seq'> & { readonly seq: number | null })[] {
    return [...this.#byId.values()].filter(isNumbered).map(({ publication, sentSeq }) => ({
      channel: publication.channel,
      ...keyFields(publication),
      seq: sentSeq,
    }));
  }

  /** Those from which another connection can go on. */
  resumable(): readonly SubscriptionSeq[] {
    const found: SubscriptionSeq[] = [];
    for (const { publication, sentSeq } of this.#byId.values()) {
      if (publication.numbering !== 'own' || sentSeq === null) continue;
      found.push({ channel: publication.channel, ...keyFields(publication), seq: sentSeq });
    }
    return found;
  }

  #open({ target, beginning }: Opening): Subscription {
    const known = this.#byId.get(target.publication.id);
    if (known !== undefined) this.#drop(known);
    const isReplay = beginning.kind === 'replay';
    const seq = isReplay ? beginning.replay.toSeq : beginning.first.seq;
    const publication = this.#parts.publications.open({ ...target.publication, seq });
    const isLong = isReplay || beginning.first.messages.length > pageMessages;
    const subscription: Subscription = {
      publication,
      sentSeq: beginning.fromSeq,
      pending: isLong ? [] : null,
      pendingBytes: 0,
      isEnded: false,
    };
    this.#byId.set(publication.id, subscription);
    publication.subscribers.add(this);
    return subscription;
  }

  #begin(
    beginning: Beginning,
    subscription: Subscription,
    failed: (code: StreamErrorCode) => void,
  ): void {
    if (beginning.kind === 'messages' && subscription.pending === null) {
      for (const message of beginning.first.messages) this.#writer.send(message(), subscription);
      return;
    }
    const sent =
      beginning.kind === 'replay'
        ? this.#replay(beginning, subscription)
        : this.#sendPages(beginning.first, subscription);
    sent.catch((error: unknown) => {
      if (subscription.isEnded) return;
      this.#parts.log.warn({ err: error }, 'a subscription was not resumed');
      this.#drop(subscription);
      const isLost = error instanceof Fault && error.reaction === 'stop';
      failed(isLost ? 'not_resumable' : 'unavailable');
    });
  }

  /** Sends what was missed, page by page as the reader takes it, then what came meanwhile. */
  async #replay(
    { replay, fromSeq }: Extract<Beginning, { kind: 'replay' }>,
    subscription: Subscription,
  ): Promise<void> {
    let lastSeq = fromSeq;
    for await (const page of replay.pages) {
      for (const change of page) {
        if (subscription.isEnded) return;
        const shown = { facts: this.#parts.facts, lastSeq };
        const message = renderReplayed(change, subscription.publication, shown);
        lastSeq = change.seq;
        if (message !== null) this.#writer.send(message, subscription);
      }
      await this.#writer.drained();
    }
    if (!subscription.isEnded) this.#goLive(subscription, replay.toSeq);
  }

  /** Sends many first messages page by page, as the reader takes them. */
  async #sendPages({ seq, messages }: FirstMessages, subscription: Subscription): Promise<void> {
    for (let sent = 0; sent < messages.length; sent += pageMessages) {
      for (const message of messages.slice(sent, sent + pageMessages)) {
        if (subscription.isEnded) return;
        this.#writer.send(message(), subscription);
      }
      await this.#writer.drained();
    }
    if (!subscription.isEnded) this.#goLive(subscription, seq);
  }

  #goLive(subscription: Subscription, toSeq: number): void {
    subscription.sentSeq ??= toSeq;
    const pending = subscription.pending ?? [];
    subscription.pending = null;
    for (const message of pending) {
      if (message.seq > toSeq) this.#writer.send(message, subscription);
    }
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

  #drop(subscription: Subscription): void {
    const { publication } = subscription;
    subscription.isEnded = true;
    this.#byId.delete(publication.id);
    publication.subscribers.delete(this);
    this.#parts.publications.release(publication);
    this.#writer.forget(subscription);
  }
}

/** First messages that are sent at once; more wait for the reader. */
const pageMessages = 8;

const isNumbered = ({ publication }: Subscription): boolean => publication.numbering !== 'none';

function keyFields({ channel, name, partition }: Publication) {
  return channel === 'own' || name === allMarkets ? { key: name, partition } : { key: name };
}

function firstSeq(beginning: Beginning): number {
  if (beginning.kind === 'messages') return beginning.fromSeq ?? beginning.first.seq;
  return beginning.fromSeq ?? beginning.replay.toSeq;
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

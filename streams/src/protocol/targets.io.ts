import type { Market, Outcome } from '@pm/domain/markets/market';
import { checksumAddress, parseConditionId, type WalletAddress } from '@pm/schemas/ids';
import { type StreamChannel, streamChannels } from '@pm/schemas/streams/channels';
import type { StreamErrorCode } from '@pm/schemas/streams/codes';
import type { CommentFeed } from '../comments/comment-feed.ts';
import { commentMessage, commentsSnapshot } from '../comments/render-comment.ts';
import { countedPartitions } from '../feed/counted-partitions.ts';
import type { Feed } from '../feed/feed.io.ts';
import type { MarketChannel, RulesSnapshot } from '../feed/snapshots.ts';
import type { OwnStates } from '../own/own-states.ts';
import { ownSnapshotMessages, stateMessage } from '../own/render-own.ts';
import { firstMessage, type Message, type StreamKey } from './message.ts';
import {
  allMarkets,
  keyOf,
  type Publication,
  type RenderFacts,
  renderSnapshot,
  rulesText,
  type SnapshotSource,
  subjects,
} from './publication.ts';
import type { Publications } from './publications.ts';
import { plainMessage } from './render-market.ts';

/** The feed as the protocol reads it. */
export type StreamFeed = Pick<
  Feed,
  | 'listen'
  | 'markets'
  | 'ownSeqOf'
  | 'ownSnapshot'
  | 'partitionOf'
  | 'partitions'
  | 'replay'
  | 'seqOf'
  | 'snapshot'
>;

/** A key that a frame names, and how to read of it. */
export interface Target extends SnapshotSource {
  readonly publication: Omit<Publication, 'beginner' | 'head' | 'seq' | 'subscribers'>;
  readonly partition: number;
  /** Epoch of the log that the numbers of the key belong to; null where positions have none. */
  epoch(): string | null;
  /** Null while the partition is not caught up. */
  newestSeq(): number | null;
  /** Whether a client may have messages up to this number: false for one after the newest. */
  mayHave(seq: number): boolean;
}

/** The keys of a subscribe, unsubscribe or checksum frame. */
export interface NamedKeys {
  readonly channel: StreamChannel;
  readonly tokens?: readonly string[];
  readonly markets?: readonly string[];
  readonly events?: readonly string[];
}

export interface TargetParts {
  readonly feed: StreamFeed;
  readonly facts: RenderFacts;
  readonly comments: CommentFeed;
  readonly ownStates: OwnStates;
  readonly publications: Pick<Publications, 'listingOf'>;
}

/** The targets of a frame, each once; or why there are none. `wallet`: that of the connection's key. */
export function targetsOf(
  keys: NamedKeys,
  parts: TargetParts,
  wallet: WalletAddress | null,
): readonly Target[] | StreamErrorCode {
  const { channel } = keys;
  if (channel === 'own') return ownTargets(keys, parts, wallet);
  if (channel === 'comments') return eventTargets(keys, parts);
  if (channel === 'markets' && keys.tokens === undefined && keys.markets === undefined)
    return keys.events === undefined ? allMarketsTargets(parts) : 'wrong_keys';
  const isOfToken = streamChannels[channel].key === 'token';
  if (keys.events !== undefined || (isOfToken && keys.markets !== undefined)) return 'wrong_keys';
  const named = namedMarkets(keys, parts);
  if (typeof named === 'string') return named;
  const targets = named.map(({ market, outcome }) =>
    marketTarget(channel, market, { outcome, parts }),
  );
  return [...new Map(targets.map((target) => [target.publication.id, target])).values()];
}

interface Named {
  readonly market: Market;
  readonly outcome: Outcome;
}

function namedMarkets(
  { tokens, markets }: NamedKeys,
  { facts: { catalog } }: TargetParts,
): readonly Named[] | StreamErrorCode {
  if (tokens === undefined && markets === undefined) return 'wrong_keys';
  const named: Named[] = [];
  for (const token of tokens ?? []) {
    const listing = catalog.listing(token);
    if (listing === undefined) return 'unknown_key';
    named.push(listing);
  }
  for (const text of markets ?? []) {
    const condition = parseConditionId(text);
    const market = condition === null ? undefined : catalog.byCondition(condition);
    if (market === undefined) return 'unknown_key';
    named.push({ market, outcome: 0 });
  }
  return named;
}

function marketTarget(
  channel: MarketChannel,
  market: Market,
  { outcome, parts: { feed, facts } }: { readonly outcome: Outcome; readonly parts: TargetParts },
): Target {
  const key = keyOf(channel, market, outcome);
  const partition = feed.partitionOf(market.market) ?? -1;
  const name = key.token === '' ? key.condition : key.token;
  const { market: number } = market;
  const subject = subjects.market(channel, number);
  const names = { id: key.id, channel, key, name, subject };
  const publication = { ...names, market: number, partition, numbering: 'own' } as const;
  return {
    publication,
    partition,
    epoch: () => epochOf(partition, feed),
    newestSeq: () => feed.seqOf(channel, number),
    mayHave: (seq) => seq <= (feed.seqOf(channel, number) ?? 0),
    snapshot: (isGap) => {
      const state = feed.snapshot(channel, number);
      return state === null ? null : renderSnapshot(state, key, { facts, isGap });
    },
    replay: (from) => feed.replay({ channel, market: number, from }),
  };
}

function epochOf(partition: number, feed: StreamFeed): string | null {
  return feed.partitions().find((one) => one.partition === partition)?.epoch ?? null;
}

/** One target for each partition, and one for what the wallet has outside of them. */
function ownTargets(
  { tokens, markets, events }: NamedKeys,
  parts: TargetParts,
  wallet: WalletAddress | null,
): readonly Target[] | StreamErrorCode {
  if (wallet === null) return 'not_authenticated';
  if (tokens !== undefined || markets !== undefined || events !== undefined) return 'wrong_keys';
  const partitions = countedPartitions(parts.feed.partitions());
  if (partitions === null) return 'unavailable';
  const targets = partitions.map((partition) => ownTarget(wallet, partition, parts));
  return [...targets, statesTarget(wallet, parts)];
}

function ownTarget(wallet: WalletAddress, partition: number, { feed, facts }: TargetParts): Target {
  const subject = subjects.own(wallet, partition);
  const key = bareKey(subject);
  const name = checksumAddress(wallet);
  const names = { id: subject, channel: 'own', key, name, subject } as const;
  return {
    publication: { ...names, market: -1, partition, numbering: 'own' },
    partition,
    epoch: () => epochOf(partition, feed),
    newestSeq: () => feed.ownSeqOf(wallet, partition),
    mayHave: (seq) => seq <= (feed.ownSeqOf(wallet, partition) ?? 0),
    snapshot: (isGap) => {
      const snapshot = feed.ownSnapshot(wallet, partition);
      const { catalog } = facts;
      return snapshot === null ? null : ownSnapshotMessages(snapshot, key, { catalog, isGap });
    },
    replay: (from) => feed.replay({ channel: 'own', wallet, partition, from }),
  };
}

/** Transfers and sessions: never resumed, the newest state holds. */
function statesTarget(wallet: WalletAddress, { ownStates }: TargetParts): Target {
  const subject = subjects.states(wallet);
  const key = bareKey(subject);
  const names = { id: subject, channel: 'own', key, name: checksumAddress(wallet) } as const;
  const first = () => {
    const states = ownStates.of(wallet);
    const messages = states.map((state) => stateMessage(state, wallet, key));
    return { seq: 0, count: messages.length, message: (index: number) => messages[index] ?? null };
  };
  return {
    publication: { ...names, subject, market: -1, partition: -1, numbering: 'none' },
    partition: -1,
    epoch: () => null,
    newestSeq: () => 0,
    mayHave: () => true,
    snapshot: first,
    replay: first,
  };
}

function eventTargets(
  { tokens, markets, events }: NamedKeys,
  parts: TargetParts,
): readonly Target[] | StreamErrorCode {
  if (tokens !== undefined || markets !== undefined || events === undefined) return 'wrong_keys';
  const { catalog } = parts.facts;
  if (events.some((id) => catalog.event(id) === undefined)) return 'unknown_key';
  return [...new Set(events)].map((id) => eventTarget(id, parts));
}

function eventTarget(eventId: string, { comments, facts: { profiles } }: TargetParts): Target {
  const subject = subjects.event(eventId);
  const key = bareKey(subject);
  const names = { id: subject, channel: 'comments', key, name: eventId, subject } as const;
  return {
    publication: { ...names, market: -1, partition: -1, numbering: 'own' },
    // That of the topic of comments.
    partition: 0,
    epoch: () => null,
    newestSeq: () => comments.seqOf(eventId),
    // Numbers are places in the topic, of which an operator may have deleted the beginning.
    mayHave: (seq) => seq <= Math.max(comments.seqOf(eventId), comments.offset + 1),
    snapshot: (isGap) =>
      firstMessage(commentsSnapshot(comments, eventId, { key, profiles, isGap })),
    replay: (from) => {
      // The number of a comment is the offset after its record.
      const missed = comments.after(eventId, 'seq' in from ? from.seq : from.offset);
      if (missed === null) return null;
      const message = (index: number) => {
        const change = missed[index];
        return change === undefined ? null : commentMessage(change, key, profiles);
      };
      return { seq: comments.seqOf(eventId), count: missed.length, message };
    },
  };
}

/** One target for each partition: all its markets, and those that are listed later. */
function allMarketsTargets(parts: TargetParts): readonly Target[] | StreamErrorCode {
  const partitions = countedPartitions(parts.feed.partitions());
  if (partitions === null) return 'unavailable';
  return partitions.map((partition) => allMarketsTarget(partition, parts));
}

function allMarketsTarget(partition: number, { feed, facts, publications }: TargetParts): Target {
  const subject = subjects.allMarkets(partition);
  const key = bareKey(subject);
  const names = { id: subject, channel: 'markets', key, name: allMarkets } as const;
  const listing = () => publications.listingOf(partition, () => rulesOf(feed));
  return {
    publication: { ...names, subject, market: -1, partition, numbering: 'sum' },
    partition,
    epoch: () => null,
    newestSeq: () => listing().seq,
    mayHave: () => true,
    snapshot: (isGap) => {
      const { seq, states } = listing();
      const message = (index: number): Message | null => {
        const state = states[index];
        if (state === undefined || facts.catalog.market(state.market) === undefined) return null;
        const text = rulesText(state, { facts, isGap });
        const { offset, timeMs } = state;
        const head = { seq, prev: seq, at: { partition, offset, index: -1, timeMs } };
        return { ...plainMessage(head, key, text), isPart: index < states.length - 1 };
      };
      return { seq, count: states.length, message };
    },
    replay: () => null,
  };
}

/** Rules of all markets that are listed. */
function* rulesOf(feed: StreamFeed): Generator<RulesSnapshot> {
  for (const market of feed.markets()) {
    const state = feed.snapshot('markets', market);
    if (state?.channel === 'markets') yield state;
  }
}

/** A key that is neither a market nor a token. */
function bareKey(id: string): StreamKey {
  return { id, condition: '', token: '', outcome: 0 };
}

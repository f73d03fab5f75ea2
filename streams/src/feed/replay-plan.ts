import { hexBytes, type WalletAddress } from '@pm/schemas/ids';
import type { BestChange, FeedChange, RulesChange } from './changes.ts';
import type { PartitionFeed } from './partition-feed.ts';
import {
  type IndexedChannel,
  type IndexedRecord,
  isIndexed,
  replayMessagesMax,
} from './position-index.ts';
import type { SnapshotList } from './snapshot-list.ts';
import type { MarketChannel } from './snapshots.ts';
import type { MarketTokens, Money } from './wallet-states.ts';

/**
 * `seq`: the newest change that the client has. `offset`: changes of the record with this input offset and of later
 * ones are wanted, also those the client may have already: their numbers are the same.
 */
export type ReplayStart = { readonly seq: number } | { readonly offset: number };

/** Changes of one channel of a market to read again. */
export interface MarketReplayRequest {
  readonly channel: MarketChannel;
  readonly market: number;
  readonly from: ReplayStart;
  /** The newest change wanted; the newest that exists when absent or larger. */
  readonly toSeq?: number;
}

/** Changes of a wallet in one partition to read again. */
export interface OwnReplayRequest {
  readonly channel: 'own';
  readonly wallet: WalletAddress;
  readonly partition: number;
  readonly from: ReplayStart;
  readonly toSeq?: number;
}

export type ReplayRequest = MarketReplayRequest | OwnReplayRequest;

/**
 * The changes of a replay, in pages (`replayLimits`). The last change has the number `toSeq`, which is fixed at
 * the call: a listener that was added before receives exactly the later ones live.
 *
 * `best` and `markets` are states: their replay is one change, the newest, which stands for all after the start (its
 * `seq` may be larger than the next one). Iterating rejects with a `Fault`: `retry` when the log is away, `stop` when
 * it cannot be read any more.
 */
export interface FeedReplay {
  readonly toSeq: number;
  readonly pages: AsyncIterable<readonly FeedChange[]>;
}

/** Changes that are wanted of those that are read: `seq` in (afterSeq, toSeq], and not before an input offset. */
export interface WantedChanges {
  readonly partition: number;
  readonly afterSeq: number;
  readonly fromInOffset: number;
  readonly toSeq: number;
}

export interface MarketReplayPlan extends WantedChanges {
  readonly kind: 'market';
  readonly channel: IndexedChannel;
  readonly market: number;
  readonly start: IndexedRecord;
}

export interface OwnReplayPlan extends WantedChanges {
  readonly kind: 'own';
  readonly wallet: Buffer;
  readonly start: IndexedRecord;
  /** The state at the call: the newest change and its record, and totals after it. */
  readonly newestSeq: number;
  readonly newestInOffset: number;
  readonly money: Money;
  readonly positions: SnapshotList<MarketTokens>;
}

/** The newest state stands for all changes before it. */
interface StateReplayPlan {
  readonly kind: 'state';
  readonly toSeq: number;
  readonly change: BestChange | RulesChange;
}

/** Nothing was missed. */
interface EmptyReplayPlan {
  readonly kind: 'empty';
  readonly toSeq: number;
}

export type ReplayPlan = MarketReplayPlan | OwnReplayPlan | StateReplayPlan | EmptyReplayPlan;

/** How to read the changes again; null when the start is unknown, too far back, or later than the newest change. */
export function planReplay(feed: PartitionFeed, request: ReplayRequest): ReplayPlan | null {
  if (request.channel === 'own') return planOwn(feed, request);
  const { channel, market: number, from } = request;
  const market = feed.market(number);
  if (market === null) return null;
  const seq = market.seqOf(channel);
  const toSeq = Math.min(request.toSeq ?? seq, seq);
  if (isAhead(from, seq, feed)) return null;
  if (isDone(from, toSeq, feed)) return { kind: 'empty', toSeq };
  if (!isIndexed(channel)) return planState(feed, { ...request, channel }, seq);
  const { timeMs } = feed.progress;
  const start =
    'seq' in from
      ? market.index.beforeSeq(channel, from.seq, timeMs)
      : market.index.beforeOffset(channel, from.offset, timeMs);
  if (start === null) return null;
  if (seq - ('seq' in from ? from.seq : start.seqBefore) > replayMessagesMax) return null;
  const wanted = wantedFrom(feed, from, toSeq);
  return { kind: 'market', channel, market: number, start, ...wanted };
}

function planState(
  feed: PartitionFeed,
  { channel, market }: { readonly channel: 'best' | 'markets'; readonly market: number },
  seq: number,
): ReplayPlan {
  const change = feed.newestState(channel, market);
  return change === null ? { kind: 'empty', toSeq: seq } : { kind: 'state', toSeq: seq, change };
}

function planOwn(feed: PartitionFeed, { wallet, from, ...request }: OwnReplayRequest) {
  const address = hexBytes(wallet);
  const { wallets } = feed;
  const slot = wallets.find(address);
  const newestSeq = slot === -1 ? 0 : wallets.seqOf(slot);
  const toSeq = Math.min(request.toSeq ?? newestSeq, newestSeq);
  if (isAhead(from, newestSeq, feed)) return null;
  if (newestSeq === 0 || isDone(from, toSeq, feed)) return { kind: 'empty', toSeq } as const;
  const start =
    'seq' in from
      ? wallets.recordBeforeSeq(slot, from.seq)
      : wallets.recordBeforeOffset(slot, from.offset);
  return {
    kind: 'own',
    wallet: address,
    start,
    ...wantedFrom(feed, from, toSeq),
    newestSeq,
    newestInOffset: wallets.lastInOffsetOf(slot),
    money: wallets.moneyOf(slot),
    positions: wallets.positionsOf(slot),
  } as const;
}

/** Whether a client knows of changes that are not in this log. */
function isAhead(from: ReplayStart, seq: number, { progress }: PartitionFeed): boolean {
  return 'seq' in from ? from.seq > seq : from.offset > progress.inOffset + 1;
}

function isDone(from: ReplayStart, toSeq: number, { progress }: PartitionFeed): boolean {
  return 'seq' in from ? from.seq >= toSeq : toSeq === 0 || from.offset > progress.inOffset;
}

function wantedFrom({ partition }: PartitionFeed, from: ReplayStart, toSeq: number): WantedChanges {
  if ('seq' in from) return { partition, afterSeq: from.seq, fromInOffset: 0, toSeq };
  return { partition, afterSeq: 0, fromInOffset: from.offset, toSeq };
}

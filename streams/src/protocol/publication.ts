import type { Catalog } from '@pm/domain/markets/catalog';
import type { Market } from '@pm/domain/markets/market';
import type { AssetForm } from '@pm/domain/positions/positions';
import { activityAnswer } from '@pm/domain/reports/activity';
import type { ActivityRow } from '@pm/domain/reports/rows';
import type { Profiles } from '@pm/domain/social/profiles';
import { assert } from '@pm/kit/assert';
import type { WalletAddress } from '@pm/schemas/ids';
import { notionalMicro } from '@pm/schemas/money';
import type { StreamChannel } from '@pm/schemas/streams/channels';
import { streamLimits } from '@pm/schemas/streams/limits';
import type { ActivityChange, FeedChange } from '../feed/changes.ts';
import type { FeedReplay, ReplayStart } from '../feed/replay-plan.ts';
import type { MarketChannel, MarketSnapshot, RulesSnapshot } from '../feed/snapshots.ts';
import type { FirstMessages, Message, StreamKey } from './message.ts';
import { bestDelta, bestSnapshot, bookDelta, bookSnapshot } from './render-book.ts';
import {
  activityMessage,
  eventsSnapshot,
  orderDelta,
  ordersSnapshot,
  plainMessage,
  rulesMessage,
  rulesSnapshot,
  tradeMessage,
} from './render-market.ts';

/** A reader of publications. */
export interface Subscriber {
  /** Takes a live message; must not throw. */
  deliver(message: Message): void;
}

/**
 * Source of the first messages of subscriptions to a key. Snapshots, numbers and replays of one tick fit each other.
 */
export interface SnapshotSource {
  /** Null while the partition is not caught up. */
  snapshot(isGap: boolean): FirstMessages | null;
  /** Null when it is too far back. */
  replay(from: ReplayStart): FeedReplay | FirstMessages | null;
}

/** A channel and key: what is serialised once for all its readers. */
export interface Publication {
  readonly id: string;
  readonly channel: StreamChannel;
  readonly key: StreamKey;
  /** The key as frames name it. */
  readonly name: string;
  /** -1 where the key is no market. */
  readonly market: number;
  /** -1 where the key is not in a partition of the matcher. */
  readonly partition: number;
  /** `{"channel":…,"key":…,"seq":` of heartbeats, made once: they name every subscription each second. */
  readonly head: string;
  /** Names the changes that it consists of (`subjects`). */
  readonly subject: string;
  /**
   * `own`: its messages are numbered and can be resumed; `sum`: its number is the sum of those of all its markets;
   * `none`: each message is a whole state.
   */
  readonly numbering: 'own' | 'sum' | 'none';
  readonly subscribers: Set<Subscriber>;
  readonly beginner: SnapshotSource;
  /** The newest message. */
  seq: number;
}

/** Data that messages show besides the log. */
export interface RenderFacts {
  readonly catalog: Catalog;
  readonly profiles: Profiles;
  /** Key of the names of orders. */
  readonly secret: Buffer;
}

/** A key of a channel of a market. */
export function keyOf(channel: MarketChannel, market: Market, outcome: 0 | 1): StreamKey {
  const isOfToken = channel === 'book' || channel === 'best';
  const token = isOfToken ? market.tokens[outcome] : '';
  return {
    id: `${channel}|${isOfToken ? token : market.conditionId}`,
    condition: market.conditionId,
    token,
    outcome: isOfToken ? outcome : 0,
  };
}

/**
 * The message of a change for a key; null for one that is not shown. `prev` is given where the newest state stands for
 * several changes (`best` and `markets` of a replay).
 */
export function renderChange(
  change: Exclude<FeedChange, { channel: 'own' }>,
  key: StreamKey,
  { facts, prev = change.seq - 1 }: { readonly facts: RenderFacts; readonly prev?: number },
): Message | null {
  const market = facts.catalog.market(change.market);
  switch (change.channel) {
    case 'book':
      return bookDelta(change, key);
    case 'best':
      return bestDelta(change, key, prev);
    case 'orders':
      return orderDelta(change, key, facts.secret);
    case 'trades':
      return market === undefined ? null : tradeMessage(change, key, market.tokens);
    case 'markets':
      return market === undefined
        ? null
        : rulesMessage(change, key, { tokens: market.tokens, prev });
    case 'activity': {
      const row = activityRow(change);
      const { catalog, profiles } = facts;
      const [shown] = activityAnswer(row, change.wallet, { catalog, profiles, form: assetForm });
      return shown === undefined ? null : activityMessage(change, key, shown);
    }
  }
}

/** Tokens are decimal, as everywhere in the streams. */
const assetForm: AssetForm = 'numeric';

/** A change of the public activity as a row of GET /activity. */
export function activityRow({ source, role, at, market }: ActivityChange): ActivityRow {
  const { partition, offset, timeMs } = at;
  const place = { partition, inOffset: String(offset), eventIndex: at.index, timeMs, market };
  if (source.kind === 'PositionMoved') {
    const moved = [Math.abs(source.token0Micro), Math.abs(source.token1Micro)] as const;
    const sizeMicro = source.action === 'REDEEM' ? moved[0] + moved[1] : Math.max(...moved);
    const usdcMicro = Math.abs(source.paidMicro);
    const none = { outcome: null, side: null, price: 0 } as const;
    return { ...place, ...none, type: source.action, sizeMicro, usdcMicro };
  }
  const isTaker = role === 'taker';
  const price = isTaker ? source.takerPrice : source.makerPrice;
  return {
    ...place,
    type: 'TRADE',
    outcome: (isTaker ? source.takerOutcome : source.makerOutcome) === 0 ? 0 : 1,
    side: isTaker ? source.takerSide : source.makerSide,
    price,
    sizeMicro: source.sizeMicro,
    usdcMicro: notionalMicro(price, source.sizeMicro),
  };
}

/** First messages of a subscription that begins with a snapshot, whose resting orders come in parts. */
export function renderSnapshot(
  snapshot: MarketSnapshot,
  key: StreamKey,
  shown: { readonly facts: RenderFacts; readonly isGap: boolean },
): FirstMessages {
  const { seq, partition, offset, timeMs } = snapshot;
  const head = { seq, prev: seq, at: { partition, offset, index: -1, timeMs } };
  const ofText = (text: string) => plainMessage(head, key, text);
  if (snapshot.channel !== 'orders') {
    return { seq, count: 1, message: () => ofText(snapshotText(snapshot, key, shown)) };
  }
  const { orders } = snapshot;
  const { snapshot_items: items } = streamLimits;
  const count = Math.max(1, Math.ceil(orders.length / items));
  const message = (part: number) => {
    const more = part < count - 1;
    const place = { secret: shown.facts.secret, isGap: shown.isGap, part, more };
    const inPart = orders.slice(part * items, (part + 1) * items);
    const text = ordersSnapshot({ ...snapshot, orders: inPart }, key, place);
    return { ...ofText(text), isPart: more };
  };
  return { seq, count, message };
}

function snapshotText(
  snapshot: Exclude<MarketSnapshot, { channel: 'orders' }>,
  key: StreamKey,
  { facts, isGap }: { readonly facts: RenderFacts; readonly isGap: boolean },
): string {
  switch (snapshot.channel) {
    case 'book':
      return bookSnapshot(snapshot, key, isGap);
    case 'best':
      return bestSnapshot(snapshot, key, isGap);
    case 'trades':
    case 'activity':
      return eventsSnapshot(snapshot, key, isGap);
    case 'markets':
      return rulesText(snapshot, { facts, isGap });
  }
}

/** The snapshot of the rules of a market that the catalog knows. */
export function rulesText(
  snapshot: RulesSnapshot,
  { facts, isGap }: { readonly facts: RenderFacts; readonly isGap: boolean },
): string {
  const market = facts.catalog.market(snapshot.market);
  assert(market !== undefined, 'a key of a market is made of its catalog entry');
  const key = keyOf('markets', market, 0);
  return rulesSnapshot(snapshot, key, { tokens: market.tokens, isGap });
}

/** The name of the key that stands for all markets. */
export const allMarkets = '*';

/** Names of what changes belong to. */
export const subjects = {
  market: (channel: StreamChannel, market: number): string => `${channel}|${market}`,
  own: (wallet: WalletAddress, partition: number): string => `own|${wallet}|${partition}`,
  states: (wallet: WalletAddress): string => `own|${wallet}`,
  event: (eventId: string): string => `comments|${eventId}`,
  allMarkets: (partition: number): string => `markets|*|${partition}`,
} as const;

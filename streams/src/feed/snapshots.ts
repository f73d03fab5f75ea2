import type { PairBook } from '@pm/schemas/http/book-hash';
import type { WalletAddress } from '@pm/schemas/ids';
import type {
  Level,
  MarketRules,
  OwnBalance,
  OwnOpenOrder,
  OwnPosition,
  RestingOrder,
} from './changes.ts';
import type { SnapshotList } from './snapshot-list.ts';

/** Channels whose changes are counted per market. */
export const marketChannels = ['book', 'best', 'trades', 'orders', 'markets', 'activity'] as const;

export type MarketChannel = (typeof marketChannels)[number];

/** State of a channel of one market after its change `seq`, with the newest record of the partition. */
interface ChannelState {
  readonly market: number;
  /** Number of the newest change; 0 before the first. */
  readonly seq: number;
  readonly partition: number;
  /** Input offset of the newest record of the partition. */
  readonly offset: number;
  /** Clock of the partition after it, Unix milliseconds. */
  readonly timeMs: number;
}

/** All levels in terms of token 0: bids, then asks, each by price ascending. */
export interface BookSnapshot extends ChannelState {
  readonly channel: 'book';
  readonly levels: readonly Level[];
  readonly facts: BookFacts;
}

/** Facts besides the levels that the hash of a book covers, as far as the log has them. */
export type BookFacts = Pick<PairBook, 'timeMs' | 'tick' | 'minSizeMicro' | 'lasts'>;

export interface BestSnapshot extends ChannelState, BestPrices {
  readonly channel: 'best';
}

/** Best prices in terms of token 0, 1/10000 USDC, with their sizes; 0 when there is none. */
export interface BestPrices {
  readonly bid: number;
  readonly ask: number;
  readonly bidSizeMicro: number;
  readonly askSizeMicro: number;
}

/** All resting orders, the oldest first: within a level this is their priority. */
export interface OrdersSnapshot extends ChannelState {
  readonly channel: 'orders';
  readonly orders: SnapshotList<RestingOrder>;
}

export interface RulesSnapshot extends ChannelState {
  readonly channel: 'markets';
  readonly rules: MarketRules;
}

/** Channels of events have no state, only the number of the newest one. */
export interface EventsSnapshot extends ChannelState {
  readonly channel: 'trades' | 'activity';
}

export type MarketSnapshot =
  | BookSnapshot
  | BestSnapshot
  | OrdersSnapshot
  | RulesSnapshot
  | EventsSnapshot;

/** State of a wallet in one partition. */
export interface OwnSnapshot {
  readonly channel: 'own';
  readonly wallet: WalletAddress;
  readonly partition: number;
  /** Number of the newest change of the wallet in this partition; 0 before the first. */
  readonly seq: number;
  /** Input offset of the newest record of the partition, and its clock in Unix milliseconds. */
  readonly offset: number;
  readonly timeMs: number;
  /** The oldest first. */
  readonly orders: SnapshotList<OwnOpenOrder>;
  readonly balance: Omit<OwnBalance, 'kind'>;
  /** Only positions with tokens, by market. */
  readonly positions: SnapshotList<Omit<OwnPosition, 'kind'>>;
}

import type { WalletAddress } from '@pm/schemas/ids';
import type { EventOf, Fill } from '@pm/schemas/log/executions';
import type { MarketMode, Side } from '@pm/schemas/log/types';

/** The position of a change in the log. */
export interface LogPosition {
  readonly partition: number;
  /** Offset of the input record, which is dense (`Execution.inOffset`). */
  readonly offset: number;
  /** Index of the event within the record; of the last one where a change sums several up. */
  readonly index: number;
  /** Clock of the partition after the record, Unix milliseconds. */
  readonly timeMs: number;
}

/** A change of one market: `seq` counts those of its channel and market since the first record of the partition. */
interface MarketChange {
  readonly market: number;
  readonly seq: number;
  readonly at: LogPosition;
}

/** A price level in terms of token 0: BUY is a bid, SELL an ask; `sizeMicro` is the new total, 0 when none is left. */
export interface Level {
  readonly side: Side;
  /** 1/10000 USDC. */
  readonly price: number;
  readonly sizeMicro: number;
}

/** All levels that one record changed. */
export interface BookChange extends MarketChange {
  readonly channel: 'book';
  readonly levels: readonly Level[];
}

/**
 * New best prices in terms of token 0, 1/10000 USDC; 0 when there is none. One for each record that changed a best
 * price or the size at one, so that the newest change is always the state.
 */
export interface BestChange extends MarketChange {
  readonly channel: 'best';
  readonly bid: number;
  readonly ask: number;
  readonly bidSizeMicro: number;
  readonly askSizeMicro: number;
}

export interface TradeChange extends MarketChange {
  readonly channel: 'trades';
  readonly fill: Fill;
}

/** A resting order, in terms of token 0. */
export interface RestingOrder {
  /** 32 bytes; never sent. */
  readonly orderId: Buffer;
  readonly side: Side;
  readonly price: number;
  readonly restingMicro: number;
}

/** A resting order came, or became smaller; `restingMicro` is the new rest. */
interface RestingOrderChange extends MarketChange {
  readonly channel: 'orders';
  readonly action: 'add' | 'change';
  readonly order: RestingOrder;
}

/** A resting order left. It is only named: its terms are those of its `add`, and a replay need not know them. */
interface RemovedOrderChange extends MarketChange {
  readonly channel: 'orders';
  readonly action: 'remove';
  readonly order: Pick<RestingOrder, 'orderId'>;
}

export type OrderChange = RestingOrderChange | RemovedOrderChange;

/**
 * A market was listed, its rules or a mode changed, or it was resolved. A change of the mode of the partition is a
 * change of each of its markets that is not resolved.
 */
export interface RulesChange extends MarketChange {
  readonly channel: 'markets';
  readonly action: 'listed' | 'changed' | 'resolved';
  readonly rules: MarketRules;
}

export interface MarketRules {
  /** 1/10000 USDC. */
  readonly tick: number;
  readonly minSizeMicro: number;
  readonly feeRateBps: number;
  readonly mode: MarketMode;
  /** Most permissive mode of all markets of the partition; a market accepts only what both modes allow. */
  readonly tradingMode: MarketMode;
  readonly takerDelayMs: number;
  /** 1/10000 USDC that token 0 pays; null before the resolution. */
  readonly payout0: number | null;
}

/** A row of the public activity of a wallet: its side of a fill, or a split, merge or redemption. */
export interface ActivityChange extends MarketChange {
  readonly channel: 'activity';
  readonly wallet: WalletAddress;
  readonly source: Fill | EventOf<'PositionMoved'>;
  /** Which side of the fill; null for a move. */
  readonly role: 'taker' | 'maker' | null;
}

/** A change of a record for one wallet: `seq` counts per wallet and partition. */
export interface OwnChange {
  readonly channel: 'own';
  readonly wallet: WalletAddress;
  readonly seq: number;
  readonly at: LogPosition;
  readonly change: OwnOrderChange | OwnFill | OwnBalance | OwnPosition;
}

/** An order of a wallet that rests, or waits for the end of a taker delay; its terms are those it was signed with. */
export interface OwnOpenOrder {
  /** 32 bytes. */
  readonly orderId: Buffer;
  /** 16 bytes. */
  readonly apiKey: Buffer;
  readonly market: number;
  readonly outcome: 0 | 1;
  readonly side: 'BUY' | 'SELL';
  readonly timeInForce: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  /** 1/10000 USDC of its own token. */
  readonly price: number;
  readonly sizeMicro: number;
  /** Null while the order is delayed. */
  readonly restingMicro: number | null;
  /** Unix milliseconds; 0 without an end. */
  readonly expiresAtMs: number;
  readonly acceptedAtMs: number;
}

/** State of an own order after an event; `event` is the event of the log. A fill changes the order of its maker. */
export interface OwnOrderChange {
  readonly kind: 'order';
  readonly event: EventOf<
    'OrderPlaced' | 'OrderRefused' | 'OrderDelayed' | 'OrderCanceled' | 'Fill'
  >;
  readonly orderId: Buffer;
  readonly market: number;
  /** Micro-shares that still rest; null for an order that never rested. */
  readonly restingMicro: number | null;
  /** The order before the event; null when it was not open, and where the past is read again. */
  readonly before: OwnOpenOrder | null;
}

export interface OwnFill {
  readonly kind: 'fill';
  readonly fill: Fill;
  readonly role: 'taker' | 'maker';
}

/** Sums of the changes that this partition made to the wallet's money since its first record, micro-USDC. */
export interface OwnBalance {
  readonly kind: 'balance';
  readonly freeMicro: number;
  readonly heldMicro: number;
}

/** Totals of the wallet's tokens of a market after the record, micro-shares; one for each market the record moved. */
export interface OwnPosition {
  readonly kind: 'position';
  readonly market: number;
  readonly token0Micro: number;
  readonly token1Micro: number;
}

export type FeedChange =
  | BookChange
  | BestChange
  | TradeChange
  | OrderChange
  | RulesChange
  | ActivityChange
  | OwnChange;

import {
  checksumAddress,
  microText,
  parseWalletAddress,
  priceText,
  type StoredOrder,
  tradeId,
} from '@pm/schemas';
import type { Catalog, Outcome } from './catalog.ts';
import { isoTime } from './wire-market.ts';

/** One row of `order_events`; money and times as integers. */
export interface OrderEventRow {
  readonly partition: number;
  readonly inOffset: string;
  readonly eventIndex: number;
  readonly kind: 'PLACED' | 'REFUSED' | 'FILLED' | 'CANCELED';
  readonly wallet: string;
  readonly apiKey: string;
  readonly market: number;
  readonly outcome: Outcome;
  readonly side: 'BUY' | 'SELL';
  readonly timeInForce: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  readonly price: number;
  readonly sizeMicro: number;
  readonly expiresAtMs: number;
  readonly acceptedAtMs: number;
  readonly status: string;
  readonly reason: string;
}

/** What became of an order, as its events tell. */
export type OrderHistory =
  | { readonly kind: 'placed'; readonly placed: OrderEventRow; readonly facts: OrderFacts }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'unknown' };

interface OrderFacts {
  readonly status: 'LIVE' | 'MATCHED' | 'DELAYED' | 'CANCELED';
  readonly filledMicro: number;
  readonly tradeIds: readonly string[];
}

/** A GTD order leaves the book so long before the time its owner stated (docs/conventions.md 3.5). */
const gtdEarlyMs = 60_000;

/** Trades listed with an order; an order meets more resting ones only over a long life. */
const tradesOfOrderMax = 1_000;

/** Folds the events of one order. A refusal counts only while the order was never placed. */
export function foldOrder(rows: readonly OrderEventRow[]): OrderHistory {
  const placed = rows.find((row) => row.kind === 'PLACED');
  if (placed === undefined) {
    const refused = rows.find((row) => row.kind === 'REFUSED');
    return refused === undefined ? { kind: 'unknown' } : { kind: 'refused', code: refused.reason };
  }
  const fills = rows.filter((row) => row.kind === 'FILLED');
  const filledMicro = fills.reduce((sum, row) => sum + row.sizeMicro, 0);
  const isCanceled = rows.some((row) => row.kind === 'CANCELED');
  return {
    kind: 'placed',
    placed,
    facts: {
      status: statusOf(placed, isCanceled, filledMicro),
      filledMicro,
      tradeIds: fills.slice(0, tradesOfOrderMax).map(tradeId),
    },
  };
}

function statusOf(
  placed: OrderEventRow,
  isCanceled: boolean,
  filledMicro: number,
): OrderFacts['status'] {
  if (filledMicro >= placed.sizeMicro || placed.status === 'MATCHED') return 'MATCHED';
  if (isCanceled || placed.status === 'CANCELED') return 'CANCELED';
  return placed.status === 'DELAYED' ? 'DELAYED' : 'LIVE';
}

/**
 * The order in both shapes clients read: camel case under `order`, snake case beside it (docs/conventions.md 1.6). `owner` is
 * for its owner only.
 */
export function orderAnswer(
  catalog: Catalog,
  { placed, facts }: Extract<OrderHistory, { kind: 'placed' }>,
  ids: { readonly id: string; readonly isOwner: boolean },
): StoredOrder {
  const market = catalog.market(placed.market);
  const wallet = parseWalletAddress(placed.wallet);
  const owner = ids.isOwner ? placed.apiKey : null;
  const conditionId = market?.conditionId ?? '';
  const outcome = market?.outcomes[placed.outcome] ?? '';
  const assetId = market?.tokens[placed.outcome] ?? '';
  const maker = wallet === null ? placed.wallet : checksumAddress(wallet);
  const statedMs = placed.expiresAtMs === 0 ? 0 : placed.expiresAtMs + gtdEarlyMs;
  const expiration = String(Math.floor(statedMs / 1000));
  const sizes = { original: microText(placed.sizeMicro), matched: microText(facts.filledMicro) };
  const price = priceText(placed.price);
  const shared = { id: ids.id, owner, price, side: placed.side, outcome, expiration };
  return {
    order: {
      ...shared,
      associateTrades: [...facts.tradeIds],
      status: facts.status.toLowerCase(),
      market: conditionId,
      originalSize: sizes.original,
      makerAddress: maker,
      sizeMatched: sizes.matched,
      assetId,
      order_type: placed.timeInForce,
      createdAt: isoTime(placed.acceptedAtMs),
    },
    ...shared,
    status: facts.status,
    maker_address: maker,
    market: conditionId,
    asset_id: assetId,
    original_size: sizes.original,
    size_matched: sizes.matched,
    associate_trades: [...facts.tradeIds],
    created_at: Math.floor(placed.acceptedAtMs / 1000),
    order_type: placed.timeInForce,
  };
}

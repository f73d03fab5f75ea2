import type { Catalog } from '@pm/domain/markets/catalog';
import { orderAnswer } from '@pm/domain/orders/order-read';
import { type FillRow, type TradeViewer, tradeAnswer } from '@pm/domain/orders/trades';
import { apiKeyFromBytes, orderIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { OwnChange, OwnFill } from '../feed/changes.ts';
import { type SharedMessage, sharedMessage } from './market-messages.ts';
import type { OrderStep } from './own-orders.ts';

/** The reader of a message: `owner` of everything is the key that the connection proved. */
export interface UserViewer extends TradeViewer {
  readonly apiKey: string;
}

/** A step of an order with the fields of GET /data/orders. */
export function orderMessage(
  { type, order }: OrderStep,
  { catalog, viewer, timeMs }: ShownTo,
): SharedMessage {
  const shown = orderAnswer(catalog, order, true);
  return sharedMessage({
    event_type: 'order',
    type,
    id: shown.id,
    owner: viewer.apiKey,
    order_owner: order.order.apiKey,
    market: shown.market,
    asset_id: shown.asset_id,
    side: shown.side,
    original_size: shown.original_size,
    size_matched: shown.size_matched,
    price: shown.price,
    associate_trades: shown.associate_trades,
    outcome: shown.outcome,
    created_at: String(shown.created_at),
    expiration: shown.expiration,
    order_type: shown.order_type,
    status: shown.status,
    maker_address: shown.maker_address,
    timestamp: String(timeMs),
  });
}

/** Catalog, viewer and time with which a message of a wallet is rendered. */
export interface ShownTo {
  readonly catalog: Catalog;
  readonly viewer: UserViewer;
  readonly timeMs: number;
}

/** A fill with the fields of GET /data/trades. It is final with its record: CONFIRMED follows MATCHED at once. */
export function tradeMessage(
  row: FillRow,
  status: 'MATCHED' | 'CONFIRMED',
  { catalog, viewer, timeMs }: ShownTo,
): SharedMessage {
  const shown = tradeAnswer(catalog, row, viewer);
  return sharedMessage({
    event_type: 'trade',
    ...shown,
    type: 'TRADE',
    status,
    owner: viewer.apiKey,
    trade_owner: viewer.apiKey,
    maker_orders: shown.maker_orders.map((order) => ({
      ...order,
      outcome_index: row.makerOutcome,
    })),
    timestamp: String(timeMs),
  });
}

/** A fill as a row of the table that GET /data/trades reads. */
export function fillRow({ fill }: OwnFill, { partition, offset, index, timeMs }: OwnChange['at']) {
  const row: FillRow = {
    partition,
    inOffset: String(offset),
    eventIndex: index,
    timeMs,
    market: fill.market,
    sizeMicro: fill.sizeMicro,
    takerOrder: orderIdFromBytes(fill.takerOrderId),
    taker: walletFromBytes(fill.taker),
    takerKey: apiKeyFromBytes(fill.takerKey),
    takerOutcome: fill.takerOutcome === 0 ? 0 : 1,
    takerSide: fill.takerSide,
    takerPrice: fill.takerPrice,
    makerOrder: orderIdFromBytes(fill.makerOrderId),
    maker: walletFromBytes(fill.maker),
    makerKey: apiKeyFromBytes(fill.makerKey),
    makerOutcome: fill.makerOutcome === 0 ? 0 : 1,
    makerSide: fill.makerSide,
    makerPrice: fill.makerPrice,
    feeRateBps: fill.feeRateBps,
  };
  return row;
}

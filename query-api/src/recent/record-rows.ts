import type { Outcome } from '@pm/domain/markets/market';
import type { FilledRow, OrderEventRow, StatedRow } from '@pm/domain/orders/order-read';
import type { FillRow } from '@pm/domain/orders/trades';
import { priceOfMove, tradesOfMove } from '@pm/domain/positions/position-trades';
import { apiKeyFromBytes, orderIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { EventOf, Execution, ExecutionEvent, Fill } from '@pm/schemas/log/executions';

/** Change of a wallet's token balance. */
export interface HoldingChange {
  readonly partition: number;
  readonly inOffset: number;
  readonly eventIndex: number;
  readonly timeMs: number;
  /** The side of a fill, or the kind of a move. */
  readonly cause: 'TAKER' | 'MAKER' | EventOf<'PositionMoved'>['action'];
  /** Paid or got for a share, 1/10000 USDC; null where only the resolution of the market says it. */
  readonly price: number | null;
  readonly wallet: string;
  readonly market: number;
  readonly outcome: Outcome;
  readonly changeMicro: number;
}

/** Effect of one record on private reads: the rows the projectors write of it, and the tokens it moved. */
export interface RecordRows {
  readonly orders: readonly OrderEventRow[];
  readonly fills: readonly FillRow[];
  readonly holdings: readonly HoldingChange[];
}

type Place = Pick<OrderEventRow, 'partition' | 'inOffset' | 'eventIndex' | 'timeMs'>;

/** The rows of one record: those of the tables `order_events` and `fills`, and what `positions` sums up. */
export function rowsOfRecord(partition: number, execution: Execution): RecordRows {
  const orders: OrderEventRow[] = [];
  const fills: FillRow[] = [];
  const holdings: HoldingChange[] = [];
  const { inOffset, timeMs } = execution;
  for (const [eventIndex, event] of execution.events.entries()) {
    const place = { partition, inOffset: String(inOffset), eventIndex, timeMs };
    if (event.kind === 'Fill') {
      const fill = fillRow(place, event);
      fills.push(fill);
      orders.push(...filledRows(fill, event.makerRestMicro));
      holdings.push(...changesOfFill(fill, inOffset));
    } else if (event.kind === 'PositionMoved') {
      holdings.push(...changesOfMove(event, { partition, inOffset, eventIndex, timeMs }));
    } else {
      const row = orderRow(place, event);
      if (row !== null) orders.push(row);
    }
  }
  return { orders, fills, holdings };
}

function orderRow(place: Place, event: ExecutionEvent): OrderEventRow | null {
  switch (event.kind) {
    case 'OrderPlaced':
      return { ...placedRow(place, event), kind: 'PLACED', status: event.status };
    case 'OrderDelayed':
      return {
        ...placedRow(place, { ...event, restingMicro: 0 }),
        kind: 'DELAYED',
        status: 'DELAYED',
      };
    case 'OrderRefused':
      return { ...place, ...idsOf(event), kind: 'REFUSED', reason: event.code };
    case 'OrderCanceled': {
      const { reason, restMicro: sizeMicro } = event;
      return { ...place, ...idsOf(event), kind: 'CANCELED', reason, sizeMicro };
    }
    default:
      return null;
  }
}

type Identified = Pick<EventOf<'OrderRefused'>, 'orderId' | 'maker' | 'apiKey' | 'market'>;

function idsOf({ orderId, maker, apiKey, market }: Identified) {
  return {
    orderId: orderIdFromBytes(orderId),
    wallet: walletFromBytes(maker),
    apiKey: apiKeyFromBytes(apiKey),
    market,
  };
}

function placedRow(
  place: Place,
  event: Omit<EventOf<'OrderDelayed'>, 'kind' | 'releaseAtMs' | 'heldMicro' | 'command'> & {
    readonly restingMicro: number;
  },
): Omit<StatedRow, 'kind' | 'status'> {
  const { side, timeInForce, price, sizeMicro, restingMicro, expiresAtMs, acceptedAtMs } = event;
  const terms = { side, timeInForce, price, sizeMicro, restingMicro, expiresAtMs, acceptedAtMs };
  const outcome = outcomeOf(event.outcome);
  return { ...place, ...idsOf(event), ...terms, outcome };
}

function fillRow(place: Place, fill: Fill): FillRow {
  return {
    ...place,
    market: fill.market,
    sizeMicro: fill.sizeMicro,
    takerOrder: orderIdFromBytes(fill.takerOrderId),
    taker: walletFromBytes(fill.taker),
    takerKey: apiKeyFromBytes(fill.takerKey),
    takerOutcome: outcomeOf(fill.takerOutcome),
    takerSide: fill.takerSide,
    takerPrice: fill.takerPrice,
    makerOrder: orderIdFromBytes(fill.makerOrderId),
    maker: walletFromBytes(fill.maker),
    makerKey: apiKeyFromBytes(fill.makerKey),
    makerOutcome: outcomeOf(fill.makerOutcome),
    makerSide: fill.makerSide,
    makerPrice: fill.makerPrice,
    feeRateBps: fill.feeRateBps,
  };
}

function filledRows(fill: FillRow, makerRestMicro: number): readonly FilledRow[] {
  const { partition, inOffset, eventIndex, timeMs, market, sizeMicro } = fill;
  const place = { partition, inOffset, eventIndex, timeMs };
  const shared = { ...place, kind: 'FILLED', market, sizeMicro } as const;
  return [
    {
      ...shared,
      role: 'TAKER',
      orderId: fill.takerOrder,
      wallet: fill.taker,
      apiKey: fill.takerKey,
      outcome: fill.takerOutcome,
      side: fill.takerSide,
      price: fill.takerPrice,
      restingMicro: 0,
    },
    {
      ...shared,
      role: 'MAKER',
      orderId: fill.makerOrder,
      wallet: fill.maker,
      apiKey: fill.makerKey,
      outcome: fill.makerOutcome,
      side: fill.makerSide,
      price: fill.makerPrice,
      restingMicro: makerRestMicro,
    },
  ];
}

function changesOfFill(fill: FillRow, inOffset: number): readonly HoldingChange[] {
  const { partition, market, sizeMicro, eventIndex, timeMs } = fill;
  const shared = { partition, inOffset, eventIndex, timeMs, market };
  const signed = (side: 'BUY' | 'SELL') => (side === 'BUY' ? sizeMicro : -sizeMicro);
  const { taker, takerOutcome, takerSide, maker, makerOutcome, makerSide } = fill;
  return [
    {
      ...shared,
      cause: 'TAKER',
      wallet: taker,
      outcome: takerOutcome,
      changeMicro: signed(takerSide),
      price: fill.takerPrice,
    },
    {
      ...shared,
      cause: 'MAKER',
      wallet: maker,
      outcome: makerOutcome,
      changeMicro: signed(makerSide),
      price: fill.makerPrice,
    },
  ];
}

function changesOfMove(
  event: EventOf<'PositionMoved'>,
  place: Pick<HoldingChange, 'partition' | 'inOffset' | 'eventIndex' | 'timeMs'>,
): readonly HoldingChange[] {
  const { action: cause, market } = event;
  const shared = { ...place, cause, wallet: walletFromBytes(event.wallet), market };
  const price0 = priceOfMove(event);
  return tradesOfMove(event, price0 ?? 0).map(({ outcome, side, sizeMicro, price }) => ({
    ...shared,
    outcome: outcomeOf(outcome),
    changeMicro: side === 'BUY' ? sizeMicro : -sizeMicro,
    price: price0 === null ? null : price,
  }));
}

function outcomeOf(value: number): Outcome {
  return value === 1 ? 1 : 0;
}

import {
  apiKeyFromBytes,
  type EventOf,
  type Execution,
  type ExecutionEvent,
  type Fill,
  microText,
  type OrderPlaced,
  orderIdFromBytes,
  priceText,
  tables,
  walletFromBytes,
} from '@pm/schemas';
import { type Row, recordView, type View } from '../rows.ts';
import { epochText, timeText } from '../time.ts';

/** What differs between the kinds of rows; every cell that a kind does not have keeps its neutral value. */
interface OrderRow {
  readonly orderId: Buffer;
  readonly kind: 'PLACED' | 'REFUSED' | 'FILLED' | 'CANCELED' | 'DELAYED';
  readonly wallet: Buffer;
  readonly apiKey: Buffer;
  readonly market: number;
  readonly outcome?: number;
  readonly side?: string;
  readonly timeInForce?: string;
  readonly price?: number;
  readonly sizeMicro?: number;
  readonly restingMicro?: number;
  readonly expiresAtMs?: number;
  readonly acceptedAtMs?: number;
  readonly status?: string;
  readonly reason?: string;
  readonly role?: 'TAKER' | 'MAKER';
}

/** Table `order_events`: placements, delays, refusals, fills (one row for each of the two orders) and cancels. */
export function ordersView(partition: number): View {
  return recordView([tables.orderEvents], (execution) => [rowsOf(partition, execution)]);
}

function rowsOf(partition: number, execution: Execution): readonly Row[] {
  const rows: Row[] = [];
  for (const [index, event] of execution.events.entries()) {
    const source = [partition, execution.inOffset, index, timeText(execution.timeMs)];
    for (const row of orderRows(event)) rows.push([...source, ...cells(row)]);
  }
  return rows;
}

function orderRows(event: ExecutionEvent): readonly OrderRow[] {
  switch (event.kind) {
    case 'OrderPlaced':
      return [placed(event)];
    case 'OrderDelayed':
      return [delayed(event)];
    case 'OrderRefused':
      return [refused(event)];
    case 'Fill':
      return filled(event);
    case 'OrderCanceled':
      return [canceled(event)];
    default:
      return [];
  }
}

function placed(event: OrderPlaced): OrderRow {
  return { ...event, kind: 'PLACED', wallet: event.maker };
}

function delayed(event: EventOf<'OrderDelayed'>): OrderRow {
  return { ...event, kind: 'DELAYED', wallet: event.maker, status: 'DELAYED' };
}

function refused(event: EventOf<'OrderRefused'>): OrderRow {
  const { orderId, apiKey, market } = event;
  return { kind: 'REFUSED', orderId, apiKey, market, wallet: event.maker, reason: event.code };
}

/** What rests of the taker is known when his command ends: his PLACED row has it. */
function filled(fill: Fill): readonly OrderRow[] {
  const { market, sizeMicro } = fill;
  const taker: OrderRow = {
    kind: 'FILLED',
    role: 'TAKER',
    market,
    sizeMicro,
    orderId: fill.takerOrderId,
    wallet: fill.taker,
    apiKey: fill.takerKey,
    outcome: fill.takerOutcome,
    side: fill.takerSide,
    price: fill.takerPrice,
  };
  const maker: OrderRow = {
    kind: 'FILLED',
    role: 'MAKER',
    market,
    sizeMicro,
    orderId: fill.makerOrderId,
    wallet: fill.maker,
    apiKey: fill.makerKey,
    outcome: fill.makerOutcome,
    side: fill.makerSide,
    price: fill.makerPrice,
    restingMicro: fill.makerRestMicro,
  };
  return [taker, maker];
}

function canceled(event: EventOf<'OrderCanceled'>): OrderRow {
  const { orderId, apiKey, market, reason } = event;
  const sizeMicro = event.restMicro;
  return { kind: 'CANCELED', orderId, apiKey, market, reason, sizeMicro, wallet: event.maker };
}

function cells(row: OrderRow): Row {
  return [
    orderIdFromBytes(row.orderId),
    row.kind,
    walletFromBytes(row.wallet),
    apiKeyFromBytes(row.apiKey),
    row.market,
    row.outcome ?? 0,
    row.side ?? 'BUY',
    row.timeInForce ?? 'GTC',
    priceText(row.price ?? 0),
    microText(row.sizeMicro ?? 0),
    microText(row.restingMicro ?? 0),
    row.expiresAtMs ? timeText(row.expiresAtMs) : epochText,
    row.acceptedAtMs ? timeText(row.acceptedAtMs) : epochText,
    row.status ?? 'NONE',
    row.reason ?? '',
    row.role ?? 'TAKER',
  ];
}

import { microText, priceText } from '@pm/schemas/decimal';
import {
  apiKeyFromBytes,
  conditionIdFromBytes,
  orderIdFromBytes,
  walletFromBytes,
} from '@pm/schemas/ids';
import type { Execution, ExecutionEvent, Fill } from '@pm/schemas/log/executions';
import { complementPrice, notionalMicro } from '@pm/schemas/money';
import { appendedMs } from '../log.ts';

/** A row by column names, every cell as its text. */
export type NaiveRow = Readonly<Record<string, string | number | null>>;

interface Place {
  readonly partition: number;
  readonly in_offset: number;
  readonly event_index: number;
  readonly time: string;
  readonly appended_at: string;
}

/** `accepted_at` of the taker. */
type FillPlace = Place & { readonly accepted_at: string | null };

/** Unix milliseconds as the tables have them. */
const timeOf = (ms: number) => new Date(ms).toISOString().replace('T', ' ').replace('Z', '');

type Rows = Map<string, NaiveRow[]>;

/** The rows that the tables of facts and buckets must have for a log, in the plainest code. */
export function naiveRows(partition: number, executions: readonly Execution[]): Rows {
  const rows: Rows = new Map();
  const add = (table: string, row: NaiveRow) => {
    rows.set(table, [...(rows.get(table) ?? []), row]);
  };
  for (const { events, inOffset, timeMs } of executions) {
    for (const [index, event] of events.entries()) {
      const times = { time: timeOf(timeMs), appended_at: timeOf(appendedMs({ inOffset, timeMs })) };
      const place = { partition, in_offset: inOffset, event_index: index, ...times };
      const takers = events.filter((one) => one.kind === 'OrderPlaced');
      if (event.kind === 'Fill') {
        const taker = takers.find(({ orderId }) => orderId.equals(event.takerOrderId));
        const accepted_at = taker === undefined ? null : timeOf(taker.acceptedAtMs);
        addFill(add, { ...place, accepted_at }, event);
        addFilled(add, { ...place, accepted_at }, event);
      }
      addOrderEvents(add, place, event);
      addBookRows(add, place, event);
      addRules(add, place, event);
    }
  }
  for (const [table, found] of [
    ['open_orders', openOrders(partition, executions)],
    ['book_closings', closings(executions)],
    ['midpoints_1m', midpoints(executions)],
    ['candles_1m', candles(executions)],
  ] as const)
    rows.set(table, found);
  return rows;
}

type Add = (table: string, row: NaiveRow) => void;

function sides(fill: Fill) {
  const { market } = fill;
  const shared = { market, size: microText(fill.sizeMicro) };
  return [
    {
      ...shared,
      role: 'TAKER',
      wallet: walletFromBytes(fill.taker),
      outcome: fill.takerOutcome,
      side: fill.takerSide,
      price: priceText(fill.takerPrice),
    },
    {
      ...shared,
      role: 'MAKER',
      wallet: walletFromBytes(fill.maker),
      outcome: fill.makerOutcome,
      side: fill.makerSide,
      price: priceText(fill.makerPrice),
    },
  ];
}

function addFill(add: Add, { accepted_at, ...place }: FillPlace, fill: Fill): void {
  const open = {
    market: fill.market,
    size: microText(fill.sizeMicro),
    taker_order: orderIdFromBytes(fill.takerOrderId),
    taker: walletFromBytes(fill.taker),
    taker_outcome: fill.takerOutcome,
    taker_side: fill.takerSide,
    taker_price: priceText(fill.takerPrice),
    maker_order: orderIdFromBytes(fill.makerOrderId),
    maker: walletFromBytes(fill.maker),
    maker_outcome: fill.makerOutcome,
    maker_side: fill.makerSide,
    maker_price: priceText(fill.makerPrice),
    fee: microText(fill.feeMicro),
    fee_rate_bps: fill.feeRateBps,
  };
  add('fills', {
    ...place,
    ...open,
    accepted_at,
    match: fill.match,
    taker_key: apiKeyFromBytes(fill.takerKey),
    taker_builder: conditionIdFromBytes(fill.takerBuilder),
    maker_key: apiKeyFromBytes(fill.makerKey),
    maker_builder: conditionIdFromBytes(fill.makerBuilder),
  });
  const [taker, maker] = sides(fill);
  for (const side of [taker, maker]) {
    const isTaker = side?.role === 'TAKER';
    add('tape', { ...place, ...side });
    add('wallet_fills', {
      ...place,
      ...side,
      fee: isTaker ? microText(fill.feeMicro) : '0',
      order_id: orderIdFromBytes(isTaker ? fill.takerOrderId : fill.makerOrderId),
      api_key: apiKeyFromBytes(isTaker ? fill.takerKey : fill.makerKey),
    });
    const builder = isTaker ? fill.takerBuilder : fill.makerBuilder;
    if (builder.some((byte) => byte !== 0))
      add('builder_fills', {
        ...place,
        ...open,
        role: side?.role ?? '',
        builder: conditionIdFromBytes(builder),
      });
  }
}

const unsaid = {
  outcome: null,
  side: null,
  time_in_force: null,
  price: null,
  size: null,
  resting: '0',
  expires_at: null,
  accepted_at: null,
  status: null,
  reason: '',
  role: null,
};

function addOrderEvents(add: Add, place: Place, event: ExecutionEvent): void {
  if (!('orderId' in event) || !('apiKey' in event)) return;
  const order = {
    order_id: orderIdFromBytes(event.orderId),
    wallet: walletFromBytes(event.maker),
    api_key: apiKeyFromBytes(event.apiKey),
    market: event.market,
  };
  const row = { ...place, ...unsaid, ...order };
  if (event.kind === 'OrderRefused')
    add('order_events', { ...row, kind: 'REFUSED', reason: event.code });
  if (event.kind === 'OrderCanceled') {
    const size = microText(event.restMicro);
    add('order_events', { ...row, kind: 'CANCELED', size, reason: event.reason });
    add('wallet_cancels', { ...place, ...order, size, reason: event.reason });
  }
  if (event.kind === 'OrderPlaced')
    add('order_events', {
      ...row,
      kind: 'PLACED',
      outcome: event.outcome,
      side: event.side,
      status: event.status,
      time_in_force: event.timeInForce,
      price: priceText(event.price),
      size: microText(event.sizeMicro),
      resting: microText(event.restingMicro),
      expires_at: event.expiresAtMs === 0 ? null : timeOf(event.expiresAtMs),
      accepted_at: timeOf(event.acceptedAtMs),
    });
}

function addFilled(add: Add, { accepted_at, ...place }: FillPlace, fill: Fill): void {
  for (const side of sides(fill)) {
    const isTaker = side.role === 'TAKER';
    add('order_events', {
      ...place,
      ...unsaid,
      ...side,
      kind: 'FILLED',
      accepted_at: isTaker ? accepted_at : null,
      order_id: orderIdFromBytes(isTaker ? fill.takerOrderId : fill.makerOrderId),
      api_key: apiKeyFromBytes(isTaker ? fill.takerKey : fill.makerKey),
      resting: isTaker ? '0' : microText(fill.makerRestMicro),
    });
  }
}

function addBookRows(add: Add, place: Place, event: ExecutionEvent): void {
  if (event.kind === 'LevelChanged') {
    const { market, side } = event;
    const [price, size] = [priceText(event.price), microText(event.sizeMicro)];
    add('book_events', { ...place, market, side, price, size });
  }
  if (event.kind === 'OrderCanceled') {
    const { market } = event;
    const order_id = orderIdFromBytes(event.orderId);
    add('book_orders', { ...place, market, order_id, side: null, price: null, size: '0' });
  }
  const at =
    event.kind === 'Fill'
      ? {
          order: event.makerOrderId,
          outcome: event.makerOutcome,
          side: event.makerSide,
          price: event.makerPrice,
          rest: event.makerRestMicro,
        }
      : event.kind === 'OrderPlaced' && event.restingMicro > 0
        ? { ...event, order: event.orderId, rest: event.restingMicro }
        : null;
  if (at === null || !('market' in event)) return;
  const isBid = (at.side === 'BUY') === (at.outcome === 0);
  add('book_orders', {
    ...place,
    market: event.market,
    order_id: orderIdFromBytes(at.order),
    side: isBid ? 'BUY' : 'SELL',
    price: priceText(at.outcome === 0 ? at.price : complementPrice(at.price)),
    size: microText(at.rest),
  });
}

function addRules(add: Add, place: Place, event: ExecutionEvent): void {
  if (event.kind === 'MarketResolved')
    add('resolutions', {
      ...place,
      market: event.market,
      payout0: priceText(event.payout0),
      version: place.in_offset,
    });
  if (event.kind !== 'MarketSet') return;
  add('market_rules', {
    ...place,
    market: event.market,
    tick: priceText(event.tick),
    mode: event.mode,
    min_size: microText(event.minSizeMicro),
    fee_rate_bps: event.feeRateBps,
    taker_delay_ms: event.takerDelayMs,
  });
}

function openOrders(partition: number, executions: readonly Execution[]): NaiveRow[] {
  return executions.flatMap(({ events, inOffset: version, timeMs }) => {
    const rows = new Map<string, NaiveRow>();
    for (const event of events) {
      const row = openOrder(event, timeMs);
      if (row !== null) rows.set(String(row['order_id']), { ...row, partition, version });
    }
    return [...rows.values()];
  });
}

function openOrder(event: ExecutionEvent, timeMs: number): NaiveRow | null {
  const isFilled = event.kind === 'Fill' && event.makerRestMicro === 0;
  const isPlaced = event.kind === 'OrderPlaced' && event.restingMicro > 0;
  if (!isFilled && !isPlaced && event.kind !== 'OrderCanceled') return null;
  const [order, key] =
    event.kind === 'Fill' ? [event.makerOrderId, event.makerKey] : [event.orderId, event.apiKey];
  return {
    wallet: walletFromBytes(event.maker),
    market: event.market,
    order_id: orderIdFromBytes(order),
    api_key: apiKeyFromBytes(key),
    outcome: isPlaced ? event.outcome : null,
    placed_at: isPlaced ? timeOf(timeMs) : null,
    ended: isPlaced ? 0 : 1,
  };
}

function closings(executions: readonly Execution[]): NaiveRow[] {
  const rows = new Map<string, NaiveRow>();
  for (const { events, inOffset: version, timeMs } of executions)
    for (const event of events) {
      if (event.kind !== 'LevelChanged') continue;
      const { market, side } = event;
      const price = priceText(event.price);
      const level = { market, side, price, size: microText(event.sizeMicro), version };
      const hour = `${timeOf(timeMs).slice(0, 13)}:00:00`;
      const month = `${timeOf(timeMs).slice(0, 7)}-01 00:00:00`;
      rows.set(`${hour} h ${market} ${side} ${price}`, { ...level, span: 'hour', bucket: hour });
      rows.set(`${month} m ${market} ${side} ${price}`, { ...level, span: 'month', bucket: month });
    }
  return [...rows.values()];
}

function midpoints(executions: readonly Execution[]): NaiveRow[] {
  const rows = new Map<string, NaiveRow>();
  for (const { events, inOffset: version, timeMs } of executions)
    for (const event of events) {
      if (event.kind !== 'TopChanged') continue;
      const { market, bid, ask } = event;
      const bucket = `${timeOf(timeMs).slice(0, 16)}:00`;
      const midpoint = bid === 0 || ask === 0 ? null : microText((bid + ask) * 50);
      const known = (price: number) => (price === 0 ? null : priceText(price));
      rows.set(`${market} ${bucket}`, {
        market,
        bucket,
        midpoint,
        bid: known(bid),
        ask: known(ask),
        version,
      });
    }
  return [...rows.values()];
}

function candles(executions: readonly Execution[]): NaiveRow[] {
  const trades = new Map<string, { price: number; size: number; version: number }[]>();
  for (const { events, inOffset: version, timeMs } of executions)
    for (const event of events) {
      if (event.kind !== 'Fill') continue;
      const minute = `${timeOf(timeMs).slice(0, 16)}:00`;
      const taken = [[event.takerOutcome, event.takerPrice] as const];
      if (event.match !== 'COMPLEMENTARY') taken.push([event.makerOutcome, event.makerPrice]);
      for (const [outcome, price] of taken) {
        const key = `${event.market},${outcome},${minute}`;
        const trade = { price, size: event.sizeMicro, version };
        trades.set(key, [...(trades.get(key) ?? []), trade]);
      }
    }
  return [...trades].map(([key, all]) => {
    const [market, outcome, bucket = ''] = key.split(',');
    const prices = all.map(({ price }) => price);
    const sum = (of: (trade: { price: number; size: number }) => number) =>
      microText(all.reduce((total, trade) => total + of(trade), 0));
    return {
      market: Number(market),
      outcome: Number(outcome),
      bucket,
      open: priceText(prices[0] ?? 0),
      close: priceText(prices.at(-1) ?? 0),
      high: priceText(Math.max(...prices)),
      low: priceText(Math.min(...prices)),
      volume: sum(({ size }) => size),
      notional: sum(({ price, size }) => notionalMicro(price, size)),
      trades: all.length,
      version: all.at(-1)?.version ?? 0,
    };
  });
}

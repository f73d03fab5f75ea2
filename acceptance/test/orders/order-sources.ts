import { type ExchangeClient, ExchangeError, type OwnEvent, type TradeMessage } from '@pm/client';
import type { ClickHouse } from '@pm/kit/clickhouse';
import type { FoundOrder } from '@pm/schemas/http/batches';
import type { StoredOrder, Trade } from '@pm/schemas/http/reading';
import { tables } from '@pm/schemas/tables/tables';
import { tradeId } from '@pm/schemas/trade-id';
import type { ListedMarket } from '../whole-exchange.ts';
import { type FillFacts, microShares, type OrderFacts, type OrderSource } from './order-facts.ts';
import { OrderFold, type OrderTerms } from './order-fold.ts';

/** Ids of one request of `POST /data/orders`. */
const idsPerRequest = 500;

/** A wallet whose orders are read. */
export interface OrderOwner {
  readonly client: ExchangeClient;
  /** Lower case. */
  readonly wallet: string;
  /** All orders that it sent. */
  readonly orderIds: readonly string[];
}

/** A refused order has no more than this. */
const refused = (code: string): OrderFacts => ({
  wallet: null,
  market: null,
  token: null,
  side: null,
  type: null,
  price: null,
  size: null,
  status: 'REFUSED',
  filledMicro: 0,
  reasons: [code],
  fills: [],
});

/** `GET /data/order/{id}` with the fills of `GET /data/trades`. Orders that were never in the log are left out. */
export async function readOrders(owners: readonly OrderOwner[]): Promise<OrderSource> {
  const orders = new Map<string, OrderFacts>();
  for (const { client, wallet, orderIds } of owners) {
    const fills = await readTrades(client, wallet);
    const read = orderIds.map((id) => readOrder(client, id, fills.get(id) ?? []));
    for (const [index, facts] of (await Promise.all(read)).entries())
      if (facts !== null) orders.set(orderIds[index] ?? '', facts);
  }
  return { name: 'GET /data/order', orders };
}

async function readOrder(
  client: ExchangeClient,
  id: string,
  fills: readonly FillFacts[],
): Promise<OrderFacts | null> {
  try {
    const order = await client.own.order(id);
    const listed = [...order.associate_trades].sort().join();
    const traded = fills.map(({ trade }) => trade).sort();
    const facts = { ...storedFacts(order), fills };
    if (listed === traded.join()) return facts;
    return { ...facts, reasons: [`its trades are ${listed}, and GET /data/trades has ${traded}`] };
  } catch (error) {
    if (!(error instanceof ExchangeError) || error.status !== 404) throw error;
    return error.code === '' ? null : refused(error.code);
  }
}

function storedFacts(order: StoredOrder): OrderFacts {
  return {
    wallet: order.maker_address.toLowerCase(),
    market: order.market,
    token: order.asset_id,
    side: order.side,
    type: order.order_type,
    price: order.price,
    size: order.original_size,
    status: order.status,
    filledMicro: microShares(order.size_matched),
    reasons: order.reason === null ? [] : [order.reason],
    fills: null,
  };
}

/** All trades of a wallet by its orders: as taker, as maker, or as both. */
async function readTrades(
  client: ExchangeClient,
  wallet: string,
): Promise<ReadonlyMap<string, readonly FillFacts[]>> {
  const fills = new Map<string, FillFacts[]>();
  const add = (id: string, fill: FillFacts) => fills.set(id, [...(fills.get(id) ?? []), fill]);
  for await (const trade of client.own.trades()) {
    const shared = { trade: trade.id, fee: null, transactionHash: trade.transaction_hash };
    if (trade.maker_address.toLowerCase() === wallet) {
      const { asset_id: token, side, price, size, fee_rate_bps: feeRateBps } = trade;
      add(trade.taker_order_id, { ...shared, role: 'TAKER', token, side, price, size, feeRateBps });
    }
    for (const order of trade.maker_orders) {
      if (order.maker_address.toLowerCase() !== wallet) continue;
      add(order.order_id, { ...shared, ...makerFill(order) });
    }
  }
  return fills;
}

function makerFill(order: Trade['maker_orders'][number]) {
  return {
    role: 'MAKER',
    token: order.asset_id,
    side: order.side,
    price: order.price,
    size: order.matched_amount,
    feeRateBps: order.fee_rate_bps,
  } as const;
}

/** `POST /data/orders`, the other form of an order. */
export async function readOrderBatches(owners: readonly OrderOwner[]): Promise<OrderSource> {
  const orders = new Map<string, OrderFacts>();
  for (const { client, orderIds } of owners) {
    for (let from = 0; from < orderIds.length; from += idsPerRequest) {
      const found = await client.own.ordersById(orderIds.slice(from, from + idsPerRequest));
      for (const one of found) {
        const facts = foundFacts(one);
        if (facts !== null) orders.set(one.order_id, facts);
      }
    }
  }
  return { name: 'POST /data/orders', orders };
}

function foundFacts({ order, code }: FoundOrder): OrderFacts | null {
  if (order === undefined) return code === undefined ? null : refused(code);
  return {
    wallet: order.makerAddress.toLowerCase(),
    market: order.market,
    token: order.assetId,
    side: order.side,
    type: order.order_type,
    price: order.price,
    size: order.originalSize,
    status: order.status.toUpperCase(),
    filledMicro: microShares(order.sizeMatched),
    reasons: order.reason === null ? [] : [order.reason],
    fills: null,
  };
}

/** Everything that the channel `own` sent to each wallet, and `trades` to all. */
export function streamedOrders(
  events: readonly OwnEvent[],
  trades: readonly TradeMessage[],
): OrderSource {
  const fold = new OrderFold();
  const published = new Map(trades.map((trade) => [trade.id, trade]));
  for (const event of events) {
    if (event.type !== 'event') continue;
    const order = { wallet: event.wallet.toLowerCase() };
    if (event.kind === 'fill') {
      const of = { ...order, id: event.order, market: event.market };
      fold.fill(of, streamFill(event, published.get(event.id)));
    }
    if (event.kind === 'order') streamStep(fold, event, order.wallet);
  }
  return { name: 'stream', orders: fold.orders() };
}

type FillEvent = Extract<OwnEvent, { kind: 'fill' }>;
type OrderEvent = Extract<OwnEvent, { kind: 'order' }>;

/** A fill of `own`; `tape`: the same fill in `trades`. */
function streamFill(event: FillEvent, tape: TradeMessage | undefined): FillFacts {
  const { role, token, side, price, size, fee } = event;
  const rate = role === 'MAKER' ? 0 : tape?.fee_rate_bps;
  const feeRateBps = String(rate ?? 'not published');
  const transactionHash = tape?.transaction_hash ?? 'not published';
  return { trade: event.id, role, token, side, price, size, fee, feeRateBps, transactionHash };
}

function streamStep(fold: OrderFold, event: OrderEvent, wallet: string): void {
  const { id, market, order: terms, reason } = event;
  const of = { id, wallet, market };
  const stated: OrderTerms | null = terms && {
    token: terms.token,
    side: terms.side,
    type: terms.type,
    price: terms.price,
    size: terms.original_size,
  };
  if (event.event === 'filled') fold.step({ ...of, kind: 'filled', resting: event.resting ?? '0' });
  else if (event.event === 'refused' || event.event === 'canceled')
    fold.step({ ...of, kind: event.event, reason: reason ?? '' });
  else if (terms !== null && stated !== null)
    fold.step({ ...of, kind: event.event, terms: stated, status: terms.status });
}

interface OrderEventRow {
  readonly order_id: string;
  readonly kind: 'PLACED' | 'REFUSED' | 'FILLED' | 'CANCELED' | 'DELAYED';
  readonly wallet: string;
  readonly partition: number;
  readonly in_offset: string;
  readonly event_index: number;
  readonly market: number;
  readonly outcome: number;
  readonly side: string;
  readonly time_in_force: string;
  readonly price: string;
  readonly size: string;
  readonly resting: string;
  readonly status: string;
  readonly reason: string;
  readonly role: 'TAKER' | 'MAKER';
}

/** Decimals of the tables as the API writes them. */
const decimals = ['price', 'size', 'resting', 'fee'];
const plain = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

type Reads = Pick<ClickHouse, 'selectRows'>;

async function rowsOf<Row extends object>(clickhouse: Reads, sql: string): Promise<readonly Row[]> {
  const rows = await clickhouse.selectRows<Row>(sql);
  return rows.map((row) => {
    const cells = Object.entries(row).map(([name, value]) => [
      name,
      decimals.includes(name) ? plain(String(value)) : value,
    ]);
    return Object.fromEntries(cells) as Row;
  });
}

/** `order_events` alone. */
export async function readOrderEvents(
  clickhouse: Reads,
  markets: readonly ListedMarket[],
): Promise<OrderSource> {
  const byNumber = new Map(markets.map((market) => [Number(market.id), market]));
  const rows = await rowsOf<OrderEventRow>(
    clickhouse,
    `SELECT order_id, kind, wallet, partition, in_offset, event_index, market, outcome, side, time_in_force,
       toString(price) AS price, toString(size) AS size, toString(resting) AS resting, status, reason, role
     FROM ${tables.orderEvents.name} FINAL ORDER BY partition, in_offset, event_index, role`,
  );
  const fold = new OrderFold();
  for (const row of rows) rowStep(fold, row, byNumber.get(row.market));
  return { name: 'order_events', orders: fold.orders() };
}

function rowStep(fold: OrderFold, row: OrderEventRow, market: ListedMarket | undefined): void {
  const { order_id: id, wallet, side, price, size, reason, status } = row;
  const of = { id, wallet, market: market?.conditionId ?? '' };
  const token = market?.tokenIds[row.outcome] ?? '';
  const terms = { token, side, type: row.time_in_force, price, size };
  switch (row.kind) {
    case 'PLACED':
      fold.step({ ...of, kind: 'placed', terms, status });
      break;
    case 'DELAYED':
      fold.step({ ...of, kind: 'delayed', terms });
      break;
    case 'REFUSED':
      fold.step({ ...of, kind: 'refused', reason });
      break;
    case 'CANCELED':
      fold.step({ ...of, kind: 'canceled', reason });
      break;
    case 'FILLED': {
      const { role } = row;
      const trade = tradeIdOf(row);
      const unsaid = { fee: null, feeRateBps: null, transactionHash: null };
      fold.fill(of, { trade, role, token, side, price, size, ...unsaid });
      if (role === 'MAKER') fold.step({ ...of, kind: 'filled', resting: row.resting });
      break;
    }
  }
}

interface WalletFillRow {
  readonly order_id: string;
  readonly wallet: string;
  readonly role: 'TAKER' | 'MAKER';
  readonly partition: number;
  readonly in_offset: string;
  readonly event_index: number;
  readonly market: number;
  readonly outcome: number;
  readonly side: string;
  readonly price: string;
  readonly size: string;
  readonly fee: string;
  readonly fee_rate_bps: number;
}

/** `wallet_fills` with the rates of `fills`; `orderIds` are the orders that have to be there, with or without fills. */
export async function readWalletFills(
  clickhouse: Reads,
  { markets, orderIds }: { readonly markets: readonly ListedMarket[]; orderIds: Iterable<string> },
): Promise<OrderSource> {
  const byNumber = new Map(markets.map((market) => [Number(market.id), market]));
  const rows = await rowsOf<WalletFillRow>(
    clickhouse,
    `SELECT order_id, wallet, role, partition, in_offset, event_index, market, outcome, side,
       toString(price) AS price, toString(size) AS size, toString(one.fee) AS fee, fee_rate_bps
     FROM (SELECT * FROM ${tables.walletFills.name} FINAL) AS one
     LEFT JOIN (SELECT partition, in_offset, event_index, fee_rate_bps FROM ${tables.fills.name} FINAL) AS rates
     USING (partition, in_offset, event_index)`,
  );
  const fills = new Map<string, FillFacts[]>([...orderIds].map((id) => [id, []]));
  for (const row of rows) {
    const { order_id: id, role, side, price, size, fee } = row;
    const token = byNumber.get(row.market)?.tokenIds[row.outcome] ?? '';
    const feeRateBps = role === 'MAKER' ? '0' : String(row.fee_rate_bps);
    const facts = { trade: tradeIdOf(row), role, token, side, price, size, fee, feeRateBps };
    fills.set(id, [...(fills.get(id) ?? []), { ...facts, transactionHash: null }]);
  }
  const orders = new Map([...fills].map(([id, list]) => [id, onlyFills(list)]));
  return { name: 'wallet_fills', orders };
}

function onlyFills(fills: readonly FillFacts[]): OrderFacts {
  const filledMicro = fills.reduce((sum, { size }) => sum + microShares(size), 0);
  const unsaid = { wallet: null, market: null, token: null, side: null, type: null };
  return { ...unsaid, price: null, size: null, status: null, reasons: null, filledMicro, fills };
}

function tradeIdOf(row: {
  readonly partition: number;
  readonly in_offset: string;
  readonly event_index: number;
}): string {
  const { partition, in_offset: inOffset, event_index: eventIndex } = row;
  return tradeId({ partition, inOffset, eventIndex });
}

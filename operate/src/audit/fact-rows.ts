import type { EventOf, Execution, ExecutionEvent, Fill } from '@pm/schemas/log/executions';
import type { Side } from '@pm/schemas/log/types';
import { complementPrice, priceOne } from '@pm/schemas/money';
import { tables } from '@pm/schemas/tables/tables';
import { bytesDigest, textDigest } from './digests.ts';
import { type Cells, RowSums } from './row-sums.ts';

/** Facts of the log that a single event lacks. */
export interface KnownPayouts {
  /** Payout of token 0 by resolved market, 1/10000 USDC. */
  readonly payouts: ReadonlyMap<number, number>;
}

/** First cells of every row of facts: partition, in_offset, event_index, time, appended_at. */
type Place = readonly [number, number, number, number, number];

/** A record, and when it came into the log, Unix milliseconds. */
export interface AppendedRecord {
  readonly execution: Execution;
  readonly appendedAtMs: number;
}

/** One side of a fill. */
interface SideCells {
  readonly role: number;
  readonly wallet: number;
  readonly order: number;
  readonly key: number;
  readonly builder: number;
  readonly outcome: number;
  readonly side: number;
  readonly price: number;
  readonly feeMicro: number;
  readonly restMicro: number;
}

/** Fields of a row of `order_events` about the order itself; null where its event does not state them. */
interface Terms {
  readonly outcome: number | null;
  readonly side: Side | null;
  readonly timeInForce: string | null;
  readonly price: number | null;
  readonly sizeMicro: number | null;
  readonly restingMicro: number;
  /** 0 for never. */
  readonly expiresAtMs: number;
  readonly acceptedAtMs: number | null;
  readonly status: string | null;
}

const noTerms: Terms = {
  outcome: null,
  side: null,
  timeInForce: null,
  price: null,
  sizeMicro: null,
  restingMicro: 0,
  expiresAtMs: 0,
  acceptedAtMs: null,
  status: null,
};

/** Where an order rests. */
interface Rest {
  readonly outcome: number;
  readonly side: Side;
  readonly price: number;
  readonly sizeMicro: number;
}

/** When ingress took the orders that a record places, by order id. */
function acceptedBy(events: readonly ExecutionEvent[]): ReadonlyMap<string, number> {
  const placed = events.filter((event) => event.kind === 'OrderPlaced');
  return new Map(placed.map((one) => [one.orderId.toString('latin1'), one.acceptedAtMs]));
}

const noBuilder = Buffer.alloc(32);

/**
 * Expected sums of the rows of all tables of facts, by the events: a second implementation, independent of the
 * projectors'.
 */
export class FactRows {
  readonly fills = new RowSums(tables.fills);
  readonly walletFills = new RowSums(tables.walletFills);
  readonly tape = new RowSums(tables.tape);
  readonly builderFills = new RowSums(tables.builderFills);
  readonly walletMoves = new RowSums(tables.walletMoves);
  readonly resolutions = new RowSums(tables.resolutions);
  readonly orderEvents = new RowSums(tables.orderEvents);
  readonly walletCancels = new RowSums(tables.walletCancels);
  readonly bookEvents = new RowSums(tables.bookEvents);
  readonly bookOrders = new RowSums(tables.bookOrders);
  readonly marketRules = new RowSums(tables.marketRules);

  get all(): readonly RowSums[] {
    return Object.values(this).filter((one) => one instanceof RowSums);
  }

  record(
    partition: number,
    { execution, appendedAtMs }: AppendedRecord,
    known: KnownPayouts,
  ): void {
    const { events, inOffset, timeMs } = execution;
    const accepted = acceptedBy(events);
    for (const [index, event] of events.entries()) {
      const place = [partition, inOffset, index, timeMs, appendedAtMs] as const;
      switch (event.kind) {
        case 'Fill':
          this.#fill(place, event, accepted.get(event.takerOrderId.toString('latin1')) ?? null);
          break;
        case 'OrderPlaced':
          this.#placed(place, event);
          break;
        case 'OrderDelayed':
          this.#orderEvent(place, event, { ...event, restingMicro: 0, status: 'DELAYED' });
          break;
        case 'OrderRefused':
          this.#orderEvent(place, event, noTerms);
          break;
        case 'OrderCanceled':
          this.#canceled(place, event);
          break;
        case 'PositionMoved':
          this.#moved(place, event, known);
          break;
        case 'LevelChanged': {
          const { market, side, price, sizeMicro } = event;
          add(this.bookEvents, [...place, market, textDigest(side), price, sizeMicro]);
          break;
        }
        case 'MarketSet': {
          const { market, tick, minSizeMicro, feeRateBps, mode, takerDelayMs } = event;
          const rules = [tick, minSizeMicro, feeRateBps, textDigest(mode), takerDelayMs];
          add(this.marketRules, [...place, market, ...rules]);
          break;
        }
        case 'MarketResolved':
          add(this.resolutions, [...place, event.market, event.payout0, inOffset]);
          break;
        default:
          break;
      }
    }
  }

  #fill(place: Place, fill: Fill, acceptedAtMs: number | null): void {
    const { market, sizeMicro, feeMicro, feeRateBps } = fill;
    const [taker, maker] = [takerOf(fill), makerOf(fill)];
    add(this.fills, [
      ...[...place, market, textDigest(fill.match), acceptedAtMs, sizeMicro],
      ...[taker.order, taker.wallet, taker.key, taker.outcome, taker.side, taker.price],
      taker.builder,
      ...[maker.order, maker.wallet, maker.key, maker.outcome, maker.side, maker.price],
      ...[maker.builder, feeMicro, feeRateBps],
    ]);
    for (const one of [taker, maker]) {
      const { role, wallet, order, key, outcome, side, price } = one;
      const traded = [market, outcome, side, price, sizeMicro];
      add(this.walletFills, [...place, wallet, role, ...traded, one.feeMicro, order, key]);
      add(this.tape, [...place, role, wallet, ...traded]);
      add(this.orderEvents, [
        ...[...place, order, textDigest('FILLED'), wallet, key, market, outcome, side],
        ...[null, price, sizeMicro, one.restMicro, null, one === taker ? acceptedAtMs : null],
        ...[null, textDigest(''), role],
      ]);
    }
    this.#ofBuilders(place, fill, [taker, maker]);
    this.#rests(place, fill.market, maker.order, {
      outcome: fill.makerOutcome,
      side: fill.makerSide,
      price: fill.makerPrice,
      sizeMicro: fill.makerRestMicro,
    });
  }

  #ofBuilders(place: Place, fill: Fill, [taker, maker]: readonly [SideCells, SideCells]): void {
    const shown = [
      ...[...place, fill.market, fill.sizeMicro],
      ...[taker.order, taker.wallet, taker.outcome, taker.side, taker.price],
      ...[maker.order, maker.wallet, maker.outcome, maker.side, maker.price],
      ...[fill.feeMicro, fill.feeRateBps],
    ];
    const { builderFills } = this;
    if (!fill.takerBuilder.equals(noBuilder))
      add(builderFills, [...shown, taker.role, taker.builder]);
    if (!fill.makerBuilder.equals(noBuilder))
      add(builderFills, [...shown, maker.role, maker.builder]);
  }

  #placed(place: Place, event: EventOf<'OrderPlaced'>): void {
    this.#orderEvent(place, event, event);
    const { market, outcome, side, price, restingMicro: sizeMicro } = event;
    if (sizeMicro === 0) return;
    this.#rests(place, market, bytesDigest(event.orderId), { outcome, side, price, sizeMicro });
  }

  #canceled(place: Place, event: EventOf<'OrderCanceled'>): void {
    const { market, restMicro } = event;
    this.#orderEvent(place, event, { ...noTerms, sizeMicro: restMicro });
    const [order, wallet] = [bytesDigest(event.orderId), bytesDigest(event.maker)];
    const key = bytesDigest(event.apiKey);
    const why = textDigest(event.reason);
    add(this.walletCancels, [...place, wallet, order, key, market, why, restMicro]);
    add(this.bookOrders, [...place, market, order, null, null, 0]);
  }

  #orderEvent(place: Place, event: OrderEvent, terms: Terms): void {
    add(this.orderEvents, [
      ...[...place, bytesDigest(event.orderId), textDigest(orderEventKinds[event.kind])],
      ...[bytesDigest(event.maker), bytesDigest(event.apiKey), event.market],
      ...[terms.outcome, textDigestOrNull(terms.side), textDigestOrNull(terms.timeInForce)],
      ...[terms.price, terms.sizeMicro, terms.restingMicro, terms.expiresAtMs || null],
      ...[terms.acceptedAtMs, textDigestOrNull(terms.status), textDigest(reasonOf(event)), null],
    ]);
  }

  /** Side and price in terms of token 0. */
  #rests(place: Place, market: number, order: number, at: Rest): void {
    const { outcome, side, price, sizeMicro } = at;
    const isBid = (side === 'BUY') === (outcome === 0);
    const shown = outcome === 0 ? price : complementPrice(price);
    const word = textDigest(isBid ? 'BUY' : 'SELL');
    add(this.bookOrders, [...place, market, order, word, shown, sizeMicro]);
  }

  #moved(place: Place, event: EventOf<'PositionMoved'>, { payouts }: KnownPayouts): void {
    const { market, action, token0Micro, token1Micro } = event;
    const price0 = action === 'REDEEM' ? (payouts.get(market) ?? 0) : priceOne / 2;
    const [wallet, what] = [bytesDigest(event.wallet), textDigest(action)];
    const row = (outcome: number, price: number, changeMicro: number) => {
      if (changeMicro === 0) return;
      add(this.walletMoves, [
        ...place,
        wallet,
        what,
        market,
        outcome,
        price,
        Math.abs(changeMicro),
      ]);
    };
    row(0, price0, token0Micro);
    row(1, complementPrice(price0), token1Micro);
  }
}

type OrderEvent =
  | EventOf<'OrderPlaced'>
  | EventOf<'OrderDelayed'>
  | EventOf<'OrderRefused'>
  | EventOf<'OrderCanceled'>;

const orderEventKinds = {
  OrderPlaced: 'PLACED',
  OrderDelayed: 'DELAYED',
  OrderRefused: 'REFUSED',
  OrderCanceled: 'CANCELED',
} as const;

function reasonOf(event: OrderEvent): string {
  if (event.kind === 'OrderRefused') return event.code;
  return event.kind === 'OrderCanceled' ? event.reason : '';
}

function textDigestOrNull(text: string | null): number | null {
  return text === null ? null : textDigest(text);
}

function takerOf(fill: Fill): SideCells {
  return {
    role: textDigest('TAKER'),
    wallet: bytesDigest(fill.taker),
    order: bytesDigest(fill.takerOrderId),
    key: bytesDigest(fill.takerKey),
    builder: bytesDigest(fill.takerBuilder),
    outcome: fill.takerOutcome,
    side: textDigest(fill.takerSide),
    price: fill.takerPrice,
    feeMicro: fill.feeMicro,
    restMicro: 0,
  };
}

/** Makers pay no fee (conventions.md 3.15). */
function makerOf(fill: Fill): SideCells {
  return {
    role: textDigest('MAKER'),
    wallet: bytesDigest(fill.maker),
    order: bytesDigest(fill.makerOrderId),
    key: bytesDigest(fill.makerKey),
    builder: bytesDigest(fill.makerBuilder),
    outcome: fill.makerOutcome,
    side: textDigest(fill.makerSide),
    price: fill.makerPrice,
    feeMicro: 0,
    restMicro: fill.makerRestMicro,
  };
}

function add(rows: RowSums, cells: Cells): void {
  rows.add(cells[0] ?? 0, cells);
}

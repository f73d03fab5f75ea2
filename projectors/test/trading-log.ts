import type {
  EventOf,
  Execution,
  ExecutionEvent,
  Fill,
  OrderPlaced,
} from '@pm/schemas/log/executions';
import type { Side } from '@pm/schemas/log/types';
import { bytesOf, seeded } from '../../kit/test/seeded.ts';
import { executionOf, moved } from './log.ts';

const lot = 10_000;
const endowmentMicro = 1_000_000_000_000;

/** Every wallet has tokens to sell. */
function endowments(): ExecutionEvent[] {
  const shape = { token0Micro: endowmentMicro, token1Micro: endowmentMicro };
  return [1, 2, 3, 4, 5, 6].flatMap((wallet) =>
    [1, 2].map((market) =>
      moved('SPLIT', { wallet, market, ...shape, paidMicro: -endowmentMicro }),
    ),
  );
}

/** A resting order in the tiny book of token 0. */
export interface RestingOrder {
  readonly id: Buffer;
  readonly wallet: Buffer;
  readonly market: number;
  readonly side: Side;
  readonly price: number;
  rest: number;
}

/**
 * A random log of one partition with complete orders: they arrive, fill the orders they cross by price and time, rest,
 * and are canceled. Token 0 only; the clock moves by up to two hours a record, so that days pass.
 */
export class TradingLog {
  readonly resting: RestingOrder[] = [];
  readonly #next: (below: number) => number;
  #inOffset = 0;
  #timeMs = 1_780_000_000_000;
  #orders = 0;

  constructor(seed: number) {
    this.#next = seeded(seed);
  }

  records(count: number): readonly Execution[] {
    return Array.from({ length: count }, () => this.#record());
  }

  #record(): Execution {
    this.#timeMs += this.#next(2 * 3_600_000);
    const events: ExecutionEvent[] = this.#inOffset === 0 ? endowments() : [];
    for (let commands = 1 + this.#next(3); commands > 0; commands -= 1)
      events.push(...(this.#next(5) === 0 ? this.#cancel() : this.#place()));
    for (const market of [1, 2]) events.push(this.#top(market));
    return executionOf(this.#inOffset++, events, this.#timeMs);
  }

  #place(): ExecutionEvent[] {
    this.#orders += 1;
    const side: Side = this.#next(2) === 0 ? 'BUY' : 'SELL';
    const order: RestingOrder = {
      id: bytesOf(32, this.#orders),
      wallet: bytesOf(20, 1 + this.#next(6)),
      market: 1 + this.#next(2),
      side,
      price: 4_000 + 100 * this.#next(21),
      rest: (1 + this.#next(400)) * lot,
    };
    const sizeMicro = order.rest;
    const fills = this.#match(order);
    const touched = [...fills.map(({ makerPrice, makerSide }) => [makerSide, makerPrice] as const)];
    if (order.rest > 0) {
      this.resting.push(order);
      touched.push([side, order.price]);
    }
    const filledMicro = sizeMicro - order.rest;
    return [
      ...fills,
      this.#placed(order, sizeMicro, filledMicro),
      ...this.#levels(order.market, touched),
    ];
  }

  #match(taker: RestingOrder): Fill[] {
    const fills: Fill[] = [];
    const sign = taker.side === 'BUY' ? 1 : -1;
    const crossed = this.resting
      .filter((one) => one.market === taker.market && one.side !== taker.side)
      .filter((one) => sign * (taker.price - one.price) >= 0)
      .sort((one, other) => sign * (one.price - other.price));
    for (const maker of crossed) {
      if (taker.rest === 0) break;
      const sizeMicro = Math.min(taker.rest, maker.rest);
      taker.rest -= sizeMicro;
      maker.rest -= sizeMicro;
      fills.push(this.#fill(taker, maker, sizeMicro));
      if (maker.rest === 0) this.resting.splice(this.resting.indexOf(maker), 1);
    }
    return fills;
  }

  #fill(taker: RestingOrder, maker: RestingOrder, sizeMicro: number): Fill {
    return {
      kind: 'Fill',
      command: 0,
      market: taker.market,
      match: 'COMPLEMENTARY',
      sizeMicro,
      takerOrderId: taker.id,
      taker: taker.wallet,
      takerKey: bytesOf(16, 1),
      takerOutcome: 0,
      takerSide: taker.side,
      takerPrice: maker.price,
      takerBuilder: bytesOf(32, this.#next(3)),
      makerOrderId: maker.id,
      maker: maker.wallet,
      makerKey: bytesOf(16, 2),
      makerOutcome: 0,
      makerSide: maker.side,
      makerPrice: maker.price,
      makerBuilder: bytesOf(32, this.#next(2) * 2),
      makerRestMicro: maker.rest,
      feeMicro: this.#next(1_000),
      feeRateBps: 100,
    };
  }

  #placed(order: RestingOrder, sizeMicro: number, filledMicro: number): OrderPlaced {
    return {
      kind: 'OrderPlaced',
      command: 0,
      orderId: order.id,
      market: order.market,
      outcome: 0,
      side: order.side,
      timeInForce: 'GTC',
      postOnly: false,
      price: order.price,
      sizeMicro,
      expiresAtMs: 0,
      acceptedAtMs: this.#timeMs - this.#next(300),
      maker: order.wallet,
      signer: order.wallet,
      apiKey: bytesOf(16, 1),
      builder: bytesOf(32, 0),
      status: order.rest === 0 ? 'MATCHED' : 'LIVE',
      filledMicro,
      paidMicro: 0,
      feeMicro: 0,
      restingMicro: order.rest,
    };
  }

  #cancel(): ExecutionEvent[] {
    const [order] = this.resting.splice(this.#next(this.resting.length || 1), 1);
    if (order === undefined) return [];
    const canceled: EventOf<'OrderCanceled'> = {
      kind: 'OrderCanceled',
      command: 0,
      orderId: order.id,
      maker: order.wallet,
      apiKey: bytesOf(16, 1),
      market: order.market,
      restMicro: order.rest,
      reason: 'USER',
    };
    return [canceled, ...this.#levels(order.market, [[order.side, order.price]])];
  }

  #levels(market: number, touched: readonly (readonly [Side, number])[]): ExecutionEvent[] {
    return touched.map(([side, price]) => {
      const rests = this.resting.filter(
        (one) => one.market === market && one.side === side && one.price === price,
      );
      const sizeMicro = rests.reduce((sum, { rest }) => sum + rest, 0);
      return { kind: 'LevelChanged', market, side, price, sizeMicro };
    });
  }

  #top(market: number): ExecutionEvent {
    const prices = (side: Side) =>
      this.resting
        .filter((one) => one.market === market && one.side === side)
        .map(({ price }) => price);
    const asks = prices('SELL');
    const bid = Math.max(0, ...prices('BUY'));
    return { kind: 'TopChanged', market, bid, ask: asks.length === 0 ? 0 : Math.min(...asks) };
  }
}

import type { Execution, ExecutionEvent, Fill } from '@pm/schemas/log/executions';
import type { MatchType, Side } from '@pm/schemas/log/types';
import { bytesOf, seeded } from '../../../kit/test/seeded.ts';
import { executionOf, fillOf, marketSet, moved } from '../../../projectors/test/log.ts';

/** An order on the book, in terms of its own token. */
export interface Resting {
  readonly number: number;
  readonly market: number;
  readonly outcome: 0 | 1;
  readonly side: Side;
  readonly price: number;
  readonly sizeMicro: number;
}

const lot = 10_000;
const hourMs = 3_600_000;

/** Side and price in terms of token 0. */
export function inBook({ outcome, side, price }: Resting): { side: Side; price: number } {
  if (outcome === 0) return { side, price };
  return { side: side === 'BUY' ? 'SELL' : 'BUY', price: 10_000 - price };
}

/**
 * A random log of one partition in which orders rest, fill and leave, and levels are their sums. Bids stay below one
 * half and asks above, so that nothing crosses; clocks stay, advance a little, or jump by hours.
 */
export class RestingExchange {
  readonly #next: (below: number) => number;
  readonly #markets: readonly number[];
  /** In the order in which they came to rest. */
  resting: readonly Resting[] = [];
  #inOffset = 0;
  #orders = 0;
  #timeMs = Date.UTC(2026, 0, 30, 21);

  constructor(seed: number, markets: readonly number[]) {
    this.#next = seeded(seed);
    this.#markets = markets;
  }

  record(): Execution {
    const jump = this.#next(20);
    if (jump >= 12) this.#timeMs += jump === 19 ? this.#next(6) * hourMs : this.#next(900);
    const before = this.#levels();
    const listed = this.#markets[this.#inOffset];
    const events: ExecutionEvent[] = [];
    if (listed !== undefined) events.push(marketSet(listed), ...provided(listed));
    else if (this.#next(40) === 0) events.push(marketSet(this.#anyMarket(), 10));
    if (listed === undefined)
      for (let count = this.#next(5); count > 0; count -= 1) events.push(...this.#command());
    events.push(...changes(before, this.#levels()));
    return executionOf(this.#inOffset++, events, this.#timeMs);
  }

  #anyMarket(): number {
    return this.#markets[this.#next(this.#markets.length)] ?? 0;
  }

  #command(): readonly ExecutionEvent[] {
    const dice = this.#next(10);
    if (dice < 5) return [this.#place()];
    const index = this.#next(this.resting.length);
    const order = this.resting[index];
    if (order === undefined) return [];
    return dice < 7 ? [this.#cancel(order)] : this.#fill(order);
  }

  #place(): ExecutionEvent {
    const number = ++this.#orders;
    const outcome = this.#next(2) as 0 | 1;
    const side = this.#next(2) === 0 ? 'BUY' : 'SELL';
    // A BUY of either token below one half, a SELL of either above.
    const below = 4_900 + this.#next(8) * 10;
    const price = side === 'BUY' ? below : 10_000 - below;
    const sizeMicro = (1 + this.#next(400)) * lot;
    const order = { number, market: this.#anyMarket(), outcome, side, price, sizeMicro } as const;
    this.resting = [...this.resting, order];
    return {
      kind: 'OrderPlaced',
      command: 0,
      orderId: bytesOf(32, number),
      maker: bytesOf(20, 1),
      signer: bytesOf(20, 1),
      apiKey: bytesOf(16, 1),
      builder: bytesOf(32, 0),
      market: order.market,
      outcome,
      side,
      price,
      sizeMicro,
      restingMicro: sizeMicro,
      timeInForce: 'GTC',
      postOnly: false,
      expiresAtMs: 0,
      acceptedAtMs: 0,
      status: 'LIVE',
      filledMicro: 0,
      paidMicro: 0,
      feeMicro: 0,
    } as ExecutionEvent;
  }

  #cancel(order: Resting): ExecutionEvent {
    this.#rest(order, 0);
    return {
      kind: 'OrderCanceled',
      command: 0,
      orderId: bytesOf(32, order.number),
      reason: 'USER',
      market: order.market,
      maker: bytesOf(20, 1),
      apiKey: bytesOf(16, 1),
      restMicro: order.sizeMicro,
    } as ExecutionEvent;
  }

  /** A taker fills it wholly or in part, as a trade or a mint. */
  #fill(order: Resting): readonly Fill[] {
    const { market, outcome, side, price } = order;
    const filled =
      this.#next(2) === 0 ? order.sizeMicro : (1 + this.#next(order.sizeMicro / lot)) * lot;
    const sizeMicro = Math.min(filled, order.sizeMicro);
    const isCrossed = this.#next(2) === 0;
    const crossed: MatchType = side === 'BUY' ? 'MINT' : 'MERGE';
    const fill = fillOf({
      market,
      sizeMicro,
      match: isCrossed ? crossed : 'COMPLEMENTARY',
      takerOutcome: isCrossed ? 1 - outcome : outcome,
      takerSide: isCrossed ? side : side === 'BUY' ? 'SELL' : 'BUY',
      takerPrice: isCrossed ? 10_000 - price : price,
    });
    const makerRestMicro = order.sizeMicro - sizeMicro;
    this.#rest(order, makerRestMicro);
    return [{ ...fill, makerOrderId: bytesOf(32, order.number), makerRestMicro }];
  }

  #rest({ number }: Resting, sizeMicro: number): void {
    this.resting = this.resting
      .map((order) => (order.number === number ? { ...order, sizeMicro } : order))
      .filter((order) => order.sizeMicro > 0);
  }

  /** Totals by market, side and price of token 0. */
  #levels(): ReadonlyMap<string, number> {
    const levels = new Map<string, number>();
    for (const order of this.resting) {
      const { side, price } = inBook(order);
      const key = `${order.market}:${side}:${price}`;
      levels.set(key, (levels.get(key) ?? 0) + order.sizeMicro);
    }
    return levels;
  }
}

/** Takers and makers get the tokens that they will sell. */
function provided(market: number): readonly ExecutionEvent[] {
  const micro = 1_000_000 * 1_000_000;
  const pair = { market, token0Micro: micro, token1Micro: micro, paidMicro: -micro };
  return [1, 2].map((wallet) => moved('SPLIT', { ...pair, wallet }));
}

function changes(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): readonly ExecutionEvent[] {
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => before.get(key) !== after.get(key),
  );
  return changed.map((key) => {
    const [market, side, price] = key.split(':');
    const sizeMicro = after.get(key) ?? 0;
    return {
      kind: 'LevelChanged',
      market: Number(market),
      side: side as Side,
      price: Number(price),
      sizeMicro,
    } as ExecutionEvent;
  });
}

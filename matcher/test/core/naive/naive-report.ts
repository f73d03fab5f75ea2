import type { ExecutionEvent, PlacedStatus } from '@pm/schemas/log/executions';
import type { CommandOf, PlaceOrder } from '@pm/schemas/log/orders';
import type { MarketMode } from '@pm/schemas/log/types';
import type { RefusalCode } from '@pm/schemas/refusals';

export interface Resting {
  readonly order: PlaceOrder;
  left: number;
  /** Judgement of a tick about the time that the order took to its book; `new` before the first tick. */
  judged: 'new' | 'in time' | 'late';
}

/** An order held by the taker delay of its market, or for a tick. */
export interface Waiting {
  readonly order: PlaceOrder;
  /** Zero: with the next tick. */
  readonly releaseAt: number;
  readonly forTick: boolean;
  /** Micro-USDC. */
  readonly held: number;
  canceled: boolean;
}

export interface Listed {
  rules: CommandOf<'SetMarket'>;
  mode: MarketMode;
  payout0: number;
  collateral: number;
}

export const lot = 10_000;
export const hex = (bytes: Buffer): string => bytes.toString('hex');
export const cost = (price: number, size: number): number => (price * size) / lot;
export const other = (price: number): number => 10_000 - price;

/** Output of the naive twin: its events, and at the end of a record the sums over it. */
export class NaiveReport {
  resting: Resting[] = [];
  waiting: Waiting[] = [];
  readonly markets = new Map<number, Listed>();
  protected events: ExecutionEvent[] = [];
  protected command = 0;
  protected levels = new Map<string, { market: number; side: 'BUY' | 'SELL'; price: number }>();
  protected moved = new Map<string, { wallet: Buffer; free: number; held: number }>();

  protected closeRecord(before: Map<number, { bid: number; ask: number }>): undefined {
    const levels = [...this.levels.values()].sort(
      (a, b) =>
        a.market - b.market || (a.side < b.side ? -1 : +(a.side > b.side)) || a.price - b.price,
    );
    for (const { market, side, price } of levels) {
      const sizeMicro = this.resting
        .filter(({ order }) => order.market === market && isBid(order) === (side === 'BUY'))
        .filter(({ order }) => price0(order) === price)
        .reduce((sum, one) => sum + one.left, 0);
      this.emit({ kind: 'LevelChanged', market, side, price, sizeMicro });
    }
    for (const market of [...this.markets.keys()].sort((a, b) => a - b)) {
      const old = before.get(market) ?? { bid: 0, ask: 0 };
      const top = this.top(market);
      if (top.bid !== old.bid || top.ask !== old.ask)
        this.emit({ kind: 'TopChanged', market, ...top });
    }
    for (const { wallet, free, held } of this.moved.values()) {
      if (free === 0 && held === 0) continue;
      this.emit({ kind: 'MoneyMoved', wallet, freeMicro: free, heldMicro: held });
    }
  }

  protected top(market: number): { bid: number; ask: number } {
    const orders = this.resting.map(({ order }) => order).filter((one) => one.market === market);
    const bids = orders.filter(isBid).map(price0);
    const asks = orders.filter((order) => !isBid(order)).map(price0);
    return { bid: Math.max(0, ...bids), ask: asks.length === 0 ? 0 : Math.min(...asks) };
  }

  protected touch(order: PlaceOrder): undefined {
    const level = {
      market: order.market,
      side: isBid(order) ? 'BUY' : 'SELL',
      price: price0(order),
    } as const;
    this.levels.set(JSON.stringify(level), level);
  }

  protected move(wallet: Buffer, free: number, held: number): undefined {
    if (free === 0 && held === 0) return;
    const sums = this.moved.get(hex(wallet)) ?? { wallet, free: 0, held: 0 };
    sums.free += free;
    sums.held += held;
    this.moved.set(hex(wallet), sums);
  }

  protected refuse(order: PlaceOrder, code: RefusalCode): undefined {
    const { orderId, market, maker, apiKey } = order;
    this.emit({
      kind: 'OrderRefused',
      command: this.command,
      orderId,
      market,
      maker,
      apiKey,
      code,
    });
  }

  protected refuseCommand(code: RefusalCode, requestId: Buffer | null = null): undefined {
    this.emit({ kind: 'CommandRefused', command: this.command, code, requestId });
  }

  protected emit(event: ExecutionEvent): undefined {
    this.events.push(event);
  }
}

export function isBid(order: PlaceOrder): boolean {
  return (order.side === 'BUY') === (order.outcome === 0);
}

export function price0(order: PlaceOrder): number {
  return order.outcome === 0 ? order.price : other(order.price);
}

export interface FeeFacts extends Pick<FillStep, 'size' | 'want' | 'sum'> {
  readonly takerPrice: number;
  readonly paid: number;
}

export interface FillStep {
  readonly maker: Resting;
  readonly size: number;
  readonly want: { size: number; budget: number };
  readonly sum: { filled: number; paid: number; fee: number };
}

export interface Remembered {
  readonly order: PlaceOrder;
  readonly code: RefusalCode | null;
  status: PlacedStatus;
  filled: number;
  paid: number;
  /** Place of the fills at placement: offset of their record, index of the first, number of fills. */
  place: readonly [offset: number, first: number, count: number];
  isMatched: boolean;
}

export const nowhere = [-1, -1, 0] as const;

import type { Execution, ExecutionEvent, Fill, OrderPlaced } from '@pm/schemas/log/executions';

/** A change as text, under the channel and the market or wallet that counts it. */
export interface NaiveChange {
  readonly key: string;
  readonly text: string;
}

type Side = 'BUY' | 'SELL';

interface NaiveOrder {
  readonly placed: OrderPlaced;
  rest: number;
}

const hex = (bytes: Buffer): string => bytes.toString('hex');
const flip = (side: Side): Side => (side === 'BUY' ? 'SELL' : 'BUY');

/** Says the same as `PartitionFeed` in the slowest and plainest way: books are sums over all orders, every time. */
export class NaiveFeed {
  readonly orders = new Map<string, NaiveOrder>();
  readonly delayed = new Map<string, string>();
  readonly free = new Map<string, number>();
  readonly held = new Map<string, number>();
  /** Wallet / market / outcome -> micro-shares. */
  readonly tokens = new Map<string, number>();
  readonly seqs = new Map<string, number>();
  readonly rules = new Map<number, string>();
  #best = new Map<number, string>();
  #mode = 'OPEN';
  #changes: NaiveChange[] = [];
  #where = '';

  record({ events, inOffset, timeMs }: Execution): readonly NaiveChange[] {
    this.#changes = [];
    const moved = new Map<string, number>();
    events.forEach((event, index) => {
      this.#where = `${inOffset}/${index}/${timeMs}`;
      this.#event(event);
      if (event.kind === 'MoneyMoved')
        this.#own(
          event.wallet,
          `balance ${this.free.get(hex(event.wallet))} ${this.held.get(hex(event.wallet))}`,
        );
      for (const wallet of walletsMoved(event)) moved.set(`${wallet}/${marketOf(event)}`, index);
    });
    for (const [key, index] of moved) {
      const [wallet = '', market = ''] = key.split('/');
      this.#where = `${inOffset}/${index}/${timeMs}`;
      const micro = (outcome: number) => this.tokens.get(`${key}/${outcome}`) ?? 0;
      this.#add(`own ${wallet}`, `position ${market} ${micro(0)} ${micro(1)}`);
    }
    this.#books(events, `${inOffset}`, timeMs);
    return this.#changes;
  }

  /** Levels of a market in terms of token 0, as `side price size`, sorted. */
  levels(market: number): readonly string[] {
    const sums = new Map<string, number>();
    for (const { placed, rest } of this.orders.values()) {
      if (placed.market !== market) continue;
      const { side, price } = inToken0(placed);
      sums.set(`${side} ${price}`, (sums.get(`${side} ${price}`) ?? 0) + rest);
    }
    return [...sums].map(([level, size]) => `${level} ${size}`).sort();
  }

  best(market: number): string {
    const levels = this.levels(market);
    const of = (side: Side): readonly number[] =>
      levels.filter((level) => level.startsWith(side)).map((level) => Number(level.split(' ')[1]));
    const bid = Math.max(0, ...of('BUY'));
    const ask = of('SELL').length === 0 ? 0 : Math.min(...of('SELL'));
    const size = (level: string): number =>
      Number(levels.find((one) => one.startsWith(`${level} `))?.split(' ')[2] ?? 0);
    return `${bid} ${ask} ${size(`BUY ${bid}`)} ${size(`SELL ${ask}`)}`;
  }

  #event(event: ExecutionEvent): void {
    switch (event.kind) {
      case 'OrderPlaced':
        this.#placed(event);
        return;
      case 'OrderDelayed':
        this.delayed.set(hex(event.orderId), hex(event.maker));
        this.#own(event.maker, `order ${hex(event.orderId)} OrderDelayed ${event.market} null`);
        return;
      case 'OrderRefused':
        this.delayed.delete(hex(event.orderId));
        this.#own(event.maker, `order ${hex(event.orderId)} OrderRefused ${event.market} null`);
        return;
      case 'OrderCanceled':
        this.orders.delete(hex(event.orderId));
        this.#add(`orders ${event.market}`, `remove ${hex(event.orderId)}`);
        this.#own(event.maker, `order ${hex(event.orderId)} OrderCanceled ${event.market} 0`);
        return;
      case 'Fill':
        this.#filled(event);
        return;
      case 'PositionMoved':
        this.#tokens(event.wallet, event.market, [event.token0Micro, event.token1Micro]);
        this.#add(`activity ${event.market}`, `${hex(event.wallet)} null ${event.action}`);
        return;
      case 'MoneyMoved':
        bump(this.free, hex(event.wallet), event.freeMicro);
        bump(this.held, hex(event.wallet), event.heldMicro);
        return;
      default:
        this.#rulesEvent(event);
    }
  }

  #placed(event: OrderPlaced): void {
    const id = hex(event.orderId);
    this.delayed.delete(id);
    const { restingMicro: rest, market } = event;
    if (rest > 0) {
      this.orders.set(id, { placed: event, rest });
      const { side, price } = inToken0(event);
      this.#add(`orders ${market}`, `add ${id} ${side} ${price} ${rest}`);
    }
    this.#own(event.maker, `order ${id} OrderPlaced ${market} ${rest > 0 ? rest : null}`);
  }

  #filled(fill: Fill): void {
    const { market, makerRestMicro: rest } = fill;
    const id = hex(fill.makerOrderId);
    const facts = `${hex(fill.takerOrderId)} ${id} ${fill.sizeMicro}`;
    this.#add(`trades ${market}`, facts);
    const maker = this.orders.get(id);
    if (maker === undefined) throw new Error('the naive twin lost an order');
    maker.rest -= fill.sizeMicro;
    if (maker.rest === 0) this.orders.delete(id);
    const { side, price } = inToken0(maker.placed);
    const text = rest === 0 ? `remove ${id}` : `change ${id} ${side} ${price} ${maker.rest}`;
    this.#add(`orders ${market}`, text);
    this.#add(`activity ${market}`, `${hex(fill.taker)} taker ${facts}`);
    this.#add(`activity ${market}`, `${hex(fill.maker)} maker ${facts}`);
    this.#own(fill.taker, `fill taker ${facts}`);
    this.#own(fill.maker, `fill maker ${facts}`);
    this.#own(fill.maker, `order ${id} Fill ${market} ${maker.rest}`);
    const change = (outcome: number, of: Side): [number, number] => {
      const micro = of === 'BUY' ? fill.sizeMicro : -fill.sizeMicro;
      return outcome === 0 ? [micro, 0] : [0, micro];
    };
    this.#tokens(fill.taker, market, change(fill.takerOutcome, fill.takerSide));
    this.#tokens(fill.maker, market, change(fill.makerOutcome, fill.makerSide));
  }

  #tokens(wallet: Buffer, market: number, change: readonly [number, number]): void {
    change.forEach((micro, outcome) => {
      bump(this.tokens, `${hex(wallet)}/${market}/${outcome}`, micro);
    });
  }

  #rulesEvent(event: ExecutionEvent): void {
    if (event.kind === 'MarketSet') {
      const { market, tick, minSizeMicro, feeRateBps, mode, takerDelayMs } = event;
      const text = `${tick} ${minSizeMicro} ${feeRateBps} ${mode} ${takerDelayMs} null`;
      const before = this.rules.get(market);
      if (before === text) return;
      this.rules.set(market, text);
      this.#add(
        `markets ${market}`,
        `${before === undefined ? 'listed' : 'changed'} ${text} ${this.#mode}`,
      );
    } else if (event.kind === 'MarketResolved') {
      const words = (this.rules.get(event.market) ?? '').split(' ');
      words[3] = 'RESOLVED';
      words[5] = String(event.payout0);
      this.rules.set(event.market, words.join(' '));
      this.#add(`markets ${event.market}`, `resolved ${words.join(' ')} ${this.#mode}`);
    } else if (event.kind === 'TradingModeSet' && event.mode !== this.#mode) {
      this.#mode = event.mode;
      const open = [...this.rules].filter(([, text]) => text.endsWith('null'));
      for (const [market, text] of open.sort(([one], [other]) => one - other))
        this.#add(`markets ${market}`, `changed ${text} ${this.#mode}`);
    }
  }

  #books(events: readonly ExecutionEvent[], inOffset: string, timeMs: number): void {
    const named = new Set(events.map(marketOf));
    for (const market of [...this.rules.keys()].filter((one) => named.has(one))) {
      const levels = events.flatMap((event) =>
        event.kind === 'LevelChanged' && event.market === market
          ? [`${event.side} ${event.price} ${event.sizeMicro}`]
          : [],
      );
      const last = (...kinds: string[]): number =>
        events.findLastIndex((event) => kinds.includes(event.kind) && marketOf(event) === market);
      this.#where = `${inOffset}/${last('LevelChanged')}/${timeMs}`;
      if (levels.length > 0) this.#add(`book ${market}`, levels.join(','));
      const best = this.best(market);
      if (best === (this.#best.get(market) ?? '0 0 0 0')) continue;
      this.#best.set(market, best);
      this.#where = `${inOffset}/${last('LevelChanged', 'TopChanged')}/${timeMs}`;
      this.#add(`best ${market}`, best);
    }
  }

  #own(wallet: Buffer, text: string): void {
    this.#add(`own ${hex(wallet)}`, text);
  }

  #add(key: string, text: string): void {
    const seq = (this.seqs.get(key) ?? 0) + 1;
    this.seqs.set(key, seq);
    this.#changes.push({ key, text: `${seq} @${this.#where} ${text}` });
  }
}

function inToken0({ outcome, side, price }: OrderPlaced): { side: Side; price: number } {
  return outcome === 0 ? { side, price } : { side: flip(side), price: 10_000 - price };
}

function marketOf(event: ExecutionEvent): number {
  return 'market' in event ? event.market : -1;
}

function walletsMoved(event: ExecutionEvent): readonly string[] {
  if (event.kind === 'Fill') return [hex(event.taker), hex(event.maker)];
  return event.kind === 'PositionMoved' ? [hex(event.wallet)] : [];
}

function bump(sums: Map<string, number>, key: string, change: number): void {
  sums.set(key, (sums.get(key) ?? 0) + change);
}

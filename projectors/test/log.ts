import type { Execution, ExecutionEvent, Fill } from '@pm/schemas/log/executions';
import type { MarketMode, MatchType, Side } from '@pm/schemas/log/types';
import { bytesOf, seeded } from '../../kit/test/seeded.ts';

/** When the record of a test came into the log, Unix milliseconds: not its clock, which moves in steps. */
export function appendedMs({ inOffset, timeMs }: Pick<Execution, 'inOffset' | 'timeMs'>): number {
  return timeMs + 1 + (inOffset % 500);
}

export function executionOf(
  inOffset: number,
  events: readonly ExecutionEvent[],
  timeMs = 1_000,
): Execution {
  return {
    chain: bytesOf(32, 0),
    inOffset,
    timeMs,
    keyId: bytesOf(8, 1),
    sequence: inOffset,
    events,
  };
}

/** An event moved to another partition, with other markets and orders. A log has at most ten markets. */
export function ofPartition(event: ExecutionEvent, partition: number): ExecutionEvent {
  const changed = Object.entries(event).map(([name, value]) => {
    if (name === 'market') return [name, Number(value) + 10 * partition];
    if (!/orderId$/i.test(name) || !Buffer.isBuffer(value)) return [name, value];
    const id = Buffer.from(value);
    id.writeUInt8(partition, 0);
    return [name, id];
  });
  return Object.fromEntries(changed) as ExecutionEvent;
}

export interface FillShape {
  readonly market?: number;
  readonly match?: MatchType;
  readonly sizeMicro?: number;
  readonly taker?: number;
  readonly takerOutcome?: number;
  readonly takerSide?: Side;
  readonly takerPrice?: number;
  readonly maker?: number;
}

/** The maker's token, side and price follow from the taker's and the kind of match. */
export function fillOf(shape: FillShape): Fill {
  const {
    match = 'COMPLEMENTARY',
    takerOutcome = 0,
    takerSide = 'BUY',
    takerPrice = 5_000,
  } = shape;
  const crossed = match !== 'COMPLEMENTARY';
  const otherSide = takerSide === 'BUY' ? 'SELL' : 'BUY';
  return {
    kind: 'Fill',
    command: 0,
    market: shape.market ?? 1,
    match,
    sizeMicro: shape.sizeMicro ?? 1_000_000,
    takerOrderId: bytesOf(32, 900),
    taker: bytesOf(20, shape.taker ?? 1),
    takerKey: bytesOf(16, 1),
    takerOutcome,
    takerSide,
    takerPrice,
    takerBuilder: bytesOf(32, 777),
    makerOrderId: bytesOf(32, 901),
    maker: bytesOf(20, shape.maker ?? 2),
    makerKey: bytesOf(16, 2),
    makerOutcome: crossed ? 1 - takerOutcome : takerOutcome,
    makerSide: crossed ? takerSide : otherSide,
    makerPrice: crossed ? 10_000 - takerPrice : takerPrice,
    makerBuilder: bytesOf(32, 0),
    makerRestMicro: 0,
    feeMicro: 10,
    feeRateBps: 100,
  };
}

export function marketSet(market: number, tick = 100, mode: MarketMode = 'OPEN'): ExecutionEvent {
  const conditionId = bytesOf(32, market);
  return {
    kind: 'MarketSet',
    command: 0,
    market,
    conditionId,
    tick,
    minSizeMicro: 5_000_000,
    feeRateBps: 0,
    mode,
    takerDelayMs: 0,
  };
}

export function moved(
  action: 'SPLIT' | 'MERGE' | 'REDEEM',
  shape: {
    wallet: number;
    market?: number;
    token0Micro: number;
    token1Micro: number;
    paidMicro: number;
  },
): ExecutionEvent {
  const { market = 1, token0Micro, token1Micro, paidMicro } = shape;
  return {
    kind: 'PositionMoved',
    command: 0,
    action,
    wallet: bytesOf(20, shape.wallet),
    market,
    token0Micro,
    token1Micro,
    paidMicro,
    requestId: null,
  };
}

const lot = 10_000;

interface TinyMarket {
  readonly levels: { BUY: Map<number, number>; SELL: Map<number, number> };
  resolved: number | null;
}

/** A random but sound log of one partition: no wallet sells more than it has, best prices follow from levels. */
export class TinyExchange {
  readonly #next: (below: number) => number;
  readonly #listEvery: number;
  readonly #markets = new Map<number, TinyMarket>();
  readonly #holdings = new Map<string, number>();
  #inOffset = 0;
  #timeMs = 1_700_000_000_000;

  /** Three markets are listed, one every `listEvery` records. */
  constructor(seed: number, listEvery = 1) {
    this.#next = seeded(seed);
    this.#listEvery = listEvery;
  }

  record(): Execution {
    this.#timeMs += this.#next(9_000);
    const count = this.#inOffset === 0 ? 0 : this.#next(4);
    const events: ExecutionEvent[] = [];
    const listed = this.#inOffset / this.#listEvery;
    if (listed < 3 && Number.isInteger(listed)) events.push(this.#list(listed + 1));
    for (let index = 0; index < count; index += 1) events.push(...this.#event());
    const touched = new Set(
      events.flatMap((event) => (event.kind === 'LevelChanged' ? [event.market] : [])),
    );
    for (const market of touched) events.push(this.#top(market));
    return executionOf(this.#inOffset++, events, this.#timeMs);
  }

  records(count: number): readonly Execution[] {
    return Array.from({ length: count }, () => this.record());
  }

  #list(market: number): ExecutionEvent {
    this.#markets.set(market, { levels: { BUY: new Map(), SELL: new Map() }, resolved: null });
    return marketSet(market, [100, 10, 1][market % 3]);
  }

  #event(): readonly ExecutionEvent[] {
    const market = 1 + this.#next(this.#markets.size);
    const state = this.#markets.get(market);
    if (state === undefined) return [];
    const dice = this.#next(20);
    if (dice < 8) return [this.#level(market, state)];
    if (dice === 19 && state.resolved === null && this.#next(6) === 0)
      return [this.#resolve(market, state)];
    if (dice >= 17) return this.#move(market, state);
    return this.#fill(market);
  }

  #level(market: number, { levels }: TinyMarket): ExecutionEvent {
    const side = this.#next(2) === 0 ? 'BUY' : 'SELL';
    const price = side === 'BUY' ? 1 + this.#next(4_999) : 5_000 + this.#next(4_999);
    const known = [...levels[side].keys()];
    const sizeMicro = this.#next(3) === 0 ? 0 : (1 + this.#next(500)) * lot;
    const at =
      sizeMicro === 0 && known.length > 0 ? (known[this.#next(known.length)] ?? price) : price;
    if (sizeMicro === 0) levels[side].delete(at);
    else levels[side].set(at, sizeMicro);
    return { kind: 'LevelChanged', market, side, price: at, sizeMicro };
  }

  #top(market: number): ExecutionEvent {
    const levels = this.#markets.get(market)?.levels;
    const bid = Math.max(0, ...(levels?.BUY.keys() ?? []));
    const asks = [...(levels?.SELL.keys() ?? [])];
    return { kind: 'TopChanged', market, bid, ask: asks.length === 0 ? 0 : Math.min(...asks) };
  }

  #fill(market: number): readonly ExecutionEvent[] {
    const taker = 1 + this.#next(4);
    const maker = 5 + this.#next(4);
    const takerOutcome = this.#next(2);
    const takerPrice = 1 + this.#next(9_998);
    const match = (['COMPLEMENTARY', 'MINT', 'MERGE'] as const)[this.#next(3)] ?? 'MINT';
    const { takerSide, makerSide } = sidesOf(match, this.#next(2) === 0 ? 'BUY' : 'SELL');
    const makerOutcome = match === 'COMPLEMENTARY' ? takerOutcome : 1 - takerOutcome;
    const wanted = (1 + this.#next(300)) * lot;
    const sizeMicro = Math.min(
      wanted,
      takerSide === 'SELL' ? this.#held(taker, market, takerOutcome) : wanted,
      makerSide === 'SELL' ? this.#held(maker, market, makerOutcome) : wanted,
    );
    if (sizeMicro === 0) return [];
    this.#add(taker, market, takerOutcome, takerSide === 'BUY' ? sizeMicro : -sizeMicro);
    this.#add(maker, market, makerOutcome, makerSide === 'BUY' ? sizeMicro : -sizeMicro);
    return [
      fillOf({ market, match, sizeMicro, taker, maker, takerOutcome, takerSide, takerPrice }),
    ];
  }

  #move(market: number, { resolved }: TinyMarket): readonly ExecutionEvent[] {
    const wallet = 1 + this.#next(8);
    const [held0, held1] = [this.#held(wallet, market, 0), this.#held(wallet, market, 1)];
    if (resolved !== null && held0 + held1 > 0) {
      this.#add(wallet, market, 0, -held0);
      this.#add(wallet, market, 1, -held1);
      const paidMicro = (resolved * held0 + (10_000 - resolved) * held1) / lot;
      return [
        moved('REDEEM', { wallet, market, token0Micro: -held0, token1Micro: -held1, paidMicro }),
      ];
    }
    const both = Math.min(held0, held1);
    const change = both > 0 && this.#next(2) === 0 ? -both : (1 + this.#next(100)) * lot;
    this.#add(wallet, market, 0, change);
    this.#add(wallet, market, 1, change);
    const shape = { wallet, market, token0Micro: change, token1Micro: change, paidMicro: -change };
    return [moved(change < 0 ? 'MERGE' : 'SPLIT', shape)];
  }

  #resolve(market: number, state: TinyMarket): ExecutionEvent {
    state.resolved = this.#next(3) * 5_000;
    return { kind: 'MarketResolved', command: 0, market, payout0: state.resolved };
  }

  #held(wallet: number, market: number, outcome: number): number {
    return this.#holdings.get(`${wallet}:${market}:${outcome}`) ?? 0;
  }

  #add(wallet: number, market: number, outcome: number, changeMicro: number): void {
    const key = `${wallet}:${market}:${outcome}`;
    this.#holdings.set(key, (this.#holdings.get(key) ?? 0) + changeMicro);
  }
}

/** Two buyers mint, two sellers merge, otherwise they differ. */
function sidesOf(match: MatchType, either: Side): { takerSide: Side; makerSide: Side } {
  if (match === 'MINT') return { takerSide: 'BUY', makerSide: 'BUY' };
  if (match === 'MERGE') return { takerSide: 'SELL', makerSide: 'SELL' };
  return { takerSide: either, makerSide: either === 'BUY' ? 'SELL' : 'BUY' };
}

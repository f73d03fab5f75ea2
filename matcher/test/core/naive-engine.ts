import {
  type Command,
  type CommandOf,
  type Envelope,
  type ExecutionEvent,
  feeMicro,
  holdMicro,
  openOrdersPerWalletMax,
  orderSizeMaxMicro,
  type PlaceOrder,
  type RefusalCode,
  refusals,
  tickSizes,
} from '@pm/schemas';
import type { Limits } from '../../src/core/index.ts';
import { NaiveCancels } from './naive-cancels.ts';
import {
  cost,
  type FeeFacts,
  type FillStep,
  hex,
  isBid,
  type Listed,
  lot,
  other,
  price0,
  type Remembered,
  type Resting,
} from './naive-report.ts';
import { type Rung, rungsOfForm, takes } from './naive-rungs.ts';

/**
 * The rules of the matcher once more, as plainly as they can be said: lists that are filtered and sorted on each use,
 * texts for keys, nothing shared with the engine. Slow on purpose; it judges the fast one. Keys and opening are left to
 * examples.
 */
export class NaiveEngine extends NaiveCancels {
  private readonly opening: CommandOf<'OpenPartition'>;
  private fillsLeft = 0;

  constructor(opening: CommandOf<'OpenPartition'>, limits: Limits) {
    super(limits);
    this.opening = opening;
    this.clock = opening.timeMs;
    this.ageLimit = opening.bookAgeLimitMs;
  }

  apply(envelope: Envelope, operator: boolean): ExecutionEvent[] {
    this.events = [];
    this.levels = new Map();
    this.moved = new Map();
    this.operator = operator;
    const tops = new Map([...this.markets.keys()].map((market) => [market, this.top(market)]));
    this.fillsLeft = this.limits.fillsPerRecord;
    this.cancelsLeft = this.limits.cancelsPerRecord;
    this.command = -1;
    this.sweep();
    envelope.commands.forEach((command, index) => {
      this.command = index;
      this.run(command);
    });
    this.closeRecord(tops);
    return this.events;
  }

  /** What can be compared with the engine besides events. */
  summary(): readonly [clock: number, resting: number, nextExpiry: number] {
    const expiries = this.resting.map(({ order }) => order.expiresAtMs).filter((ms) => ms > 0);
    return [this.clock, this.resting.length, Math.min(Number.POSITIVE_INFINITY, ...expiries)];
  }

  private run(command: Command): undefined {
    if (command.kind === 'PlaceOrder') this.place(command);
    if (command.kind === 'CancelOrder') this.cancelOne(command);
    if (command.kind === 'CancelOrders') this.cancelMany(command);
    if (command.kind === 'Tick') this.tick(command.timeMs);
    if (command.kind === 'SetMarket') this.setMarket(command);
    if (command.kind === 'ResolveMarket') this.resolve(command);
    if (command.kind === 'StartGeneration') this.startGeneration(command.generation);
    if (command.kind === 'SplitPosition') this.split(command);
    if (command.kind === 'MergePosition') this.merge(command);
    if (command.kind === 'RedeemPosition') this.redeem(command);
  }

  // Orders

  private place(order: PlaceOrder): undefined {
    const market = this.markets.get(order.market);
    if (!market || ![0, 1].includes(order.outcome)) return this.refuse(order, 'market_not_found');
    if (order.signedAtMs < this.clock - this.opening.orderAgeLimitMs) {
      return this.refuse(order, 'stale_order');
    }
    if (order.signedAtMs > this.clock + 300_000) return this.refuse(order, 'stale_order');
    const known = this.remembered.get(hex(order.orderId));
    if (known) return this.repeat(order, known);
    const code = this.whyNot(order, market);
    if (code) {
      if ((refusals[code] as { final?: boolean }).final) this.remember(order, code);
      return this.refuse(order, code);
    }
    this.fillAndRest(order, market);
  }

  /** The first rung that breaks. */
  private whyNot(order: PlaceOrder, market: Listed): RefusalCode | null {
    const rungs = [
      ...this.rungsOfTime(order, market),
      ...rungsOfForm(order, market.rules, this.clock),
      ...this.rungsOfMeans(order, market),
    ];
    return rungs.find(([isBroken]) => isBroken)?.[1] ?? this.whyNotMeet(order);
  }

  private rungsOfTime(order: PlaceOrder, { mode }: Listed): Rung[] {
    const ownLimit = order.ageLimitMs > 0 ? order.ageLimitMs : Number.POSITIVE_INFINITY;
    const limit = Math.min(ownLimit, this.opening.bookAgeLimitMs);
    return [
      [order.acceptedAtMs > this.clock + limit, 'too_late'],
      [order.acceptedAtMs < this.clock - limit, 'too_late'],
      [order.generation < this.generation, 'old_generation'],
      [mode === 'RESOLVED', 'market_resolved'],
      [mode === 'HALTED', 'trading_disabled'],
      [mode === 'CANCEL_ONLY', 'cancel_only'],
      [mode === 'POST_ONLY' && !order.postOnly, 'post_only_mode'],
    ];
  }

  private rungsOfMeans(order: PlaceOrder, { rules }: Listed): Rung[] {
    const { maker, market, outcome } = order;
    const need = holdMicro({ ...order, feeRateBps: rules.feeRateBps });
    const tokens = order.side === 'SELL' ? order.sizeMicro : 0;
    const mine = this.resting.filter((one) => one.order.maker.equals(maker));
    const isFull = mine.length >= openOrdersPerWalletMax;
    return [
      [need > Math.max(0, order.holdMicro), 'insufficient_balance_or_allowance'],
      [tokens > this.freeTokens(maker, market, outcome), 'insufficient_balance_or_allowance'],
      [isFull && !takes(order), 'too_many_open_orders'],
    ];
  }

  private whyNotMeet(order: PlaceOrder): RefusalCode | null {
    const makers = this.makers(order);
    if (order.timeInForce === 'FOK') return this.whyNotWhole(order, makers);
    const may = Math.min(this.limits.fillsPerOrder, this.fillsLeft);
    const place = makers.findIndex((maker) => !this.isOverdue(maker));
    const before = place === -1 ? makers.length : place;
    if (before > may) return 'fill_limit';
    const first = makers[place];
    if (order.postOnly) return first ? 'post_only_would_cross' : null;
    if (!first) return order.timeInForce === 'FAK' ? 'fak_not_filled' : null;
    if (first.order.maker.equals(order.maker)) return 'self_trade';
    return before === may ? 'fill_limit' : null;
  }

  private whyNotWhole(order: PlaceOrder, makers: readonly Resting[]): RefusalCode | null {
    const want = this.wants(order);
    for (const [index, maker] of makers.entries()) {
      if (this.isDone(order, want)) return null;
      const overdue = this.isOverdue(maker);
      if (!overdue && maker.order.maker.equals(order.maker)) return 'self_trade';
      if (index === Math.min(this.limits.fillsPerOrder, this.fillsLeft)) return 'fill_limit';
      if (!overdue && this.takeFrom(order, want, maker) === 0) return 'fok_not_filled';
    }
    return this.isDone(order, want) ? null : 'fok_not_filled';
  }

  /** Every resting order it crosses, in the order it meets them. */
  private makers(order: PlaceOrder): Resting[] {
    const bid = isBid(order);
    const limit = price0(order);
    return this.resting
      .filter((one) => one.order.market === order.market && isBid(one.order) !== bid)
      .filter((one) => (bid ? price0(one.order) <= limit : price0(one.order) >= limit))
      .sort((a, b) => (bid ? 1 : -1) * (price0(a.order) - price0(b.order)));
  }

  private wants(order: PlaceOrder): { size: number; budget: number } {
    const size = order.budgetMicro ? orderSizeMaxMicro : order.sizeMicro;
    return { size, budget: order.budgetMicro };
  }

  private isDone(order: PlaceOrder, want: { size: number; budget: number }): boolean {
    return order.budgetMicro ? want.budget < order.price : want.size === 0;
  }

  private takeFrom(
    order: PlaceOrder,
    want: { size: number; budget: number },
    maker: Resting,
  ): number {
    const price = order.outcome === 0 ? price0(maker.order) : other(price0(maker.order));
    let size = Math.min(want.size, maker.left);
    if (order.budgetMicro) size = Math.min(size, Math.floor(want.budget / price) * lot);
    want.size -= size;
    if (order.budgetMicro) want.budget -= cost(price, size);
    return size;
  }

  private fillAndRest(order: PlaceOrder, market: Listed): undefined {
    const want = this.wants(order);
    const sum = { filled: 0, paid: 0, fee: 0 };
    const may = Math.min(this.limits.fillsPerOrder, this.fillsLeft);
    let stopped = false;
    let met = 0;
    for (const maker of this.makers(order)) {
      if (want.size === 0) break;
      const before = { ...want };
      const size = this.takeFrom(order, want, maker);
      if (size === 0) break;
      const overdue = this.isOverdue(maker);
      const own = maker.order.maker.equals(order.maker) && !overdue;
      stopped = own || met === may;
      if (stopped || overdue) Object.assign(want, before);
      if (stopped) break;
      met += 1;
      if (overdue) this.cancel(maker, 'EXPIRED');
      else this.fill(order, market, { maker, size, want, sum });
    }
    this.fillsLeft -= met;
    this.settle(order, { want, sum, stopped });
  }

  private settle(order: PlaceOrder, { want, sum, stopped }: Outcome): undefined {
    const rests = ['GTC', 'GTD'].includes(order.timeInForce) && want.size > 0 && !stopped;
    const status = rests ? 'LIVE' : this.isDone(order, want) ? 'MATCHED' : 'CANCELED';
    if (rests) {
      this.resting.push({ order, left: want.size });
      this.touch(order);
    }
    const restingMicro = rests ? want.size : 0;
    const held = order.side === 'BUY' ? cost(order.price, restingMicro) : 0;
    if (order.side === 'BUY') this.move(order.maker, -sum.paid - sum.fee - held, held);
    else this.move(order.maker, sum.paid - sum.fee, 0);
    this.move(this.opening.feeWallet, sum.fee, 0);
    this.remember(order, null, { status, filled: sum.filled, paid: sum.paid });
    const { kind: _kind, budgetMicro: _b, holdMicro: _h, generation: _g, ...rest } = order;
    const { ageLimitMs: _a, signedAtMs: _s, selfTrade: _t, ...shown } = rest;
    const sums = { filledMicro: sum.filled, paidMicro: sum.paid, feeMicro: sum.fee, restingMicro };
    this.emit({ kind: 'OrderPlaced', command: this.command, ...shown, status, ...sums });
  }

  private fill(taker: PlaceOrder, market: Listed, step: FillStep): undefined {
    const { maker, size, want, sum } = step;
    const takerPrice = taker.outcome === 0 ? price0(maker.order) : other(price0(maker.order));
    const paid = cost(takerPrice, size);
    sum.filled += size;
    sum.paid += paid;
    const fee = this.feeFor(taker, market, { takerPrice, size, paid, want, sum });
    sum.fee += fee;
    maker.left -= size;
    this.touch(maker.order);
    for (const { side, maker: wallet, outcome } of [taker, maker.order]) {
      this.addTokens(wallet, taker.market, outcome, side === 'BUY' ? size : -size);
    }
    const same = taker.outcome === maker.order.outcome;
    if (!same) market.collateral += taker.side === 'BUY' ? size : -size;
    const makerPaid = cost(maker.order.price, size);
    if (maker.order.side === 'BUY') this.move(maker.order.maker, 0, -makerPaid);
    else this.move(maker.order.maker, makerPaid, 0);
    this.emit({
      kind: 'Fill',
      command: this.command,
      market: taker.market,
      match: same ? 'COMPLEMENTARY' : taker.side === 'BUY' ? 'MINT' : 'MERGE',
      sizeMicro: size,
      takerOrderId: taker.orderId,
      taker: taker.maker,
      takerKey: taker.apiKey,
      takerOutcome: taker.outcome,
      takerSide: taker.side,
      takerPrice,
      takerBuilder: taker.builder,
      makerOrderId: maker.order.orderId,
      maker: maker.order.maker,
      makerKey: maker.order.apiKey,
      makerOutcome: maker.order.outcome,
      makerSide: maker.order.side,
      makerPrice: maker.order.price,
      makerBuilder: maker.order.builder,
      makerRestMicro: maker.left,
      feeMicro: fee,
      feeRateBps: market.rules.feeRateBps,
    });
    if (maker.left > 0) return;
    this.resting = this.resting.filter((one) => one !== maker);
    const known = this.remembered.get(hex(maker.order.orderId));
    if (known) known.isMatched = true;
  }

  private feeFor(taker: PlaceOrder, market: Listed, of: FeeFacts): number {
    const { takerPrice, size, paid, want, sum } = of;
    const needed = taker.budgetMicro ? want.budget : cost(taker.price, want.size);
    const room = taker.side === 'BUY' ? taker.holdMicro - sum.paid - sum.fee - needed : paid;
    return Math.max(0, Math.min(feeMicro(takerPrice, size, market.rules.feeRateBps), room));
  }

  // Memory

  private remember(order: PlaceOrder, code: RefusalCode | null, answer = noAnswer): undefined {
    const isMatched = answer.status === 'MATCHED' && code === null;
    this.remembered.set(hex(order.orderId), { order, code, ...answer, isMatched });
  }

  private forget(): undefined {
    const isOver = (ms: number): boolean =>
      this.clock > Math.floor(ms / 60_000) * 60_000 + 59_999 + this.opening.orderAgeLimitMs;
    for (const [id, { order }] of this.remembered) {
      if (isOver(order.signedAtMs)) this.remembered.delete(id);
    }
    for (const [id, ms] of this.requests) if (isOver(ms)) this.requests.delete(id);
  }

  private repeat(order: PlaceOrder, known: Remembered): undefined {
    this.emit({
      kind: 'OrderRepeated',
      command: this.command,
      orderId: order.orderId,
      maker: order.maker,
      alive: this.resting.some((one) => one.order.orderId.equals(order.orderId)),
      code: known.code,
      status: known.status,
      side: known.order.side,
      filledMicro: known.filled,
      paidMicro: known.paid,
      placedAtOffset: -1,
      firstFill: -1,
      fillCount: 0,
    });
  }

  // Clock, rules, positions

  private tick(timeMs: number): undefined {
    this.clock = Math.max(this.clock, timeMs);
    this.forget();
    this.expire();
  }

  private startGeneration(generation: number): undefined {
    if (generation <= this.generation) return this.refuseCommand('invalid_payload');
    this.generation = generation;
    this.emit({ kind: 'GenerationStarted', command: this.command, generation });
  }

  private setMarket(rules: CommandOf<'SetMarket'>): undefined {
    const known = this.markets.get(rules.market);
    if (!(tickSizes as readonly number[]).includes(rules.tick) || rules.mode === 'RESOLVED') {
      return this.refuseCommand('invalid_payload');
    }
    if (known) {
      const same = (['conditionId', 'token0', 'token1'] as const).every((field) =>
        known.rules[field].equals(rules[field]),
      );
      const finer = known.rules.tick % rules.tick === 0;
      if (!same || !finer || known.mode === 'RESOLVED')
        return this.refuseCommand('invalid_payload');
      Object.assign(known, { rules, mode: rules.mode });
    } else {
      this.markets.set(rules.market, { rules, mode: rules.mode, payout0: 0, collateral: 0 });
    }
    const { market, conditionId, tick, minSizeMicro, feeRateBps, mode } = rules;
    const takerDelayMs = 0;
    const event = { market, conditionId, tick, minSizeMicro, feeRateBps, mode, takerDelayMs };
    this.emit({ kind: 'MarketSet', command: this.command, ...event });
  }

  private resolve({ market, payout0 }: CommandOf<'ResolveMarket'>): undefined {
    const known = this.markets.get(market);
    if (!known) return this.refuseCommand('market_not_found');
    if (known.mode === 'RESOLVED') return this.refuseCommand('market_resolved');
    if (payout0 < 0 || payout0 > 10_000) return this.refuseCommand('invalid_payload');
    this.empty(market);
    Object.assign(known, { mode: 'RESOLVED', payout0 });
    this.emit({ kind: 'MarketResolved', command: this.command, market, payout0 });
  }
}

const noAnswer: Pick<Remembered, 'status' | 'filled' | 'paid'> = {
  status: 'LIVE',
  filled: 0,
  paid: 0,
};

interface Outcome extends Pick<FillStep, 'want' | 'sum'> {
  readonly stopped: boolean;
}

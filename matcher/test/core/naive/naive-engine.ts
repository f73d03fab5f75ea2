import { type ExecutionEvent, openOrdersPerWalletMax } from '@pm/schemas/log/executions';
import type { Command, Envelope, PlaceOrder } from '@pm/schemas/log/orders';
import { feeMicro, holdMicro } from '@pm/schemas/money';
import { type RefusalCode, refusals } from '@pm/schemas/refusals';
import { NaiveMeetings } from './naive-meetings.ts';
import {
  cost,
  type FeeFacts,
  type FillStep,
  hex,
  type Listed,
  nowhere,
  other,
  price0,
  type Remembered,
  type Resting,
  type Waiting,
} from './naive-report.ts';
import { type Rung, rungsOfForm, takes } from './naive-rungs.ts';

/**
 * The rules of the matcher once more, as plainly as they can be said: lists that are filtered and sorted on each use,
 * texts for keys, nothing shared with the engine. Slow on purpose; it judges the fast one. Keys and opening are left to
 * examples.
 */
export class NaiveEngine extends NaiveMeetings {
  private offset = 0;

  apply(envelope: Envelope, operator: boolean, offset: number): ExecutionEvent[] {
    this.events = [];
    this.offset = offset;
    this.levels = new Map();
    this.moved = new Map();
    this.operator = operator;
    const tops = new Map([...this.markets.keys()].map((market) => [market, this.top(market)]));
    this.fillsLeft = this.limits.fillsPerRecord;
    this.cancelsLeft = this.limits.cancelsPerRecord;
    this.releasesLeft = this.limits.releasesPerRecord;
    this.command = -1;
    this.sweep();
    envelope.commands.forEach((command, index) => {
      this.command = index;
      this.run(command);
    });
    this.closeRecord(tops);
    return this.events;
  }

  /** State of the twin as text, in the form that `stateText` writes for the engine. */
  stateText(): string {
    const byNumber = [...this.markets].sort(([a], [b]) => a - b);
    const tokens = [...this.tokens].filter(([, total]) => total !== 0);
    return [
      [this.clock, this.generation, this.mode].join(' '),
      `term ${this.owners.length} ${hex(this.owners.at(-1) ?? Buffer.alloc(16))}`,
      ...byNumber.map(([number, { rules, mode, payout0, collateral }]) => {
        const { tick, minSizeMicro, feeRateBps } = rules;
        return ['market', number, tick, minSizeMicro, feeRateBps, mode, payout0, collateral].join(
          ' ',
        );
      }),
      ...tokens.map(([name, total]) => `${name} ${total}`).sort(),
      ...this.resting.map(({ order, left }) =>
        [
          hex(order.orderId),
          order.market,
          order.side,
          order.outcome,
          order.price,
          left,
          order.expiresAtMs,
          hex(order.maker),
        ].join(' '),
      ),
      ...this.byRelease().map(({ order, releaseAt, canceled }) => {
        const rests = ['GTC', 'GTD'].includes(order.timeInForce) && !canceled;
        return `${hex(order.orderId)} ${releaseAt} ${rests}`;
      }),
      ...(['new', 'late'] as const).map((judged) => `${judged} ${this.idsOf(judged)}`),
      ...this.rememberedIds(),
      `requests ${this.requests.size}`,
      `fences ${this.fences.length}`,
      ...this.fencedIds
        .map(({ signer, orderId, untilMs }) => `fenced ${signer} ${orderId} ${untilMs}`)
        .sort(),
    ].join('\n');
  }

  private idsOf(judged: Resting['judged']): string {
    return this.resting
      .filter((one) => one.judged === judged)
      .map(({ order }) => hex(order.orderId))
      .join(' ');
  }

  /** Ids that are remembered; the id of an order that lives is known however old it is. */
  private rememberedIds(): string[] {
    const alive = [...this.resting, ...this.waiting].map(({ order }) => hex(order.orderId));
    return [...new Set([...this.remembered.keys(), ...alive])].sort();
  }

  /** Values besides events that can be compared with the engine. */
  summary(): readonly [clock: number, resting: number, nextExpiry: number] {
    const expiries = this.resting.map(({ order }) => order.expiresAtMs).filter((ms) => ms > 0);
    const releases = this.waiting.map(({ releaseAt }) => releaseAt).filter((ms) => ms > 0);
    const next = Math.min(Number.POSITIVE_INFINITY, ...expiries, ...releases);
    return [this.clock, this.resting.length, next];
  }

  private run(command: Command): undefined {
    if (command.kind === 'PlaceOrder') this.place(command);
    if (command.kind === 'CancelOrder') this.cancelOne(command);
    if (command.kind === 'CancelByIds') this.cancelByIds(command);
    if (command.kind === 'CancelOrders') this.cancelMany(command);
    if (command.kind === 'Tick') this.tick(command);
    if (command.kind === 'ClaimPartition') this.claim(command);
    if (command.kind === 'SetMarket') this.setMarket(command);
    if (command.kind === 'ResolveMarket') this.resolve(command);
    if (command.kind === 'SetTradingMode') this.setTradingMode(command.mode);
    if (command.kind === 'StartGeneration') this.startGeneration(command.generation);
    if (command.kind === 'SplitPosition') this.split(command);
    if (command.kind === 'MergePosition') this.merge(command);
    if (command.kind === 'RedeemPosition') this.redeem(command);
  }

  // Orders

  private place(order: PlaceOrder): undefined {
    const market = this.markets.get(order.market);
    if (!market || ![0, 1].includes(order.outcome)) return this.refuse(order, 'market_not_found');
    const ageMs = this.clock - order.signedAtMs;
    const isStale = ageMs > this.opening.orderAgeLimitMs || ageMs < -300_000;
    const known = this.known(order);
    if (known && (this.isNewest || !isStale)) return this.repeat(order, known);
    if (isStale) return this.refuse(order, 'stale_order');
    if (this.isMemoryFull()) return this.refuse(order, 'overloaded');
    const waits = this.waitsForTick(order);
    const code = waits ? this.whyNotWait(order, market) : this.whyNot(order, market);
    if (code) {
      if ((refusals[code] as { final?: boolean }).final) this.remember(order, code);
      return this.refuseAndEnd(order, code);
    }
    if (waits) return this.delay(order, market, 0);
    if (this.isHeldBack(order, market))
      return this.delay(order, market, this.delayEnd(order, market));
    this.fillAndRest(order, market, { mayRest: true, judged: this.isNewest ? 'new' : 'in time' });
  }

  private waitsForTick({ ageLimitMs, acceptedAtMs }: PlaceOrder): boolean {
    const isClockOld = acceptedAtMs > this.clock + this.opening.bookAgeLimitMs / 2;
    return this.isNewest && (ageLimitMs > 0 || isClockOld);
  }

  private isHeldBack(order: PlaceOrder, { rules }: Listed): boolean {
    return rules.takerDelayMs > 0 && !order.postOnly && this.firstMet(order) !== undefined;
  }

  private delayEnd({ acceptedAtMs }: PlaceOrder, { rules }: Listed): number {
    return Math.max(this.clock, acceptedAtMs) + rules.takerDelayMs;
  }

  /** A refused order may take one of its own with it. */
  private refuseAndEnd(order: PlaceOrder, code: RefusalCode): undefined {
    if (code === 'self_trade' && order.selfTrade === 'CANCEL_BOTH' && order.timeInForce !== 'FOK') {
      const own = this.firstMet(order);
      this.fillsLeft -= 1;
      if (own) this.cancel(own, 'SELF_TRADE');
    }
    this.refuse(order, code);
  }

  private delay(order: PlaceOrder, { rules }: Listed, releaseAt: number): undefined {
    if (this.openOrders(order.maker) >= openOrdersPerWalletMax)
      return this.refuse(order, 'too_many_open_orders');
    const held = order.side === 'SELL' ? 0 : holdMicro({ ...order, feeRateBps: rules.feeRateBps });
    this.waiting.push({ order, releaseAt, held, forTick: releaseAt === 0, canceled: false });
    this.move(order.maker, -held, held);
    this.remember(order, null, { ...noAnswer, status: 'DELAYED' });
    const { orderId, market, outcome, side, timeInForce, price, sizeMicro } = order;
    const { expiresAtMs, acceptedAtMs, maker, apiKey } = order;
    const terms = { orderId, market, outcome, side, timeInForce, price, sizeMicro };
    const rest = { expiresAtMs, acceptedAtMs, maker, apiKey, releaseAtMs: releaseAt };
    this.emit({ kind: 'OrderDelayed', command: this.command, ...terms, ...rest, heldMicro: held });
  }

  protected release(one: Waiting): undefined {
    const order = { ...one.order, holdMicro: one.held };
    const market = this.markets.get(order.market);
    this.waiting = this.waiting.filter((each) => each !== one);
    this.move(order.maker, one.held, -one.held);
    if (!market) return;
    const late = one.forTick ? this.whyNotByTick(one) : null;
    const code = late ?? this.whyNotNow(order, market, one.canceled);
    if (code) {
      this.remember(order, code);
      return this.refuseAndEnd(order, code);
    }
    if (one.forTick && this.isHeldBack(order, market)) return this.waitOn(one, market);
    const judged = one.forTick ? 'new' : 'in time';
    this.fillAndRest(order, market, { mayRest: !one.canceled, judged });
  }

  /** In time for its book, it waits like a taker; with the money that it held. */
  private waitOn(one: Waiting, market: Listed): undefined {
    this.waiting.push({ ...one, releaseAt: this.delayEnd(one.order, market), forTick: false });
    this.move(one.order.maker, -one.held, one.held);
  }

  private whyNotByTick({ order, canceled }: Waiting): RefusalCode | null {
    const ahead = order.acceptedAtMs - this.clock;
    const rungs: Rung[] = [
      [ahead > this.opening.bookAgeLimitMs, 'too_late'],
      [-ahead > this.limit(order), 'too_late'],
      [this.isFenced(order) || (canceled && !takes(order)), 'fenced'],
    ];
    return rungs.find(([isBroken]) => isBroken)?.[1] ?? null;
  }

  private limit({ ageLimitMs }: PlaceOrder): number {
    const ownLimit = ageLimitMs > 0 ? ageLimitMs : Number.POSITIVE_INFINITY;
    return Math.min(ownLimit, this.opening.bookAgeLimitMs);
  }

  /** Before a tick has judged it the clock may be old, and it does not meet the book. */
  private whyNotWait(order: PlaceOrder, market: Listed): RefusalCode | null {
    const rungs: Rung[] = [
      [order.acceptedAtMs < this.clock - this.limit(order), 'too_late'],
      ...this.rungsOfNew(order, market),
    ];
    return rungs.find(([isBroken]) => isBroken)?.[1] ?? null;
  }

  /**
   * Why an order is refused after its delay, by reasons that may have come up during the delay; null when it is not.
   */
  private whyNotNow(order: PlaceOrder, market: Listed, canceled: boolean): RefusalCode | null {
    const isFull = this.openOrders(order.maker) >= openOrdersPerWalletMax;
    const rungs: Rung[] = [
      ...this.rungsOfMode(order, market),
      [order.timeInForce === 'GTD' && order.expiresAtMs <= this.clock, 'invalid_expiration'],
      [isFull && !takes(order) && !canceled, 'too_many_open_orders'],
    ];
    const broken = rungs.find(([isBroken]) => isBroken);
    return broken?.[1] ?? this.whyNotMeet(order, canceled);
  }

  private openOrders(maker: Buffer): number {
    return [...this.resting, ...this.waiting].filter(({ order }) => order.maker.equals(maker))
      .length;
  }

  /** The first rung that breaks. */
  private whyNot(order: PlaceOrder, market: Listed): RefusalCode | null {
    const limit = this.limit(order);
    const isFull = this.openOrders(order.maker) >= openOrdersPerWalletMax;
    const rungs: Rung[] = [
      [order.acceptedAtMs > this.clock + limit, 'too_late'],
      [order.acceptedAtMs < this.clock - limit, 'too_late'],
      ...this.rungsOfNew(order, market),
      [isFull && !takes(order), 'too_many_open_orders'],
    ];
    return rungs.find(([isBroken]) => isBroken)?.[1] ?? this.whyNotMeet(order, false);
  }

  private rungsOfNew(order: PlaceOrder, market: Listed): Rung[] {
    const seconds = Math.floor(order.expiresAtMs / 1_000) - Math.floor(order.acceptedAtMs / 1_000);
    const isGtd = order.timeInForce === 'GTD';
    return [
      [order.generation < this.generation, 'old_generation'],
      [this.isFenced(order), 'fenced'],
      ...this.rungsOfMode(order, market),
      ...rungsOfForm(order, market.rules, this.clock),
      [this.isNewest && isGtd && seconds < 120, 'invalid_expiration'],
      ...this.rungsOfMeans(order, market),
    ];
  }

  private rungsOfMode(order: PlaceOrder, { mode }: Listed): Rung[] {
    const modes = [mode, this.mode];
    return [
      [mode === 'RESOLVED', 'market_resolved'],
      [this.mode === 'HALTED', 'system_paused'],
      [mode === 'HALTED', 'condition_paused'],
      [modes.includes('CANCEL_ONLY'), 'cancel_only'],
      [modes.includes('POST_ONLY') && !order.postOnly, 'post_only_mode'],
    ];
  }

  private rungsOfMeans(order: PlaceOrder, { rules }: Listed): Rung[] {
    const { maker, market, outcome } = order;
    const need = holdMicro({ ...order, feeRateBps: rules.feeRateBps });
    const tokens = order.side === 'SELL' ? order.sizeMicro : 0;
    return [
      [need > Math.max(0, order.holdMicro), 'insufficient_balance_or_allowance'],
      [tokens > this.freeTokens(maker, market, outcome), 'insufficient_balance_or_allowance'],
    ];
  }

  private fillAndRest(order: PlaceOrder, market: Listed, { mayRest, judged }: Booking): undefined {
    const want = this.wants(order);
    const sum = { filled: 0, paid: 0, fee: 0 };
    const may = Math.min(this.limits.fillsPerOrder, this.fillsLeft);
    const first = this.events.length;
    const run: Run = { want, sum, cleared: [], met: 0, may, stopped: false };
    for (const maker of this.makers(order)) if (!this.meet(order, market, maker, run)) break;
    const count = this.events.length - first;
    const place = count > 0 ? ([this.offset, first, count] as const) : nowhere;
    this.events.push(...run.cleared);
    this.fillsLeft -= run.met;
    this.settle(order, { want, sum, place, judged, mayRest: mayRest && !run.stopped });
  }

  /** Whether the order goes on to the next maker. Cancels of what is in the way are told later. */
  private meet(order: PlaceOrder, market: Listed, maker: Resting, run: Run): boolean {
    const { want, sum } = run;
    const before = { ...want };
    const size = this.takeFrom(order, want, maker);
    if (size === 0) return false;
    const fate = run.met === run.may ? 'stop' : this.fate(order, maker);
    if (fate !== 'fill') Object.assign(want, before);
    run.stopped = fate === 'stop' || fate === 'both';
    if (fate === 'stop') return false;
    run.met += 1;
    if (fate === 'fill') this.fill(order, market, { maker, size, want, sum });
    else {
      this.cancel(maker, fate === 'expire' ? this.overdueReason(maker) : 'SELF_TRADE');
      run.cleared.push(this.events.pop() as ExecutionEvent);
    }
    return !run.stopped;
  }

  private settle(order: PlaceOrder, { want, sum, place, judged, mayRest }: Outcome): undefined {
    const rests = !takes(order) && want.size > 0 && mayRest;
    const status = rests ? 'LIVE' : this.isDone(order, want) ? 'MATCHED' : 'CANCELED';
    if (rests) {
      this.resting.push({ order, left: want.size, judged });
      this.touch(order);
    }
    const restingMicro = rests ? want.size : 0;
    const held = order.side === 'BUY' ? cost(order.price, restingMicro) : 0;
    if (order.side === 'BUY') this.move(order.maker, -sum.paid - sum.fee - held, held);
    else this.move(order.maker, sum.paid - sum.fee, 0);
    this.move(this.opening.feeWallet, sum.fee, 0);
    this.remember(order, null, { status, filled: sum.filled, paid: sum.paid, place });
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
    const memory = this.isOver(order.signedAtMs) ? this.older : this.remembered;
    memory.set(hex(order.orderId), { order, code, ...answer, isMatched });
  }

  private repeat(order: PlaceOrder, known: Remembered): undefined {
    const [placedAtOffset, firstFill, fillCount] = known.place;
    this.emit({
      kind: 'OrderRepeated',
      command: this.command,
      orderId: order.orderId,
      maker: order.maker,
      alive: this.isAlive(order),
      code: known.code,
      status: known.status,
      side: known.order.side,
      filledMicro: known.filled,
      paidMicro: known.paid,
      placedAtOffset,
      firstFill,
      fillCount,
    });
  }
}

const noAnswer: Pick<Remembered, 'status' | 'filled' | 'paid' | 'place'> = {
  status: 'LIVE',
  filled: 0,
  paid: 0,
  place: nowhere,
};

interface Run extends Pick<FillStep, 'want' | 'sum'> {
  readonly cleared: ExecutionEvent[];
  readonly may: number;
  met: number;
  stopped: boolean;
}

interface Booking {
  readonly mayRest: boolean;
  readonly judged: Resting['judged'];
}

interface Outcome extends Pick<FillStep, 'want' | 'sum'>, Booking {
  readonly place: Remembered['place'];
}
